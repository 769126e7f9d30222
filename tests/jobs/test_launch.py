"""Of several workers that are told to start an attempt, one does."""

from __future__ import annotations

import fcntl
import threading
import time
from uuid import UUID

import pytest
from django.db import connection, transaction

from atom.clusters.actions import ensure_local_node, reserve
from atom.jobs import states
from atom.jobs.actions import launch
from atom.jobs.actions.attempts import find_by_token, issue_token
from atom.jobs.actions.launch import _claim
from atom.jobs.models import Run
from tests.factories.jobs import make_attempt

pytestmark = pytest.mark.django_db(transaction=True)


def test_of_workers_that_wait_for_one_row_only_the_first_claims_it() -> None:
    """A second look at the old row would let all of them through, each with a token of its own."""
    attempt = make_attempt(state=states.SUBMITTED)
    claimed: list[UUID] = []

    def claim() -> None:
        try:
            if _claim(attempt.pk) is not None:
                claimed.append(attempt.pk)
        finally:
            connection.close()

    workers = [threading.Thread(target=claim) for _ in range(3)]
    with transaction.atomic():
        Run.objects.select_for_update().get(pk=attempt.run_id)
        for worker in workers:
            worker.start()
        _wait_until_blocked(len(workers))
    for worker in workers:
        worker.join()
    assert claimed == [attempt.pk]


def test_a_launcher_that_comes_second_does_not_take_the_first_ones_token_away() -> None:
    attempt = make_attempt(state=states.SUBMITTED)
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    first = issue_token(attempt)
    folder = launch.executor().folder(attempt.pk)
    folder.mkdir(parents=True)
    with (folder / "launch.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launch.launch(attempt.pk)
    assert find_by_token(first) == attempt
    launch.executor().remove(attempt.pk)


def _wait_until_blocked(count: int) -> None:
    deadline = time.monotonic() + 10
    statement = (
        "SELECT count(*) FROM pg_stat_activity "
        "WHERE datname = current_database() AND wait_event_type = 'Lock'"
    )
    while time.monotonic() < deadline:
        with connection.cursor() as cursor:
            # A transaction otherwise sees the activity of its first look for ever.
            cursor.execute("SELECT pg_stat_clear_snapshot()")
            cursor.execute(statement)
            if cursor.fetchone() == (count,):
                return
        time.sleep(0.02)
    raise AssertionError("the workers do not wait for the row")
