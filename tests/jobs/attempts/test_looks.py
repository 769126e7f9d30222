"""Which open runs a tick looks at: those that may move, and the others from time to time."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest

from atom.clusters.models import Cluster
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import looks
from atom.jobs.attempts.actions.looks import LOOK_EVERY, note_look, runs_to_look_at
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.watching import note
from atom.jobs.models import Attempt, Placement, Rank, Run
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db

JOB = "uid-of-the-job"


@pytest.fixture
def cluster() -> Cluster:
    return Cluster.objects.create(name="east", kind="kubernetes", server="https://127.0.0.1:9")


@pytest.fixture
def placement(cluster: Cluster) -> Placement:
    """A running attempt, whose Job its watcher has seen."""
    run = make_run(cluster=cluster, state=states.RUNNING)
    placement = Placement.objects.create(run=run, cluster=cluster, job_uid=JOB)
    attempt = Attempt.objects.create(
        run=run, number=1, state=states.RUNNING, cluster=cluster, placed_in=placement
    )
    Rank.objects.create(attempt=attempt, identity={"pod_uid": "pod"}, heartbeat_at=clock.now())
    see(placement)
    return placement


def see(placement: Placement, phase: str = "Running", **status: Any) -> None:
    """Let the watcher see the Job and its pod."""
    labels = {names.PLACEMENT: str(placement.pk)}
    job = {"metadata": {"name": "job", "uid": JOB, "labels": labels}, "spec": {}, "status": {}}
    pod = {
        "metadata": {"name": "pod", "uid": "pod", "labels": labels},
        "spec": {"nodeName": "n1"},
        "status": {"phase": phase, **status},
    }
    placement.refresh_from_db()
    note([placement], [job], [pod], nodes={}, is_whole=False)


def look(placement: Placement) -> None:
    reconcile.advance(placement.run_id)


def test_a_run_that_was_looked_at_rests_until_its_time(placement: Placement) -> None:
    assert runs_to_look_at() == [placement.run_id]
    look(placement)
    assert runs_to_look_at() == []
    Placement.objects.update(looked_at=clock.now() - LOOK_EVERY - timedelta(seconds=1))
    assert runs_to_look_at() == [placement.run_id]


def test_what_a_watcher_saw_before_costs_no_query_for_each_placement(
    placement: Placement, django_assert_num_queries: Any
) -> None:
    job, pods = placement.observed["job"], placement.observed["pods"]
    with django_assert_num_queries(1):
        assert note([placement] * 3, [job], pods, nodes={}, is_whole=False) == 0


def test_a_change_that_ends_nothing_lets_it_rest(placement: Placement) -> None:
    look(placement)
    see(placement, message="still here")
    assert Placement.objects.get().observed["pods"][0]["status"]["message"] == "still here"
    assert runs_to_look_at() == []


def test_the_end_of_a_pod_is_looked_at_at_once(placement: Placement) -> None:
    look(placement)
    see(placement, "Failed")
    assert runs_to_look_at() == [placement.run_id]


@pytest.mark.parametrize(
    "change",
    [
        {"cancel_requested_at": "2026-01-01T00:00:00Z"},
        {"state": states.CANCELLING},
        {"state": states.FINALIZING},
        {"state": states.RETRY_WAIT},
        {"state": states.WARMING},
    ],
)
def test_a_run_that_moves_or_is_cancelled_is_always_looked_at(
    placement: Placement, change: dict[str, Any]
) -> None:
    look(placement)
    Run.objects.filter(pk=placement.run_id).update(**change)
    assert runs_to_look_at() == [placement.run_id]


def test_a_job_that_was_not_asked_for_yet_is_looked_at(placement: Placement) -> None:
    look(placement)
    Placement.objects.update(job_uid="")
    assert runs_to_look_at() == [placement.run_id]


def test_what_the_watcher_wrote_meanwhile_is_not_taken_as_seen(placement: Placement) -> None:
    attempt = Attempt.objects.select_related("placed_in").get()
    see(placement, "Failed")
    note_look(attempt)
    assert runs_to_look_at() == [placement.run_id]


def test_runs_on_machines_of_our_own_are_always_looked_at() -> None:
    attempt = make_attempt()
    assert runs_to_look_at() == [attempt.run_id]


def test_a_tick_looks_at_the_longest_unseen_first(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(looks, "LOOKS_PER_TICK", 2)
    expected = []
    for minutes in (3, 9, 6):
        run = make_run(cluster=cluster, state=states.RUNNING)
        looked_at = clock.now() - timedelta(minutes=minutes)
        Placement.objects.create(run=run, cluster=cluster, job_uid=JOB, looked_at=looked_at)
        expected.append((minutes, run.pk))
    assert runs_to_look_at() == [pk for _, pk in sorted(expected, reverse=True)][:2]


def test_a_look_that_moves_nothing_asks_few_questions(
    placement: Placement, django_assert_num_queries: Any
) -> None:
    look(placement)
    # The savepoint's two; the locked run, its attempt with the Job, the ranks, the time, the note.
    with django_assert_num_queries(7):
        look(placement)
