"""The reconciler's decisions, without a supervisor: time passes by changing the rows."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from atom.cache.models import CacheRecord
from atom.clusters.actions import beat_local_node, ensure_local_node, reserve
from atom.clusters.models import Node, Reservation
from atom.clusters.states import SILENT_AFTER
from atom.core.ids import uuid7
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.models import Attempt, Run, RunInput, Runtime
from atom.jobs.runs.actions import runs
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def _machine(db: None) -> None:
    beat_local_node()


def lost(run: Run) -> Attempt:
    """Return a new attempt of the run that is over, lost, but for its conclusion."""
    attempt = make_attempt(run, states.RUNNING)
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    attempts.note_exit(attempt.pk, ExitReport("runner_lost"), {"no_more": True})
    return attempt


def test_a_lost_attempt_is_tried_again_until_its_retries_are_used_up() -> None:
    run = make_run(max_retries=2)
    for _ in range(2):
        lost(run)
        assert reconcile.advance(run.pk) == states.RETRY_WAIT
        assert not Reservation.objects.exists()
    lost(run)
    assert reconcile.advance(run.pk) == states.FAILED
    run.refresh_from_db()
    assert run.failure_class == "RUNNER_LOST"
    assert run.attempts.count() == 3


def test_a_retry_waits_longer_each_time_and_then_queues() -> None:
    run = make_run(max_retries=5)
    waits = []
    for _ in range(3):
        lost(run)
        reconcile.advance(run.pk)
        run.refresh_from_db()
        assert run.retry_at is not None
        waits.append((run.retry_at - timezone.now()).total_seconds())
    assert waits == sorted(waits)
    assert 6 < waits[-1] <= 8
    Run.objects.filter(pk=run.pk).update(retry_at=timezone.now() - timedelta(seconds=1))
    assert reconcile.advance(run.pk) not in (states.RETRY_WAIT, states.FAILED)


def test_what_is_written_without_the_runs_lock_stays_when_the_attempt_moves_on() -> None:
    """Metrics that come in between would be numbered, and so kept, twice."""
    run = make_run()
    attempt = make_attempt(run, states.SUBMITTED)
    noted = {"metrics_next_seq": 5}
    of_rank = {"identity": {"pid": 7}, "heartbeat_at": timezone.now()}
    locked_run, locked = attempts.lock(attempt.pk)
    Attempt.objects.filter(pk=attempt.pk).update(**noted)
    attempt.ranks.update(**of_rank)
    attempts.end_attempt(locked_run, locked, failures.runner_lost(), {"no_more": True})
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    found = Attempt.objects.filter(pk=attempt.pk)
    assert found.values(*noted).get() == noted
    assert attempt.ranks.values(*of_rank).get() == of_rank
    assert found.values("state", "failure_class").get() == {
        "state": states.FAILED,
        "failure_class": "RUNNER_LOST",
    }
    assert attempt.ranks.get().token_hash == ""


def test_user_code_that_fails_is_not_tried_again_by_itself() -> None:
    run = make_run()
    attempt = make_attempt(run)
    attempts.note_exit(attempt.pk, ExitReport("exited", 1), {})
    assert reconcile.advance(run.pk) == states.FAILED
    user = make_member(run.project, "researcher")
    runs.retry_run(run.pk, user)
    run.refresh_from_db()
    assert run.state == states.QUEUED
    assert run.failure_class == ""


def test_the_end_waits_for_the_log_but_not_for_ever() -> None:
    run = make_run()
    attempt = make_attempt(run)
    attempt.ranks.update(heartbeat_at=timezone.now())
    attempts.note_exit(attempt.pk, ExitReport("exited", 0), {})
    assert reconcile.advance(run.pk) == states.FINALIZING
    long_ago = timezone.now() - timedelta(seconds=31)
    Attempt.objects.filter(pk=attempt.pk).update(finalizing_since=long_ago)
    assert reconcile.advance(run.pk) == states.SUCCEEDED
    attempt.refresh_from_db()
    assert not attempt.log_complete


def test_a_job_waits_for_its_data_and_fails_when_it_cannot_come() -> None:
    run = make_run()
    version = make_version(make_dataset(run.project), {"a.png": "a"})
    RunInput.objects.create(run=run, alias="d", version=version)
    assert reconcile.advance(run.pk) == states.WARMING
    record = CacheRecord.objects.get(version=version)
    assert record.state == "warming"
    CacheRecord.objects.filter(pk=record.pk).update(state="failed", error="a pack is damaged")
    reconcile.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.failure_class) == (states.FAILED, "DATA_WARMUP")
    assert "a pack is damaged" in run.failure_reason


def test_a_runtime_that_cannot_be_built_shows_what_pip_said() -> None:
    runtime = Runtime.objects.create(
        digest="1" * 64, python="3.11", state="failed", log_tail="ERROR: No matching distribution"
    )
    run = make_run(runtime=runtime)
    reconcile.advance(run.pk)
    run.refresh_from_db()
    assert (run.state, run.failure_class) == (states.FAILED, "RUNTIME_BUILD")
    assert "No matching distribution" in run.failure_reason


def test_a_run_that_waits_for_its_data_is_cancelled_at_once() -> None:
    run = make_run(runtime=Runtime.objects.create(digest="2" * 64, python="3.11"))
    assert reconcile.advance(run.pk) == states.WARMING
    runs.cancel_run(run.pk, make_member(run.project, "researcher"))
    assert reconcile.advance(run.pk) == states.CANCELLED
    assert not Reservation.objects.exists()


def test_an_attempt_that_was_never_started_is_started_again_by_another_worker() -> None:
    run = make_run()
    attempt = make_attempt(run, states.SUBMITTED)
    # A worker claimed it and died before it started anything.
    Run.objects.filter(pk=run.pk).update(claimed_until=timezone.now() + timedelta(seconds=60))
    assert reconcile.advance(run.pk) == states.SUBMITTED
    assert attempt.ranks.get().identity == {}
    assert run.attempts.count() == 1


def far_node(silent_for: timedelta) -> Node:
    """Return another machine, which beat last that long ago."""
    return Node.objects.create(
        cluster=ensure_local_node().cluster,
        name="far",
        cpu_count=4,
        memory_bytes=1 << 40,
        heartbeat_at=timezone.now() - silent_for,
    )


@pytest.mark.parametrize("state", [states.RUNNING, states.WARMING])
def test_a_run_on_a_machine_that_stopped_answering_starts_again_elsewhere(state: str) -> None:
    node = far_node(SILENT_AFTER - timedelta(seconds=30))
    runtime = Runtime.objects.create(digest="7" * 64, python="3.11")
    run = make_run(runtime=runtime)
    attempt = make_attempt(run, state)
    Attempt.objects.filter(pk=attempt.pk).update(node=node)
    assert reconcile.advance(run.pk) == state
    Node.objects.filter(pk=node.pk).update(heartbeat_at=timezone.now() - 2 * SILENT_AFTER)
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    attempt.refresh_from_db()
    assert (attempt.state, attempt.failure_class) == (states.FAILED, "NODE_LOST")
    Run.objects.filter(pk=run.pk).update(retry_at=timezone.now())
    reconcile.advance(run.pk)
    assert run.attempts.get(number=2).node == ensure_local_node()


def queued(minutes: int, **wanted: Any) -> Run:
    """Return a run that has been in the queue for so long."""
    return make_run(queued_at=timezone.now() - timedelta(minutes=minutes), **wanted)


def is_placed(run: Run) -> bool:
    run.refresh_from_db()
    return run.state != states.QUEUED


@pytest.mark.parametrize("closed", ["silent", "unschedulable"])
def test_a_run_that_no_machine_could_hold_does_not_stop_the_others(closed: str) -> None:
    node = far_node(2 * SILENT_AFTER if closed == "silent" else timedelta())
    Node.objects.filter(pk=node.pk).update(gpu_count=2, schedulable=closed == "silent")
    unheld = [queued(60, gpus=1, priority=5), queued(60, cpus=1000)]
    small = queued(1, cpus=1)
    reconcile.tick()
    assert is_placed(small)
    assert not any(is_placed(run) for run in unheld)
    # Its machine is back.
    Node.objects.filter(pk=node.pk).update(heartbeat_at=timezone.now(), schedulable=True)
    reconcile.tick()
    assert is_placed(unheld[0])


def test_small_runs_pass_a_large_one_until_it_has_waited_for_long() -> None:
    node = ensure_local_node()
    reserve(node.pk, uuid7(), cpus=1, memory_bytes=1, gpus=0)
    large = queued(9, cpus=node.cpu_count)
    first = queued(1, cpus=1)
    reconcile.tick()
    assert is_placed(first)
    Reservation.objects.filter(attempt_id=first.attempts.get().pk).delete()
    Run.objects.filter(pk=large.pk).update(queued_at=timezone.now() - timedelta(minutes=11))
    second = queued(1, cpus=1)
    reconcile.tick()
    assert not is_placed(second)


def test_looking_at_a_full_machine_costs_the_same_for_a_long_queue() -> None:
    node = ensure_local_node()
    reserve(node.pk, uuid7(), cpus=node.cpu_count, memory_bytes=1, gpus=0)
    project = queued(9).project

    def look() -> int:
        with CaptureQueriesContext(connection) as queries:
            reconcile.tick()
        return len(queries)

    few = look()
    for _ in range(10):
        queued(1, project=project)
    assert look() == few


def test_cancelling_a_run_on_a_machine_that_is_gone_ends_it() -> None:
    run = make_run()
    attempt = make_attempt(run, states.RUNNING)
    Attempt.objects.filter(pk=attempt.pk).update(node=far_node(2 * SILENT_AFTER))
    runs.cancel_run(run.pk, make_member(run.project, "researcher"))
    assert reconcile.advance(run.pk) == states.CANCELLED


def test_one_broken_run_does_not_stop_the_others() -> None:
    broken = make_run(state=states.RUNNING)  # without an attempt: a defect
    fine = make_run(state=states.RETRY_WAIT)
    reconcile.tick()
    fine.refresh_from_db()
    broken.refresh_from_db()
    assert broken.state == states.RUNNING
    assert fine.state != states.RETRY_WAIT
