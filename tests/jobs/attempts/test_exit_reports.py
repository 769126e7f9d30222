"""An attempt ends whatever its command printed, and whatever it left as its runner's report."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.jobs import reconcile, states
from atom.jobs.executors import local_executor
from atom.jobs.executors.local.executor import MAX_REPORT_BYTES
from atom.jobs.failures.engines.leftovers import leftovers_of
from atom.jobs.models import Attempt, Run
from atom.jobs.runs.actions import runs
from tests.factories.accounts import make_member
from tests.factories.jobs import make_attempt, make_run, runner_headers
from tests.jobs.live import make_script_run, reconcile_until

MARK = "\N{REPLACEMENT CHARACTER}"
GOOD = {"exit_code": 0, "signal": None, "reason": "exited", "evidence": {"tail": "done"}}


@pytest.fixture
def attempt(db: None, settings: Any) -> Iterator[Attempt]:
    """A running attempt whose supervisor is gone."""
    settings.ATOM_RUNNER_LOST_AFTER_S = 0
    made = make_attempt(make_run(max_retries=0))
    folder = local_executor().folder(made.pk)
    folder.mkdir(parents=True)
    (folder / "supervisor.json").write_text('{"pid": 4194305, "started_at_ticks": 1}')
    yield made
    local_executor().remove(made.pk)


def ended(attempt: Attempt) -> Run:
    """Let the reconciler look at the attempt; return its run."""
    reconcile.advance(attempt.run_id)
    attempt.refresh_from_db()
    return Run.objects.get(pk=attempt.run_id)


def test_nul_in_what_a_runner_sends_is_kept_as_a_mark(attempt: Attempt) -> None:
    evidence = {
        "tail": "name=\0\0",
        "traceback": "Traceback\nKeyError: '\0'",
        "files": {"\0": ["\0"]},
    }
    body = {**GOOD, "exit_code": 1, "evidence": evidence, "counters": {"\0": "\0"}}
    answer = APIClient().post("/api/v1/runner/exit/", body, headers=runner_headers(attempt))
    assert answer.status_code == 200, answer.json()
    attempt.refresh_from_db()
    assert attempt.state == states.FINALIZING
    assert attempt.evidence["tail"] == f"name={MARK}{MARK}"
    assert (attempt.evidence["files"], attempt.evidence["counters"]) == (
        {MARK: [MARK]},
        {MARK: MARK},
    )
    assert attempt.failure_reason.endswith(f"exit code 1: KeyError: '{MARK}'")


def test_a_report_that_was_left_counts_with_marks_for_what_cannot_be_kept(
    attempt: Attempt,
) -> None:
    evidence = {"tail": "a\0b", "outputs_failed": {"caf\udce9": "\ud800"}, "loss": float("nan")}
    report = {**GOOD, "evidence": evidence, "counters": {"log_lines": 3}}
    (local_executor().folder(attempt.pk) / "exit.json").write_text(json.dumps(report))
    assert ended(attempt).state == states.SUCCEEDED
    assert attempt.exit_code == 0
    assert attempt.evidence["tail"] == f"a{MARK}b"
    assert attempt.evidence["outputs_failed"] == {f"caf{MARK}": MARK}
    assert attempt.evidence["counters"] == {"log_lines": 3}


@pytest.mark.parametrize(
    "left",
    [
        "",
        "[]",
        '"exited"',
        "{}",
        '{"reported": true, "exit_code": "x"}',
        json.dumps({**GOOD, "reason": "won"}),
        json.dumps({**GOOD, "reason": ["exited"]}),
        json.dumps({**GOOD, "exit_code": 2**31}),
        json.dumps({**GOOD, "signal": -9}),
        json.dumps({**GOOD, "evidence": "all well"}),
        json.dumps({**GOOD, "evidence": {"tail": "x" * MAX_REPORT_BYTES}}),
        '{"reason": "exited", "evidence": {"deep": ' + "[" * 100 + "]" * 100 + "}}",
        "[" * 100_000,
    ],
    ids=lambda text: text[:40],
)
def test_what_is_no_report_is_that_of_a_lost_runner(attempt: Attempt, left: str) -> None:
    (local_executor().folder(attempt.pk) / "exit.json").write_text(left)
    run = ended(attempt)
    assert (run.state, run.failure_class) == (states.FAILED, "RUNNER_LOST")


LEFT = [{"pid": 12, "name": "tensorboard"}, {"pid": 13, "name": "sh"}]


def test_processes_that_outlived_the_command_are_told_in_the_timeline(attempt: Attempt) -> None:
    evidence = {"leftovers": {"count": 2, "processes": LEFT}}
    answer = APIClient().post(
        "/api/v1/runner/exit/", {**GOOD, "evidence": evidence}, headers=runner_headers(attempt)
    )
    assert answer.status_code == 200
    event = attempt.run.events.get(kind="leftovers_ended")
    names = "tensorboard (pid 12), sh (pid 13)"
    assert event.text == f"Ended 2 processes that outlived the command: {names}."
    assert event.data == {"count": 2, "names": names}
    attempt.refresh_from_db()
    assert attempt.failure_class == ""


@pytest.mark.parametrize(
    "leftovers",
    [
        7,
        [],
        {"count": 1},
        {"count": 0, "processes": LEFT},
        {"count": "2", "processes": LEFT},
        {"count": 1 << 40, "processes": LEFT},
        {"count": 1, "processes": [1]},
    ],
)
def test_leftovers_that_a_job_made_up_are_left_out(leftovers: object) -> None:
    assert leftovers_of({"leftovers": leftovers}) is None


@pytest.mark.parametrize("kind", ["folder", "pipe", "link"])
def test_what_is_no_file_is_no_report_and_holds_up_nobody(
    attempt: Attempt, tmp_path: Path, kind: str
) -> None:
    at = local_executor().folder(attempt.pk) / "exit.json"
    if kind == "folder":
        at.mkdir()
    elif kind == "pipe":
        os.mkfifo(at)
    else:
        elsewhere = tmp_path / "exit.json"
        elsewhere.write_text(json.dumps(GOOD))
        at.symlink_to(elsewhere)
    assert ended(attempt).failure_class == "RUNNER_LOST"


def test_a_run_whose_report_is_odd_is_cancelled_like_any_other(attempt: Attempt) -> None:
    (local_executor().folder(attempt.pk) / "exit.json").write_text('{"exit_code": "x"}')
    runs.cancel_run(attempt.run_id, make_member(attempt.run.project, "researcher"))
    assert ended(attempt).state == states.CANCELLED


def test_a_folder_whose_supervisor_says_nothing_is_one_without(attempt: Attempt) -> None:
    (local_executor().folder(attempt.pk) / "supervisor.json").write_text('{"pid": "mine"}')
    runs.cancel_run(attempt.run_id, make_member(attempt.run.project, "researcher"))
    assert ended(attempt).state == states.CANCELLED


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("live")
def test_a_command_that_prints_and_names_what_is_no_text_succeeds(tmp_path: Path) -> None:
    script = """
import os
open(os.path.join(os.fsencode(os.environ["ATOM_OUTPUT_DIR"]), b"caf\\xe9.bin"), "w").write("x")
print("a\\0b")
"""
    run = make_script_run(tmp_path, script, max_retries=0)
    reconcile_until(run, states.SUCCEEDED)
    evidence = run.attempts.get().evidence
    assert evidence["tail"].endswith(f"a{MARK}b")
    assert list(evidence["outputs_failed"]) == [f"caf{MARK}.bin"]
