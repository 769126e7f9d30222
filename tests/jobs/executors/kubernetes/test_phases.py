"""How far a cluster is with a run: from what its watcher saw to the API and the command line."""

from __future__ import annotations

import json
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st
from rest_framework.test import APIClient

from atom.accounts.models import Project, User
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.executors.base import Phase
from atom.jobs.executors.kubernetes.engines.phases import phase_of
from atom.jobs.executors.kubernetes.engines.wait_objects import (
    MOST_EVENTS,
    may_wait,
    slim_event,
    wait_objects_of,
)
from atom.jobs.executors.kubernetes.waits import read_waits
from atom.jobs.executors.kubernetes.watching import note_waits
from atom.jobs.models import Placement, Rank, Run
from atom.jobs.runs.actions.explain import explain
from atom.jobs.runs.actions.explanations import AnswerCode
from tests.jobs.executors.kubernetes.recorded import OBJECTS
from tests.jobs.executors.kubernetes.world import World

Json = dict[str, Any]
RECORDED: dict[str, Json] = json.loads(OBJECTS.read_text("utf-8"))

# file/story/Job/seconds: the phase at that moment.
PHASES = {
    "jobs/job-success/at-1@0.12": "submitted",
    "jobs/job-success/at-1@0.13": "scheduling",
    "jobs/job-success/at-1@0.18": "pulling",
    "jobs/job-pod-scheduling-gate/at-1@0.06": "scheduling",
    "kubelet/kubelet-success-and-failures/init@25.45": "initializing",
    "kubelet/kubelet-waiting/pull@1000": "pulling",
    "kueue/kueue-waiting-for-quota/second@1.46": "queued",
    "kueue/kueue-preemptor-before-victim-is-gone/high@8.54": "scheduling",
    "jobs/job-user-exit-1/at-1": "ended",
}


@pytest.mark.parametrize("moment", PHASES)
def test_a_recorded_moment_has_its_phase(moment: str) -> None:
    assert phase_of(RECORDED[moment]) == PHASES[moment]


def test_a_job_that_is_gone_has_ended_and_one_that_is_suspended_first_stops() -> None:
    pod = {"status": {"phase": "Running"}, "metadata": {}, "spec": {"nodeName": "n1"}}
    assert phase_of({"gone": True}) is Phase.ENDED
    assert phase_of({"job": {"spec": {"suspend": True}}, "pods": [pod]}) is Phase.STOPPING
    deleted = pod | {"metadata": {"deletionTimestamp": "2026-01-01T00:00:00Z"}}
    assert phase_of({"job": {}, "pods": [deleted]}) is Phase.STOPPING
    assert phase_of({"job": {}, "pods": [pod]}) is Phase.PULLING


HOSTILE = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=9),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["reason", "message", "type", "kind"]), inner, max_size=4)
    ),
)


@given(HOSTILE, HOSTILE)
def test_malformed_events_never_raise(involved: Any, series: Any) -> None:
    event = slim_event({"involvedObject": involved, "series": series, "reason": series})
    assert wait_objects_of({"job": {"metadata": {"uid": "u"}}}, [event], [])["events"] == []


def test_events_are_few_and_one_that_comes_again_changes_nothing() -> None:
    observed = {"job": {"metadata": {"uid": "u", "name": "j"}}, "pods": []}

    def event(number: int, second: int) -> Json:
        return slim_event(
            {
                "involvedObject": {"kind": "Job", "name": "j", "uid": "u"},
                "type": "Warning",
                "reason": "FailedCreate",
                "message": f"no {number}",
                "lastTimestamp": f"2026-01-01T00:{second:02}:00Z",
            }
        )

    once = [event(number, number % 50) for number in range(100)]
    kept = wait_objects_of(observed, once, [])["events"]
    assert len(kept) == MOST_EVENTS
    few = [event(1, 1), event(2, 2)]
    again = [*few, event(2, 3)]
    assert wait_objects_of(observed, few, []) == wait_objects_of(observed, again, [])
    other = event(1, 1) | {"involvedObject": {"kind": "Job", "name": "j", "uid": "other"}}
    assert wait_objects_of(observed, [other], [])["events"] == []


def say(world: World, about: Json, kind: str, reason: str, message: str) -> None:
    """Let a component of the cluster write a warning about an object."""
    metadata = about["metadata"]
    world.stand_in.create(
        "events.",
        {
            "metadata": {"generateName": "e-"},
            "involvedObject": {key: metadata[key] for key in ("name", "namespace", "uid")}
            | {"kind": kind},
            "type": "Warning",
            "reason": reason,
            "message": message,
            "lastTimestamp": world.stand_in.store.now(),
        },
        metadata["namespace"],
    )


@pytest.mark.django_db
def test_a_volume_that_cannot_be_mounted_is_named_from_its_event(
    run: Run, placement: Placement, world: World
) -> None:
    pod = world.pod(placement)
    world.bind(pod)
    say(world, pod, "Pod", "FailedMount", 'MountVolume.SetUp failed for volume "data" : no')
    world.sync()
    found = explain(Run.objects.get(pk=run.pk))
    assert found.code is AnswerCode.CLUSTER_PULLING
    assert 'volume "data"' in found.reasons[0].text
    assert found.reasons[0].params["sentence"]["code"] == "jobs.wait_volume"


@pytest.mark.django_db
def test_an_account_that_may_not_read_events_still_learns_the_rest(
    placement: Placement, world: World
) -> None:
    world.pod(placement)
    world.stand_in.faults.refuse(code=403, path="/events")
    world.sync()
    placement.refresh_from_db()
    assert placement.observed["events"] == []
    assert placement.observed["phase"] == "scheduling"


@pytest.mark.django_db
def test_namespaces_are_read_while_a_job_waits_and_in_pages(
    run: Run, placement: Placement, world: World, monkeypatch: pytest.MonkeyPatch
) -> None:
    pod = world.pod(placement)
    for number in range(9):
        say(world, pod, "Pod", "FailedScheduling", f"no {number}")
    monkeypatch.setattr("atom.jobs.executors.kubernetes.waits._PAGE", 2)
    with open_cluster(world.cluster) as api:
        found = read_waits(api, world.cluster, [placement.namespace])
        # Four pages of two.
        assert len(found.events) == 8
    world.bind(pod)
    world.set_running(pod)
    world.sync()
    placement.refresh_from_db()
    assert not may_wait(placement.observed)
    with open_cluster(world.cluster) as api:
        assert note_waits(api, world.cluster, []) == 0


@pytest.mark.django_db
def test_the_phase_is_in_the_list_and_on_the_page(
    run: Run, placement: Placement, world: World, project: Project
) -> None:
    world.pod(placement)
    world.sync()
    client = APIClient()
    client.force_authenticate(User.objects.get(username="admin-of-east"))
    page = client.get(f"/api/v1/runs/{run.pk}/").json()
    assert page["phase"] == "scheduling"
    assert [one["phase"] for one in page["attempts"]] == ["scheduling"]
    (row,) = client.get(f"/api/v1/projects/{project.slug}/runs/").json()["results"]
    assert row["phase"] == "scheduling"
    explained = client.get(f"/api/v1/runs/{run.pk}/explain/").json()
    assert explained["code"] == "cluster_scheduling"
    Run.objects.filter(pk=run.pk).update(state=states.RUNNING)
    run.attempts.update(state=states.RUNNING)
    assert client.get(f"/api/v1/runs/{run.pk}/").json()["phase"] is None


@pytest.mark.django_db
def test_a_pod_that_a_suspension_killed_without_a_word_counts_as_preempted(
    run: Run, placement: Placement, world: World, settings: Any
) -> None:
    settings.ATOM_RUNNER_LOST_AFTER_S = 30
    pod = world.pod(placement)
    world.bind(pod)
    world.set_running(pod)
    world.join(placement, pod)
    world.sync()
    world.stand_in.jobs.stop()
    world.stand_in.nodes.suspend(placement.namespace, placement.job_name)
    world.remove(pod)
    world.sync()
    Rank.objects.update(heartbeat_at=clock.now() - timedelta(hours=1))
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    assert [one.failure_class for one in run.attempts.all()] == ["PREEMPTED"]
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    # The same Job goes on once it is resumed.
    assert world.submit(run).pk == placement.pk
    assert explain(Run.objects.get(pk=run.pk)).code is AnswerCode.CLUSTER_QUEUED
