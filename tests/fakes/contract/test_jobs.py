"""One test per recorded story: how Jobs go, and what their controller says."""

from __future__ import annotations

from collections.abc import Iterator

import pytest

from .not_compared import STORIES
from .replay import Replay
from .stories import Story, in_order
from .transcripts import FOLDER, load
from .worlds import World, stand_in

pytestmark = pytest.mark.skipif(
    not FOLDER.exists(), reason="the transcripts stand outside of the repository"
)

# Scenario: how many states of Jobs and how many answers are compared.
COMPARED = {
    "job-success": (6, 2),
    "job-user-exit-1": (7, 2),
    "job-evicted-143": (8, 3),
    "job-user-exit-143": (5, 1),
    "job-evicted-exit-0": (5, 2),
    "job-evicted-before-start": (4, 2),
    "job-suspend-resume-suspend": (14, 10),
    "job-suspended-rank-ends-0": (8, 5),
    "job-delete-propagation": (23, 27),
    "job-force-deleted-pod": (13, 7),
    "job-active-deadline": (7, 1),
    "job-ttl": (6, 3),
    "job-oom-killed": (4, 1),
    "job-kubelet-evicts": (4, 1),
    "job-retries-backoff-limit": (7, 1),
    "job-backoff-limit-per-index": (6, 1),
    "job-success-policy-rank-0": (5, 1),
    "job-resource-quota": (2, 4),
    "job-rejected": (0, 28),
    "pod-waiting-statuses-by-hand": (4, 2),
    "job-pod-scheduling-gate": (4, 5),
}


@pytest.fixture(scope="module")
def world() -> Iterator[World]:
    with stand_in() as world:
        assert world.cluster is not None
        world.cluster.jobs.batch_seconds = 0.06
        for number, zone in enumerate(("z1", "z1", "z2", "z2"), 1):
            labels = {
                f"topology.kubernetes.io/{key}": v for key, v in (("zone", zone), ("region", "r1"))
            }
            metadata = {"name": f"n{number}", "labels": labels}
            world.cluster.create("nodes.", {"metadata": metadata})
        world.cluster.jobs.backoff_seconds = 0.3
        yield world


@pytest.mark.parametrize("scenario", COMPARED)
def test_story(world: World, scenario: str) -> None:
    recorded_lines = load("jobs")
    lines = [line for line in recorded_lines if line.scenario == scenario]
    replay = Replay(world, part=True)
    replay.world.ask("POST", "/api/v1/namespaces", {"metadata": {"name": scenario}})
    story = Story(replay, lines, recorded_lines[1].body["status"])
    story.play()
    assert not replay.faults, "\n".join(replay.faults)
    recorded = story.recorded_states()
    for name, states in recorded.items():
        assert story.jobs[name] == states, name
    if story.is_watched:
        assert in_order(story.events) == in_order(story.recorded_events())
    assert (sum(map(len, recorded.values())), replay.compared) == COMPARED[scenario]


def test_each_story_is_compared_or_named() -> None:
    scenarios = {line.scenario for line in load("jobs")}
    assert scenarios == set(COMPARED) | set(STORIES)
