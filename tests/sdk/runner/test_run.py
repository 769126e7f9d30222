"""The report of one run: its log, its end and the reason."""

from __future__ import annotations

import os
import signal
import sys
from collections.abc import Callable
from pathlib import Path
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


def test_the_start_is_reported_before_the_end_of_a_short_command(
    attempt: Attempt, server: RunnerServer
) -> None:
    server.faults.only, server.faults.status_500 = "started", 3
    attempt.python("pass")
    attempt.exit_report()
    assert len(server.state.started) == 1


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


DAEMON = "import os, time; os.setsid(); print(os.getpid(), flush=True); time.sleep({seconds})"


def leaving(seconds: float, more: str = "") -> str:
    """Return a program that leaves a process behind, which sleeps."""
    daemon = DAEMON.format(seconds=seconds)
    return (
        f"import subprocess, sys; p = subprocess.Popen([sys.executable, '-c', {daemon!r}],"
        f" stdout=subprocess.PIPE); print(p.stdout.readline().decode().strip(), flush=True); {more}"
    )


def log_lines(server: RunnerServer) -> list[str]:
    """Return the lines of the log, those of the runner itself too."""
    return bytes(server.state.log).decode().splitlines()


def test_what_outlives_the_command_is_waited_for_then_ended_and_told(
    attempt: Attempt, server: RunnerServer
) -> None:
    attempt.python(leaving(60), limits={"leftover_s": 0.2})
    report = attempt.exit_report()
    assert (report["exit_code"], report["reason"]) == (0, "exited")
    pid, waiting, ended = log_lines(server)
    assert not os.path.exists(f"/proc/{pid}")
    name = Path(sys.executable).name
    assert report["evidence"]["leftovers"] == {
        "count": 1, "processes": [{"pid": int(pid), "name": name[:15]}],
    }  # fmt: skip
    who = f"{name[:15]} (pid {pid})"
    assert waiting == (
        f"[atom] The command has ended. 1 process of it still runs: {who}. It has 0.2 s."
    )
    assert ended == f"[atom] Ended 1 process that outlived the command: {who}."


def test_a_child_that_ends_in_time_is_not_ended(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python(leaving(2), limits={"leftover_s": 15})
    assert "leftovers" not in attempt.exit_report()["evidence"]
    assert not any(line.startswith("[atom] Ended") for line in log_lines(server))


def test_what_a_failed_command_leaves_is_ended_without_a_wait(
    attempt: Attempt, server: RunnerServer
) -> None:
    attempt.python(leaving(60, "sys.exit(3)"), limits={"leftover_s": 600})
    report = attempt.exit_report()
    assert (report["exit_code"], report["evidence"]["leftovers"]["count"]) == (3, 1)
    assert len(log_lines(server)) == 2


def test_no_program_of_a_job_gains_rights(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python(
        "import subprocess; print(*[line for line in open('/proc/self/status')"
        " if line.startswith('NoNewPrivs')], flush=True);"
        "subprocess.run(['grep', 'NoNewPrivs', '/proc/self/status'])",
        "supervise",
    )
    attempt.exit_report()
    assert [line.split() for line in server.lines() if line] == [["NoNewPrivs:", "1"]] * 2


def test_characters_written_byte_by_byte_come_whole(attempt: Attempt, server: RunnerServer) -> None:
    attempt.python(
        "import sys, time\n"
        "for byte in '日本語🙂ж'.encode():\n"
        "  sys.stdout.buffer.write(bytes([byte])); sys.stdout.buffer.flush()\n"
        "  sys.stderr.buffer.write(b'.'); sys.stderr.buffer.flush(); time.sleep(0.15)\n"
    )
    attempt.exit_report()
    said = [payload for fd, payload in server.state.frames if fd == 1]
    assert "".join(payload.decode() for payload in said) == "日本語🙂ж"
    assert len(said) > 1


def test_a_sentence_of_the_runner_has_a_line_of_its_own(
    attempt: Attempt, server: RunnerServer
) -> None:
    attempt.python("import sys, time; sys.stderr.write('50%'); time.sleep(60)", timeout_s=1)
    assert attempt.exit_report()["reason"] == "timeout"
    assert log_lines(server)[:2] == [
        "50%",
        "[atom] Ending the command (timeout); it has 0.5 s.",
    ]


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
