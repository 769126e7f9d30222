"""A run whose node is lost goes on elsewhere, once; a silent runner alone proves nothing."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.clusters.models import Cluster
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.executors.kubernetes.removal import remove_ended
from atom.jobs.models import Attempt, Placement, Rank, Run
from atom.jobs.runs.actions.explain import explain
from tests.jobs.executors.kubernetes.world import World

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
LONG_AGO = timedelta(hours=1)


@pytest.fixture(autouse=True)
def patience(settings: Any) -> None:
    settings.ATOM_RUNNER_LOST_AFTER_S = 30


@pytest.fixture
def placement(run: Run, world: World) -> Placement:
    placement = world.submit(run)
    world.bind(world.pod(placement))
    return placement


@pytest.fixture
def token(run: Run, placement: Placement, world: World) -> str:
    """Return the token of a runner whose command runs on the node n1."""
    pod = world.pod(placement)
    world.set_running(pod)
    found: str = world.join(placement, pod).json()["token"]
    attempts.note_started(run.attempts.get(), 1)
    world.sync()
    return found


def fall_silent(run: Run) -> None:
    long_ago = clock.now() - LONG_AGO
    Rank.objects.filter(attempt__run=run).update(heartbeat_at=long_ago)


def last(run: Run) -> Attempt:
    found = run.attempts.order_by("-number").first()
    assert found is not None
    return found


def test_a_lost_node_ends_the_attempt_and_the_next_one_runs_in_a_new_job(
    run: Run, placement: Placement, token: str, world: World
) -> None:
    first = last(run)
    world.stand_in.nodes.lose("n1")
    world.sync()
    # The runner reports: the node's kubelet alone is away.
    assert reconcile.advance(run.pk) == states.RUNNING
    fall_silent(run)
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    first.refresh_from_db()
    assert (first.failure_class, first.evidence["node"]) == ("NODE_LOST", "n1")
    assert "n1" in first.failure_reason
    # It uses up no retry: the run has none.
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    second = world.submit(run)
    assert second.pk != placement.pk
    assert run.attempts.count() == 2
    assert remove_ended() == 1
    jobs = world.stand_in.store.objects("jobs.batch")
    assert [job["metadata"]["name"] for job in jobs] == [second.job_name]


def test_a_pod_that_comes_back_with_its_node_is_refused(
    run: Run, placement: Placement, token: str, world: World
) -> None:
    pod = world.pod(placement)
    world.stand_in.nodes.lose("n1")
    world.sync()
    fall_silent(run)
    reconcile.advance(run.pk)
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    world.submit(run)
    world.stand_in.nodes.bring_back("n1")
    world.sync()
    reconcile.advance(run.pk)
    client = APIClient(headers={"Authorization": f"Bearer {token}"})
    for path, body in (
        ("heartbeat/", {}),
        ("metrics/", {"seq": 0, "points": []}),
        ("outputs/presign/", {"files": [{"path": "a", "size_bytes": 1, "sha256": "0" * 64}]}),
        ("outputs/complete/", {"artifacts": []}),
        ("exit/", {"reason": "exited", "exit_code": 0}),
    ):
        answer = client.post(f"/api/v1/runner/{path}", body, format="json")
        assert answer.status_code == 401, path
    sent = client.post("/api/v1/runner/logs/", b"late", content_type="application/octet-stream")
    assert sent.status_code == 401
    assert world.join(placement, pod).json()["answer"] == "stop"
    assert run.attempts.count() == 2
    assert last(run).state == states.SUBMITTED


def test_a_silent_runner_on_a_ready_node_is_shown_and_not_lost(
    run: Run, token: str, world: World
) -> None:
    fall_silent(run)
    world.sync()
    assert reconcile.advance(run.pk) == states.RUNNING
    (reason,) = explain(Run.objects.get(pk=run.pk)).reasons
    assert reason.kind == "silent"
    assert reason.params["node"] == "n1"
    assert reason.params["silent_s"] >= LONG_AGO.total_seconds()


def test_a_node_that_only_the_runner_reaches_is_shown(run: Run, token: str, world: World) -> None:
    world.stand_in.nodes.lose("n1", evict=False)
    world.sync()
    (reason,) = explain(Run.objects.get(pk=run.pk)).reasons
    assert (reason.kind, reason.params) == ("node_not_ready", {"node": "n1"})


def test_a_cluster_that_does_not_answer_proves_nothing(run: Run, token: str, world: World) -> None:
    world.stand_in.nodes.lose("n1")
    world.sync()
    fall_silent(run)
    Cluster.objects.update(heartbeat_at=clock.now() - LONG_AGO)
    assert reconcile.advance(run.pk) == states.RUNNING
    world.sync()
    assert reconcile.advance(run.pk) == states.RETRY_WAIT


@pytest.mark.parametrize("fault", ["gone", "not_ready", "unreachable", "overdue"])
def test_each_word_of_the_cluster_about_a_lost_node_counts(
    run: Run, placement: Placement, token: str, world: World, fault: str
) -> None:
    fall_silent(run)
    if fault == "gone":
        world.stand_in.store.remove("nodes.", ("", "n1"))
    elif fault == "overdue":
        world.mark_deleted(world.pod(placement), ended_ago_s=60)
    else:
        world.set_ready("n1", "False" if fault == "not_ready" else "Unknown")
    world.sync()
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    assert last(run).failure_class == "NODE_LOST"


def test_a_pod_within_its_grace_time_is_not_lost(
    run: Run, placement: Placement, token: str, world: World
) -> None:
    fall_silent(run)
    world.mark_deleted(world.pod(placement), ended_ago_s=-60)
    world.sync()
    assert reconcile.advance(run.pk) == states.RUNNING


def test_a_pod_that_never_joined_is_given_up_after_its_node_was_away_for_long(
    run: Run, placement: Placement, world: World
) -> None:
    Attempt.objects.filter(run=run).update(updated_at=clock.now() - LONG_AGO)
    world.set_ready("n1", "Unknown")
    world.sync()
    assert reconcile.advance(run.pk) == states.SUBMITTED
    placement.refresh_from_db()
    placement.observed["nodes"]["n1"]["since"] = (clock.now() - LONG_AGO).isoformat()
    placement.save()
    Attempt.objects.filter(run=run).update(updated_at=clock.now() - LONG_AGO)
    assert reconcile.advance(run.pk) == states.RETRY_WAIT


def test_a_lost_run_that_was_cancelled_is_cancelled(run: Run, token: str, world: World) -> None:
    world.stand_in.nodes.lose("n1")
    world.sync()
    fall_silent(run)
    Run.objects.filter(pk=run.pk).update(cancel_requested_at=clock.now())
    reconcile.advance(run.pk)
    assert reconcile.advance(run.pk) == states.CANCELLED


def test_an_account_that_may_not_read_nodes_loses_nothing_else(
    run: Run, placement: Placement, token: str, world: World
) -> None:
    world.stand_in.faults.refuse(code=403, path="/nodes/n1")
    world.sync()
    placement.refresh_from_db()
    assert placement.observed["pods"]
    fall_silent(run)
    assert reconcile.advance(run.pk) == states.RUNNING
