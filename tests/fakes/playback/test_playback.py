"""Recorded scenarios of Kueue, Fluid and the scheduler stand in the store as they were recorded."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from typing import Any

import pytest

from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.waiting import why_waiting
from tests.fakes.contract.transcripts import FOLDER
from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.playback.player import Player
from tests.fakes.playback.recording import Change, changes, scenarios
from tests.fakes.playback.scheduling import Trial, trials

Json = dict[str, Any]

pytestmark = pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared has no recordings here")

# The scenarios that have objects to play: those of Kueue are played to runs as well.
FLUID = {
    "fluid-dataset-alone": 26,
    "fluid-juicefs": 113,
    "fluid-deletion": 10,
    "fluid-alluxio": 25,
}
UNSCHEDULABLE = {WaitCode.UNSCHEDULABLE, WaitCode.UNSCHEDULABLE_RESOURCES}
NOT_PLAYED = {"fluid-webhook": "answers of a dry run alone: no object is stored"}
SCHEDULING_NOT_PLAYED = {
    "scheduling": "the nodes of the trials",
    "gang-deadlock": "a tally of ten tries: which pod went where was not recorded",
    "many-terms": "whether a large pod is accepted: nothing was scheduled",
}


@pytest.fixture(scope="module")
def cluster() -> Iterator[Cluster]:
    with Cluster(definitions=True, controllers=False) as cluster:
        yield cluster


def streamed(file: str, scenario: str) -> list[Change]:
    return changes(file, scenario)


@pytest.mark.parametrize("scenario", FLUID)
def test_a_scenario_of_fluid_ends_as_it_was_recorded(cluster: Cluster, scenario: str) -> None:
    found = streamed("fluid", scenario)
    assert len(found) >= FLUID[scenario]
    cluster.create("namespaces.", {"metadata": {"name": scenario}})
    Player(cluster, found, scenario, {}).play(found)
    last = {(one.kind, one.name): one for one in found if one.kind != "events."}
    assert last
    for (kind, name), change in last.items():
        namespace = scenario if cluster.machinery.kind(kind).namespaced else ""
        stored = cluster.store.get(kind, namespace, name)
        if change.is_deleted:
            assert stored is None, name
        else:
            assert stored is not None, name
            assert conditions(stored) == conditions(change.state), name


def test_each_scenario_of_fluid_is_played_or_named_with_a_reason() -> None:
    assert set(scenarios("fluid")) == set(FLUID) | set(NOT_PLAYED)


def test_each_trial_of_the_scheduler_is_played_or_named_with_a_reason() -> None:
    played = {trial.scenario for trial in trials()}
    assert set(scenarios("scheduling")) == played | set(SCHEDULING_NOT_PLAYED)


def conditions(document: Json) -> list[tuple[Any, ...]]:
    rows = (document.get("status") or {}).get("conditions") or ()
    return [(row["type"], row["status"], row.get("reason")) for row in rows]


def test_times_of_a_recording_lie_in_the_past(cluster: Cluster) -> None:
    scenario = "fluid-alluxio"
    found = streamed("fluid", scenario)
    cluster.create("namespaces.", {"metadata": {"name": "past"}})
    Player(cluster, found, "past", {}).play(found)
    stored = cluster.store.objects("datasets.data.fluid.io", "past")
    times = [one["metadata"]["creationTimestamp"] for one in stored]
    assert times
    assert max(times) <= cluster.store.now()


@pytest.mark.parametrize("trial", trials(), ids=lambda trial: trial.scenario)
def test_a_trial_of_the_scheduler_puts_its_pods_where_they_went(
    cluster: Cluster, trial: Trial
) -> None:
    for number in range(1, 5):
        if cluster.store.get("nodes.", "", f"n{number}") is None:
            cluster.nodes.add(f"n{number}", {"nvidia.com/gpu": "4"})
    trial.play(cluster, f"sched-{trial.scenario}")
    pods = cluster.store.objects("pods.", f"sched-{trial.scenario}")
    assert len(pods) == trial.count
    bound = Counter(pod["spec"]["nodeName"] for pod in pods if pod["spec"].get("nodeName"))
    assert bound == trial.tally
    waits = [why_waiting(None, [pod]) for pod in pods if not pod["spec"].get("nodeName")]
    assert [wait and wait.evidence for wait in waits] == trial.refusals
    assert {wait.code for wait in waits if wait} <= UNSCHEDULABLE
