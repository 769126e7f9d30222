"""Runs whose Jobs go as Kueue's real controllers let recorded ones go, through the reconciler."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import pytest

from atom.accounts.models import Project
from tests.fakes.contract.transcripts import FOLDER
from tests.fakes.playback.recording import scenarios
from tests.jobs.executors.kubernetes.played_runs import PlayedRun
from tests.jobs.executors.kubernetes.world import World

pytestmark = [
    pytest.mark.django_db,
    pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared has no recordings here"),
]


@dataclass(frozen=True)
class Reaction:
    """Attempt, phase and wait in their order; the ends of all attempts; how many Jobs there were.

    Seconds of a recording are played at once: a state between two of them is not seen.
    """

    seen: tuple[str, ...]
    ends: tuple[str, ...] = ("",)
    jobs: int = 1


CREATED = "1 submitted pods_to_be_created"
ADMITTED = "1 admitted pods_to_be_created"
# Scenario/Job: what people see of a run in the place of that Job.
FAST = {
    "kueue-admitted/at-1": Reaction(("1 running -", "1 ended -")),
    "kueue-job-without-queue/lost": Reaction(("1 queued kueue_misconfigured",)),
    "kueue-never-fits/exceeds": Reaction((CREATED, "1 queued kueue_never_fits")),
    "kueue-borrow-and-reclaim/a2": Reaction(
        (
            CREATED,
            "1 running -",
            "1 stopping kueue_preempted",
            "1 queued kueue_quota",
            # The same Job is resumed: its next pod is the next attempt.
            "2 queued kueue_quota",
            "2 running -",
            "2 ended -",
        ),
        ("PREEMPTED", ""),
    ),
    # Rank 1 ends with 1 at SIGTERM and fails the suspended Job: the run goes on in a new one.
    "kueue-preempted-rank-ends-by-itself/low": Reaction(
        (
            "1 running -",
            "1 queued kueue_preempted",
            "1 ended -",
            "2 submitted -",
            "2 submitted pods_to_be_created",
        ),
        ("PREEMPTED", ""),
        jobs=2,
    ),
    "kueue-admission-gated-by/g1": Reaction(
        ("1 queued kueue_gated", "1 queued kueue_quota", ADMITTED)
    ),
    "kueue-stop-policy/r1": Reaction(
        (ADMITTED, "1 queued kueue_inactive", ADMITTED, "1 queued kueue_inactive")
    ),
    "kueue-quota-lowered/more": Reaction((CREATED, "1 queued kueue_quota")),
    "kueue-deactivated-and-deadline/d1": Reaction(("1 queued kueue_deactivated", ADMITTED)),
    "kueue-topology/req": Reaction((CREATED, "1 queued kueue_topology")),
    # The pods are never ready; at the second time-out their end fails the suspended Job.
    "kueue-pods-ready-timeout/slow": Reaction(
        (
            "1 pulling starting",
            "1 ended -",
            "2 submitted -",
            "2 submitted pods_to_be_created",
        ),
        ("PREEMPTED", ""),
        jobs=2,
    ),
    "kueue-preemptor-before-victim-is-gone/high": Reaction(
        (CREATED, "1 queued kueue_preempting", "1 scheduling victims_run", "1 ended -")
    ),
    "kueue-fair-sharing/f1-4": Reaction((CREATED, "1 queued kueue_quota")),
    "kueue-undeclared-resource/undeclared": Reaction(("1 queued kueue_pending",)),
}
# They meet the same code as those above.
DEEP = {
    "kueue-job-without-queue/np": Reaction((CREATED, "1 queued kueue_misconfigured")),
    "kueue-waiting-for-quota/second": Reaction(("1 queued kueue_quota", ADMITTED)),
    "kueue-waiting-for-quota/third": Reaction(("1 queued kueue_quota", ADMITTED)),
    "kueue-never-fits/gang": Reaction((CREATED, "1 queued kueue_never_fits")),
    "kueue-never-fits/aff": Reaction((CREATED, "1 queued kueue_no_flavor")),
    "kueue-never-fits/undeclared": Reaction((CREATED, "1 queued kueue_pending")),
    "kueue-borrow-and-reclaim/b1": Reaction(
        (CREATED, "1 queued kueue_preempting", "1 running -", "1 ended -")
    ),
    "kueue-admission-gated-by/g2": Reaction(("1 queued kueue_gated",)),
    "kueue-stop-policy/r2": Reaction(
        (
            CREATED,
            "1 queued kueue_inactive",
            "1 queued kueue_pending",
            ADMITTED,
            "1 queued kueue_inactive",
        )
    ),
    "kueue-deactivated-and-deadline/d2": Reaction(
        (CREATED, ADMITTED, "1 queued kueue_deactivated")
    ),
    "kueue-deactivated-and-deadline/d3": Reaction((CREATED, "1 ended -"), ("USER_CODE",)),
    "kueue-topology/pref": Reaction((ADMITTED, "1 pulling starting")),
    "kueue-pods-ready-timeout/flap": Reaction(
        (CREATED, "1 running -", "1 stopping kueue_pods_ready")
    ),
    "kueue-preemptor-before-victim-is-gone/low": Reaction(
        (
            "1 scheduling unschedulable_resources",
            "1 pulling starting",
            "1 running -",
            "1 stopping kueue_preempted",
            "1 stopping kueue_quota",
            "1 queued kueue_quota",
            "2 queued kueue_quota",
            "2 pulling starting",
        ),
        ("PREEMPTED", ""),
    ),
}
NOT_PLAYED = {
    "kueue-objects": "queues and their rejections: no Job is in it",
    "kueue-server-side-apply": "fields of a queue and their managers: no Job is in it",
    "kueue-cohort-cycle": "Kueue is down: the creation of a Job answers 500, so no Job is there",
}
STORIES: list[Any] = [
    *FAST,
    *(pytest.param(story, marks=pytest.mark.deep) for story in DEEP),
]


@pytest.mark.parametrize("story", STORIES)
def test_a_run_reacts_to_what_kueue_does(story: str, kueue_world: World, project: Project) -> None:
    scenario, _, job = story.partition("/")
    expected = (FAST | DEEP)[story]
    played = PlayedRun.submit(kueue_world, project)
    assert tuple(played.go(scenario, job)) == expected.seen
    assert tuple(played.ends) == expected.ends
    assert played.run.placements.count() == expected.jobs
    assert played.run.placements.filter(ended_at=None).count() <= 1


def test_each_scenario_is_played_or_named_with_a_reason() -> None:
    played = {story.partition("/")[0] for story in FAST | DEEP}
    assert set(scenarios("kueue")) == played | set(NOT_PLAYED)
    assert not played & set(NOT_PLAYED)
