"""Several workers are told to start one attempt: one does, and none if it has ended."""

from __future__ import annotations

import fcntl
import json
import os
import signal
import subprocess
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from django.db import connection, transaction
from rest_framework.test import APIClient

from atom.accounts.models import ApiToken
from atom.clusters.actions import ensure_local_node, reserve
from atom.clusters.models import Cluster
from atom.core import clock, faults, redis
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import launch
from atom.jobs.attempts.actions.attempts import find_by_token, issue_token
from atom.jobs.attempts.actions.launch import _claim
from atom.jobs.executors import local_executor
from atom.jobs.executors.local import executor as local
from atom.jobs.executors.local.executor import start_ticks_of
from atom.jobs.models import Run
from atom.jobs.runs.actions import runs
from tests.factories.accounts import make_member, make_user
from tests.factories.jobs import make_attempt, make_run, runner_headers

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
    folder = local_executor().folder(attempt.pk)
    folder.mkdir(parents=True)
    with (folder / "launch.lock").open("a") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        launch.launch(attempt.pk)
    assert find_by_token(first) == attempt.ranks.get()
    local_executor().remove(attempt.pk)


def test_a_run_that_is_cancelled_while_its_data_is_shown_is_not_started() -> None:
    """Its place is given back by then: it would run with devices and a user of others."""
    run = make_run(user=make_user(), may_write=True)
    attempt = make_attempt(run, states.SUBMITTED)
    node = ensure_local_node()
    reserve(node.pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    # The launcher must write this row, which stands for data that takes its time.
    Cluster.objects.update(single_user=local_executor().isolated)
    launcher = threading.Thread(target=_launch, args=(attempt.pk,))
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=node.cluster_id)
        launcher.start()
        _wait_until_blocked(1)
        runs.cancel_run(run.pk, make_member(run.project, "admin"))
        assert reconcile.advance(run.pk) == states.CANCELLED
    launcher.join()
    attempt.refresh_from_db()
    seen = local_executor().observe(attempt)
    local_executor().kill(attempt.pk)
    local_executor().remove(attempt.pk)
    assert (seen.launched, attempt.state) == (False, states.CANCELLED)
    assert attempt.ranks.get().token_hash == ""
    assert not ApiToken.objects.filter(revoked_at=None).exists()


def test_the_token_of_an_attempt_that_has_ended_is_good_for_nothing() -> None:
    attempt = make_attempt()
    headers = runner_headers(attempt)
    for state, status in ((states.FINALIZING, 200), (states.CANCELLED, 401)):
        type(attempt).objects.filter(pk=attempt.pk).update(state=state)
        answer = APIClient().post("/api/v1/runner/heartbeat/", {}, headers=headers)
        assert answer.status_code == status


def test_a_supervisor_that_comes_up_after_its_attempt_was_ended_is_ended_too() -> None:
    attempt = make_attempt(state=states.FINALIZING, evidence={"no_more": True})
    folder = local_executor().folder(attempt.pk)
    folder.mkdir(parents=True)
    with subprocess.Popen(["sleep", "60"]) as late:
        record = {"pid": late.pid, "started_at_ticks": start_ticks_of(late.pid)}
        (folder / "supervisor.json").write_text(json.dumps(record))
        seen = local_executor().observe(attempt)
        assert seen.alive
        launch.note_ranks(attempt, seen)
        assert late.wait(20) == -signal.SIGKILL
    local_executor().remove(attempt.pk)


def test_a_supervisor_that_does_not_come_up_in_time_has_not_been_started(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(local, "START_TIMEOUT_S", 0.001)
    attempt = make_attempt(make_run(max_retries=0), states.SUBMITTED)
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    launch.launch(attempt.pk)
    local_executor().remove(attempt.pk)
    assert reconcile.advance(attempt.run_id) == states.FAILED
    run = Run.objects.get(pk=attempt.run_id)
    assert (run.failure_class, run.state) == ("RUNNER_LOST", states.FAILED)
    assert "not up within" in run.failure_reason


@pytest.fixture
def attempts_disk(settings: Any, tmp_path: Path) -> Iterator[Path]:
    """A file system of its own for the folders of attempts."""
    settings.ATOM_HOME = tmp_path
    folder = tmp_path / "attempts"
    folder.mkdir()
    if os.geteuid() != 0 or not _mount("-t", "tmpfs", "tmpfs", str(folder)):
        pytest.skip("needs root and the right to mount a file system")
    yield folder
    subprocess.run(["umount", "--lazy", str(folder)], check=True)


def test_a_run_waits_for_a_disk_that_is_read_only_and_starts_by_itself(attempts_disk: Path) -> None:
    attempt = make_attempt(make_run(max_retries=0), states.SUBMITTED)
    reserve(ensure_local_node().pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0)
    assert _mount("-o", "remount,ro", str(attempts_disk))
    launch.launch(attempt.pk)
    attempt.refresh_from_db()
    assert (attempt.state, attempt.failure_class) == (states.SUBMITTED, "")
    assert faults.told_lately() == [faults.DISK_READ_ONLY]
    redis.client().delete("faults")
    assert _mount("-o", "remount,rw", str(attempts_disk))
    Run.objects.update(claimed_until=clock.now())
    launch.launch(attempt.pk)
    assert local_executor().observe(attempt).launched
    local_executor().kill(attempt.pk)


def _mount(*words: str) -> bool:
    return subprocess.run(["mount", *words], capture_output=True, check=False).returncode == 0


def _launch(attempt_id: UUID) -> None:
    try:
        launch.launch(attempt_id)
    finally:
        connection.close()


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
