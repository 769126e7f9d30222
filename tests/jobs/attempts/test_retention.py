"""Folders of ended attempts go: soon, later for what may still help, at once on a full disk."""

from __future__ import annotations

import os
import time
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest

from atom.core.ids import uuid7
from atom.jobs import states
from atom.jobs.executors.local import node_cleanup
from atom.jobs.executors.local.removal_order import EndedAttempt, Retention, removal_order
from atom.jobs.models import Artifact, Attempt, Run
from tests.factories.jobs import make_attempt, make_run

NOW = datetime(2026, 1, 2, tzinfo=UTC)
RETENTION = Retention(kept=timedelta(hours=1), worth_keeping_kept=timedelta(days=1))


def ended(hours_ago: float, *, worth_keeping: bool) -> EndedAttempt:
    return EndedAttempt(uuid7(), NOW - timedelta(hours=hours_ago), worth_keeping)


def test_what_is_due_and_what_may_go_on_a_full_disk_come_oldest_first() -> None:
    followed, last = ended(2, worth_keeping=False), ended(25, worth_keeping=True)
    fresh, kept, older = (
        ended(0.5, worth_keeping=False),
        ended(2, worth_keeping=True),
        ended(3, worth_keeping=True),
    )
    due, spare = removal_order([kept, fresh, last, older, followed], NOW, RETENTION)
    assert due == [followed.id, last.id]
    assert spare == [fresh.id, older.id, kept.id]


@pytest.fixture
def home(tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Path:
    settings.ATOM_HOME = tmp_path
    settings.ATOM_ATTEMPT_KEPT_S, settings.ATOM_LAST_ATTEMPT_KEPT_S = 3600, 86_400
    # How full the machine of the test is must not matter.
    monkeypatch.setattr(node_cleanup, "LOW_DISK", 0.0)
    return tmp_path


def leave_folder(home: Path, attempt_id: UUID, hours_ago: float = 0) -> Path:
    folder = home / "attempts" / str(attempt_id)
    (folder / "work").mkdir(parents=True)
    (folder / "work" / "data").write_bytes(b"x" * 100)
    then = time.time() - hours_ago * 3600
    os.utime(folder, (then, then))
    return folder


def make_ended(home: Path, run: Run, hours_ago: float) -> tuple[Attempt, Path]:
    finished_at = datetime.now(UTC) - timedelta(hours=hours_ago)
    attempt = make_attempt(run, states.FAILED, finished_at=finished_at)
    return attempt, leave_folder(home, attempt.pk)


@pytest.mark.django_db
def test_the_last_attempt_stays_for_a_day_and_earlier_ones_for_an_hour(home: Path) -> None:
    run = make_run()
    first, last = make_ended(home, run, 2)[1], make_ended(home, run, 2)[1]
    assert node_cleanup.remove_old_attempts() == 1
    assert (first.exists(), last.exists()) == (False, True)
    run.attempts.update(finished_at=datetime.now(UTC) - timedelta(days=2))
    assert node_cleanup.remove_old_attempts() == 1
    assert not last.exists()


@pytest.mark.django_db
def test_files_that_are_nowhere_else_keep_their_folder_for_longer(home: Path) -> None:
    run = make_run()
    attempt, folder = make_ended(home, run, 2)
    make_ended(home, run, 0)
    left = Artifact.objects.create(
        run=run, attempt=attempt, path="a", size_bytes=1, sha256="0" * 64, kind="output"
    )
    assert node_cleanup.remove_old_attempts() == 0
    Artifact.objects.filter(pk=left.pk).update(state=states.PERSISTED)
    assert node_cleanup.remove_old_attempts() == 1
    assert not folder.exists()


@pytest.mark.django_db
def test_an_open_attempt_and_a_living_supervisor_are_left_alone(home: Path) -> None:
    opened = leave_folder(home, make_attempt(make_run(), states.RUNNING).pk, hours_ago=100)
    _, supervised = make_ended(home, make_run(), 100)
    ticks = Path("/proc/self/stat").read_text().rsplit(")", 1)[1].split()[19]
    described = f'{{"pid": {os.getpid()}, "started_at_ticks": {ticks}}}'
    (supervised / "supervisor.json").write_text(described)
    assert node_cleanup.remove_old_attempts() == 0
    assert opened.exists()
    assert supervised.exists()


@pytest.mark.django_db
def test_a_folder_that_no_attempt_knows_goes_after_a_day(home: Path) -> None:
    young, old = leave_folder(home, uuid7(), 1), leave_folder(home, uuid7(), 30)
    (home / "attempts" / "a-note-of-a-person").mkdir()
    assert node_cleanup.remove_old_attempts() == 1
    assert (young.exists(), old.exists()) == (True, False)


@pytest.mark.django_db
def test_on_a_full_disk_everything_that_is_over_goes(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(node_cleanup, "LOW_DISK", 1.1)
    running = leave_folder(home, make_attempt(make_run(), states.RUNNING).pk)
    _, over = make_ended(home, make_run(), 0.1)
    assert node_cleanup.remove_old_attempts() == 1
    assert (running.exists(), over.exists()) == (True, False)
