"""Real supervisors and runners against a live web process."""

from __future__ import annotations

import hashlib
import json
import os
import signal
import tempfile
import time
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings

from atom.clusters.models import Reservation
from atom.core import storage
from atom.jobs import reconcile, states
from atom.jobs.executors import local_executor
from atom.jobs.executors.base import Admitted
from atom.jobs.executors.local.executor import first_uid
from atom.jobs.logs.actions import logs
from atom.jobs.runs.actions import runs
from tests.factories.accounts import make_member
from tests.jobs.live import (
    log_of,
    make_script_run,
    reconcile_until,
    serve,
    wait_for,
    wait_until_gone,
)

pytestmark = [pytest.mark.django_db(transaction=True), pytest.mark.usefixtures("live")]


def test_a_run_from_the_queue_to_its_end(tmp_path: Path) -> None:
    run = make_script_run(
        tmp_path,
        "import os, pathlib, json\n"
        "print('hello from the job')\n"
        "pathlib.Path(os.environ['ATOM_OUTPUT_DIR'], 'result.txt').write_text('42')\n"
        "with open(os.environ['ATOM_METRICS_FILE'], 'a') as f:\n"
        "    for step in range(10):\n"
        "        values = {'loss': 1 / (step + 1)}\n"
        "        line = {'step': step, 'ts_ms': 1700000000000 + step, 'values': values}\n"
        "        f.write(json.dumps(line) + '\\n')\n",
    )
    reconcile_until(run, states.SUCCEEDED)
    attempt = run.attempts.get()
    assert "hello from the job" in log_of(run)
    assert attempt.log_complete
    assert attempt.exit_code == 0
    assert attempt.ranks.get().token_hash == ""
    assert run.artifacts.get(path="result.txt").state == states.PERSISTED
    assert run.series.get(key="loss").n == 10
    assert run.metrics_summary["loss"] == pytest.approx(0.1)
    assert not Reservation.objects.exists()


def test_an_exception_is_shown_with_its_traceback(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "def f():\n    raise ValueError('no such thing')\nf()\n")
    reconcile_until(run, states.FAILED)
    assert run.failure_class == "USER_CODE"
    assert "ValueError: no such thing" in run.failure_reason
    assert "train.py" in run.attempts.get().evidence["traceback"]
    assert run.attempts.count() == 1


def test_a_metric_that_is_refused_is_told_in_the_log_and_costs_no_other(tmp_path: Path) -> None:
    run = make_script_run(
        tmp_path,
        "import os\n"
        "with open(os.environ['ATOM_METRICS_FILE'], 'a') as f:\n"
        "    for key in ('loss', 'x' * 300):\n"
        '        f.write(\'{"step": 1, "ts_ms": 5, "values": {"%s": 0.5}}\\n\' % key)\n',
    )
    reconcile_until(run, states.SUCCEEDED)
    assert run.metrics_summary["loss"] == 0.5
    log = log_of(run)
    assert "Some points of metrics were refused" in log
    assert "1 to 250 characters" in log


def test_a_command_that_does_not_exist(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "", command=["no-such-program", "--now"])
    reconcile_until(run, states.FAILED)
    assert run.failure_class == "COMMAND_NOT_FOUND"
    assert "no-such-program" in run.failure_reason


def test_code_that_was_damaged_in_the_store_never_starts(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "print('never')\n")
    assert run.code is not None
    stored = storage.objects().get(run.code.key)
    storage.objects().put(run.code.key, bytes(len(stored)))
    reconcile_until(run, states.FAILED)
    assert run.failure_class == "PREPARATION"
    assert "code snapshot does not match its digest" in run.failure_reason
    assert "Retry" in run.suggestion
    job = json.loads((local_executor().folder(run.attempts.get().pk) / "job.json").read_text())
    assert job["code"]["sha256"] == hashlib.sha256(stored).hexdigest() == run.code.sha256


def test_code_that_the_store_does_not_give_for_a_while_is_asked_for_again(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "print('at last')\n")
    assert run.code is not None
    stored = storage.objects().get(run.code.key)
    storage.objects().delete(run.code.key)
    reconcile_until(run, states.RETRY_WAIT)
    assert run.attempts.get().failure_class == "PREPARATION"
    storage.objects().put(run.code.key, stored)
    reconcile_until(run, states.SUCCEEDED)
    assert run.attempts.count() == 2


def test_a_job_that_needs_too_much_memory(tmp_path: Path) -> None:
    run = make_script_run(
        tmp_path,
        "import time\nblocks = []\n"
        "while True:\n    blocks.append(b'x' * (16 << 20))\n    time.sleep(.02)\n",
        memory_bytes=128 << 20,
    )
    reconcile_until(run, states.FAILED)
    assert run.failure_class == "OOM_HOST"
    assert "memory" in run.suggestion


def test_a_job_over_its_time_limit(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "import time\ntime.sleep(60)\n", timeout_s=1)
    reconcile_until(run, states.FAILED)
    assert run.failure_class == "DEADLINE"


def test_cancelling_a_running_job(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "import time\nprint('up')\ntime.sleep(60)\n")
    reconcile_until(run, states.RUNNING)
    runs.cancel_run(run.pk, make_member(run.project, "researcher"))
    reconcile_until(run, states.CANCELLED)
    assert wait_until_gone(local_executor(), run.attempts.get().pk, timeout_s=10)


def test_a_killed_runner_loses_no_line_and_the_next_attempt_resumes(tmp_path: Path) -> None:
    run = make_script_run(
        tmp_path,
        "import os, pathlib, time, sys\n"
        "resume = os.environ.get('ATOM_RESUME_DIR')\n"
        "if resume:\n"
        "    print('resumed', pathlib.Path(resume, 'state').read_text()); sys.exit()\n"
        "folder = pathlib.Path(os.environ['ATOM_CHECKPOINT_DIR'], 'step-7')\n"
        "folder.mkdir()\n"
        "(folder / 'state').write_text('at seven')\n"
        "(folder / '.complete').touch()\n"
        "for n in range(10_000):\n"
        "    print('line', n, flush=True); time.sleep(.01)\n",
    )
    reconcile_until(run, states.RUNNING)
    wait_for(lambda: run.artifacts.filter(kind="checkpoint", state=states.PERSISTED).exists())
    attempt = run.attempts.get()
    os.kill(local_executor().pid(attempt.pk) or 0, signal.SIGKILL)
    reconcile_until(run, states.SUCCEEDED)
    first, second = run.attempts.order_by("number")
    assert first.failure_class == "RUNNER_LOST"
    assert second.resumed_from_step == 7
    assert "resumed at seven" in log_of(run)
    found = logs.read(first, 0, 1 << 24)
    lines = b"".join(frame.payload for frame in found.frames).decode().splitlines()
    numbers = [int(line.split()[1]) for line in lines if line.startswith("line ")]
    assert numbers == list(range(len(numbers)))


def test_a_new_worker_adopts_a_running_job(tmp_path: Path) -> None:
    run = make_script_run(tmp_path, "import time\ntime.sleep(2)\nprint('done')\n")
    reconcile_until(run, states.RUNNING)
    # A worker that died before it noted the supervisor leaves this behind.
    run.attempts.get().ranks.update(identity={})
    reconcile_until(run, states.SUCCEEDED)
    assert run.attempts.get().ranks.get().identity["pid"] > 0
    assert "done" in log_of(run)


def test_two_workers_start_one_supervisor(tmp_path: Path) -> None:
    marker = Path(settings.ATOM_HOME) / "started"
    run = make_script_run(
        tmp_path, f"open({str(marker)!r}, 'a').write('x')\nimport time\ntime.sleep(3)\n"
    )
    reconcile_until(run, states.RUNNING)
    attempt = run.attempts.get()
    wait_for(marker.exists)
    again = local_executor().launch(attempt.pk, never, 0)
    assert again.ranks[0].identity == local_executor().observe(attempt).ranks[0].identity
    reconcile_until(run, states.SUCCEEDED)
    assert marker.read_text() == "x"
    marker.unlink()


def never(rank: int) -> Admitted:
    raise AssertionError("the supervisor runs: a new token would take its own away")


def test_a_web_process_that_goes_away_and_comes_back_loses_no_line(
    tmp_path: Path, settings: Any
) -> None:
    run = make_script_run(
        tmp_path,
        "import time\nfor n in range(300):\n    print('line', n, flush=True); time.sleep(.01)\n",
    )
    with serve() as origin:
        settings.ATOM_RUNNER_API_URL = origin
        reconcile_until(run, states.RUNNING)
        wait_for(lambda: "line 20" in log_of(run))
    # No server listens for a while: the runner keeps its logs and the command goes on.
    time.sleep(1.5)
    reconcile.tick()
    run.refresh_from_db()
    assert run.state == states.RUNNING
    with serve(int(origin.rsplit(":", 1)[1])):
        reconcile_until(run, states.SUCCEEDED)
    lines = [line for line in log_of(run).splitlines() if line.startswith("line ")]
    assert lines == [f"line {number}" for number in range(300)]
    assert run.attempts.count() == 1


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give jobs their own users")
def test_as_root_a_job_has_a_user_of_its_own_and_sees_no_secret(
    tmp_path: Path, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOM_SECRET_KEY", "never-shown")
    with tempfile.TemporaryDirectory(prefix="atom-home-") as home:
        Path(home).chmod(0o755)
        settings.ATOM_HOME = Path(home)
        run = make_script_run(
            tmp_path,
            "import os\n"
            "print('uid', os.getuid(), 'groups', os.getgroups())\n"
            "print('secrets', [n for n in os.environ if 'SECRET' in n or 'DATABASE' in n])\n"
            "try:\n    os.listdir(os.path.dirname(os.environ['ATOM_RUN_DIR']))\n"
            "except PermissionError:\n    print('cannot look at others')\n",
        )
        reconcile_until(run, states.SUCCEEDED)
        assert f"uid {first_uid(Path(home))} groups []" in log_of(run)
        assert "secrets []" in log_of(run)
        assert "cannot look at others" in log_of(run)
        assert wait_until_gone(local_executor(), run.attempts.get().pk, timeout_s=10)
