"""A run's lock keeps other transitions of the run out, and allows notes about it."""

from __future__ import annotations

import threading
from collections.abc import Callable
from uuid import UUID

import pytest
from django.db import OperationalError, connection, transaction

from atom.clusters.actions import beat_local_node
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.models import Attempt, Run
from atom.jobs.runs.actions import runs
from atom.jobs.tracking.actions import tracked
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db(transaction=True)


def lock(attempt: Attempt) -> None:
    attempts.lock(attempt.pk)


def lock_run(attempt: Attempt) -> None:
    tracked.lock_run(attempt.run_id)


def step(attempt: Attempt) -> None:
    assert reconcile.advance(attempt.run_id) == states.FINALIZING


def cancel(attempt: Attempt) -> None:
    runs.cancel_run(attempt.run_id, make_member(attempt.run.project, "researcher"))


def retry(attempt: Attempt) -> None:
    Run.objects.filter(pk=attempt.run_id).update(state=states.FAILED)
    runs.retry_run(attempt.run_id, make_member(attempt.run.project, "researcher"))


@pytest.mark.parametrize("hold", [lock, lock_run, step, cancel, retry])
def test_rows_that_belong_to_a_run_are_added_while_it_is_locked(
    hold: Callable[[Attempt], None],
) -> None:
    """Metrics lock their attempt and then name its run: who waits for both waits for ever."""
    attempt = make_attempt(make_run(), states.FINALIZING)
    attempt.ranks.update(heartbeat_at="2100-01-01T00:00Z")
    with transaction.atomic():
        hold(attempt)
        found = _elsewhere(attempt.run_id)
        transaction.set_rollback(True)
    assert found == {"KEY SHARE": True, "NO KEY UPDATE": False}


def test_who_comes_next_is_not_passed_by_its_like_while_another_worker_looks_at_it() -> None:
    beat_local_node()
    first, second = make_run(), make_run()
    with transaction.atomic():
        tracked.lock_run(first.pk)
        in_another_thread(reconcile.tick)
    second.refresh_from_db()
    assert second.state == states.QUEUED
    reconcile.tick()
    for run in (first, second):
        run.refresh_from_db()
        assert run.state != states.QUEUED


def in_another_thread(action: Callable[[], None]) -> None:
    def act() -> None:
        try:
            action()
        finally:
            connection.close()

    other = threading.Thread(target=act)
    other.start()
    other.join()


def _elsewhere(run_id: UUID) -> dict[str, bool]:
    """Return which locks another connection gets at once: that of a reference, that of a move."""
    found: dict[str, bool] = {}

    def try_each() -> None:
        for strength in ("KEY SHARE", "NO KEY UPDATE"):
            found[strength] = _gets(run_id, strength)

    in_another_thread(try_each)
    return found


def _gets(run_id: UUID, strength: str) -> bool:
    statement = f"SELECT id FROM jobs_run WHERE id = %s FOR {strength} NOWAIT"
    try:
        with transaction.atomic(), connection.cursor() as cursor:
            # A row that was updated meanwhile is waited for all the same.
            cursor.execute("SET LOCAL lock_timeout = '5s'")
            cursor.execute(statement, [run_id])
    except OperationalError:
        return False
    return True
