"""What one run reports: its log, its end and why."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from typing import Any

from tests.sdk.runner.conftest import Attempt
from tests.sdk.runner.server import RunnerServer

Eventually = Callable[[Callable[[], Any]], Any]
KIB = 1024
MIB = 1024 * 1024


def test_a_command_that_ends_well(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python("import sys; print('hello'); print('oh', file=sys.stderr)")
    report = attempt.exit_report()
    assert (report["reason"], report["exit_code"], report["signal"]) == ("exited", 0, None)
    assert sorted(server.lines()) == ["hello", "oh"]
    assert sorted(server.state.frames) == [(1, b"hello\n"), (2, b"oh\n")]
    assert server.state.eof == len(server.state.log) == report["counters"]["log_bytes"]
    assert report["counters"]["log_complete"] is True
    assert server.state.started
    assert "running" in server.state.phases


def test_a_non_zero_exit_carries_its_traceback(attempt: Attempt) -> None:
    attempt.python("print('before')\ntry:\n  1 / 0\nexcept Exception:\n  raise ValueError('bad')")
    report = attempt.exit_report()
    assert (report["reason"], report["exit_code"]) == ("exited", 1)
    assert report["evidence"]["traceback"].startswith("Traceback (most recent call last):")
    assert "ZeroDivisionError" in report["evidence"]["traceback"]
    assert report["evidence"]["traceback"].endswith("ValueError: bad")
    assert report["evidence"]["tail"].startswith("before")


def test_a_signal_is_named(attempt: Attempt) -> None:
    attempt.python("import os; os.kill(os.getpid(), 11)")
    report = attempt.exit_report()
    assert (report["reason"], report["signal"]) == ("exited", 11)
    assert "SIGSEGV" in report["evidence"]["message"]


def test_a_missing_command(attempt: Attempt, server: RunnerServer) -> None:
    attempt.start(["pyhton", "train.py"])
    report = attempt.exit_report()
    assert (report["reason"], report["exit_code"]) == ("not_found", 127)
    assert "'pyhton' was not found" in report["evidence"]["message"]
    assert b"'pyhton' was not found" in server.state.log


def test_a_command_that_is_missing_in_a_script(attempt: Attempt) -> None:
    attempt.start(["sh", "-c", "no-such-program --version"])
    assert attempt.exit_report()["reason"] == "not_found"


def test_the_timeout_ends_the_whole_group(attempt: Attempt) -> None:
    attempt.start(["sh", "-c", "sleep 60 & sleep 60"], timeout_s=0.5)
    report = attempt.exit_report()
    assert report["reason"] == "timeout"
    assert report["signal"] == signal.SIGTERM


def test_a_cancelled_command_may_write_its_last_words(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(
        "import signal, sys, time, os\n"
        "def stop(*_):\n"
        "  open(os.environ['ATOM_OUTPUT_DIR'] + '/last.txt', 'w').write('words')\n"
        "  print('stopping'); sys.exit(0)\n"
        "signal.signal(signal.SIGTERM, stop)\nprint('ready')\ntime.sleep(60)"
    )
    eventually(lambda: b"ready" in server.state.log)
    server.state.cancel = True
    assert attempt.exit_report()["reason"] == "cancelled"
    assert "stopping" in server.lines()
    assert server.state.storage["out/last.txt"] == b"words"


def test_a_command_that_ignores_sigterm_is_killed(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(
        "import signal, time; signal.signal(15, signal.SIG_IGN); print('ready'); time.sleep(60)"
    )
    eventually(lambda: b"ready" in server.state.log)
    server.state.cancel = True
    report = attempt.exit_report()
    assert (report["reason"], report["signal"]) == ("cancelled", signal.SIGKILL)


def test_sigterm_to_the_runner_flushes_and_reports(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python("import time; print('ready'); time.sleep(60)")
    eventually(lambda: b"ready" in server.state.log)
    assert attempt.process
    attempt.process.terminate()
    assert attempt.exit_report()["reason"] == "runner_lost"
    assert server.state.eof == len(server.state.log)


def test_a_revoked_attempt_ends_its_command_and_reports_nothing(
    attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python("import os, time; print(os.getpid()); time.sleep(60)")
    pid = int(eventually(server.lines)[0])
    server.state.revoked = True
    assert attempt.wait() == 0
    assert not os.path.exists(f"/proc/{pid}")
    assert server.state.exits == []


def test_memory_over_the_limit_is_oom_with_the_peak(attempt: Attempt) -> None:
    attempt.python(
        "import time\nheld = []\nwhile True:\n  held.append(b'x' * 4_000_000); time.sleep(0.01)",
        resources={"memory_bytes": 100 * MIB},
    )
    report = attempt.exit_report()
    assert report["reason"] == "oom"
    assert 100 * MIB < report["evidence"]["peak_memory_bytes"] < 2048 * MIB
    assert "100 MiB" in report["evidence"]["message"]


def test_memory_of_children_counts(attempt: Attempt) -> None:
    child = "held = b'x' * 200_000_000; import time; time.sleep(60)"
    attempt.python(
        f"import subprocess, sys; subprocess.run([sys.executable, '-c', {child!r}])",
        resources={"memory_bytes": 150 * MIB},
    )
    assert attempt.exit_report()["reason"] == "oom"


def test_a_memory_error_is_oom(attempt: Attempt) -> None:
    attempt.python("b'x' * (1 << 62)")
    report = attempt.exit_report()
    assert report["reason"] == "oom"
    assert report["evidence"]["traceback"].endswith("MemoryError")


def test_what_outlives_the_command_is_ended(attempt: Attempt, server: RunnerServer) -> None:
    daemon = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep(60)"
    attempt.python(
        f"import subprocess, sys, time; subprocess.Popen([sys.executable, '-c', {daemon!r}]);"
        "time.sleep(0.5)"
    )
    assert attempt.exit_report()["exit_code"] == 0
    assert not os.path.exists(f"/proc/{int(server.lines()[0])}")


def test_the_command_gets_a_scrubbed_environment(
    attempt: Attempt, server: RunnerServer, monkeypatch: Any
) -> None:
    monkeypatch.setenv("DATABASE_URL", "postgres://secret")
    attempt.python("import os; print(sorted(os.environ))", env={"SEED": "7"})
    attempt.exit_report()
    names = server.lines()[0]
    assert "DATABASE_URL" not in names
    assert "TOKEN" not in names
    for name in ("SEED", "PATH", "PYTHONUNBUFFERED", "ATOM_OUTPUT_DIR", "ATOM_METRICS_FILE"):
        assert repr(name) in names


def test_progress_bars_are_collapsed(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python(
        "import sys, time\n"
        "for i in range(201):\n"
        "  sys.stderr.write(f'\\r{i}/200'); time.sleep(0.005)\n"
        "sys.stderr.write('\\n')"
    )
    attempt.exit_report()
    states = bytes(server.state.log).strip().split(b"\r")
    assert 2 <= len(states) <= 5
    assert states[-1] == b"200/200"


def test_metrics_and_progress(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python(
        "import os\n"
        "with open(os.environ['ATOM_METRICS_FILE'], 'a') as f:\n"
        "  for s in range(3):\n"
        '    f.write(\'{"step": %d, "ts_ms": 5, "values": {"loss": %s}}\\n\''
        " % (s, ['1.5', 'NaN', 'Infinity'][s]))\n"
        "  f.write('not json\\n')\n"
        '  f.write(\'{"progress": 0.5, "text": "half"}\\n\')'
    )
    report = attempt.exit_report()
    loss = [point for point in server.state.points if point[0] == "loss"]
    assert loss == [["loss", 0, 5, 1.5], ["loss", 1, 5, "NaN"], ["loss", 2, 5, "Infinity"]]
    assert server.state.progress == [{"fraction": 0.5, "text": "half"}]
    assert report["counters"]["metric_lines_skipped"] == 1


def test_system_metrics_come_every_two_seconds(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python("import time\nend = time.time() + 4.5\nwhile time.time() < end: pass")
    attempt.exit_report()
    cpu = [value for key, _, _, value in server.state.points if key == "system/cpu_percent"]
    memory = [value for key, _, _, value in server.state.points if key == "system/memory_bytes"]
    assert len(cpu) == 2
    assert max(cpu) > 20  # the machine may be busy with other things
    assert min(memory) > 1 * MIB


def test_an_unusable_folder_is_said(attempt: Attempt) -> None:
    attempt.start([])
    assert attempt.wait() == 4


def test_no_descriptor_of_the_runner_reaches_the_command(
    attempt: Attempt, server: RunnerServer
) -> None:
    attempt.start([sys.executable, "-c", "import os; print(len(os.listdir('/proc/self/fd')))"])
    attempt.exit_report()
    assert int(server.lines()[0]) <= 4
