"""A run's folder on a slow, silent, read-only or failing disk: all arrives, or it is said why."""

from __future__ import annotations

import errno
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.cache.slow_disk import SlowDisk, slow_disk
from tests.sdk.mount.conftest import why_not
from tests.sdk.runner.conftest import Attempt
from tests.sdk.runner.server import RunnerServer
from tests.sdk.runner.test_faults import runner_below

pytestmark = pytest.mark.skipif(why_not("fuse") is not None, reason=str(why_not("fuse")))
Eventually = Callable[[Callable[[], Any]], Any]
DELAY_S = 0.02
LINES = 200
# Prints and logs as `atom_sdk.run` does, and writes a file at its end.
WORKING = f"""
import json, os, time
for n in range({LINES}):
    print("line", n, flush=True)
    row = {{"step": n, "ts_ms": n, "values": {{"n": n}}}}
    with open(os.environ["ATOM_METRICS_FILE"], "a") as file:
        file.write(json.dumps(row) + "\\n")
    time.sleep(0.01)
with open(os.environ["ATOM_OUTPUT_DIR"] + "/result.txt", "w") as file:
    file.write("counted")
"""
# Writes nothing itself.
PRINTING = f"""
import time
for n in range({LINES}):
    print("line", n, flush=True)
    time.sleep(0.01)
"""
# Several megabytes: more than memory and the pipe hold.
MANY = 300_000
MANY_LINES = f"for n in range({MANY}): print('line', n)"
WRITE_RESULT = """
with open(os.environ["ATOM_OUTPUT_DIR"] + "/result.txt", "w") as file:
    file.write("counted")
time.sleep(1)
"""


@pytest.fixture
def disk(tmp_path: Path) -> Iterator[SlowDisk]:
    with slow_disk(tmp_path / "disk", tmp_path / "mounted", 0.0) as mounted:
        yield mounted


@pytest.fixture
def attempt(disk: SlowDisk, runner_pyz: Path, server: RunnerServer) -> Iterator[Attempt]:
    """Its folder is on the disk."""
    attempt = Attempt(disk.folder / "attempt", runner_pyz, server)
    yield attempt
    attempt.clean_up()


def expect_everything(attempt: Attempt, server: RunnerServer) -> dict[str, Any]:
    """All lines, points and files, once and in order."""
    report = attempt.exit_report()
    assert server.lines() == [f"line {n}" for n in range(LINES)]
    points = [point for point in server.state.points if point[0] == "n"]
    assert points == [["n", n, n, float(n)] for n in range(LINES)]
    assert server.state.storage["out/result.txt"] == b"counted"
    assert "outputs_failed" not in report["evidence"]
    return report


def test_a_run_on_a_slow_disk_is_slow_and_whole(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer
) -> None:
    with disk.slower(DELAY_S):
        attempt.python(WORKING)
        assert expect_everything(attempt, server)["exit_code"] == 0


def test_a_disk_that_falls_silent_holds_a_run_and_loses_nothing(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(WORKING)
    eventually(lambda: len(server.lines()) > 20)
    with disk.silent():
        time.sleep(2)
    assert expect_everything(attempt, server)["exit_code"] == 0


@pytest.mark.parametrize("number", [errno.EROFS, errno.EIO, errno.ENOSPC])
def test_lines_are_told_while_the_disk_refuses_them(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually, number: int
) -> None:
    attempt.python(PRINTING)
    eventually(lambda: len(server.lines()) > 20)
    with disk.refusing(number):
        told = len(server.lines())
        eventually(lambda: len(server.lines()) > told + 20)
    report = attempt.exit_report()
    assert report["exit_code"] == 0
    assert server.lines() == [f"line {n}" for n in range(LINES)]


def test_a_command_that_ends_on_a_read_only_disk_is_reported_at_once_and_whole(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(PRINTING)
    eventually(lambda: len(server.lines()) > 20)
    with disk.refusing():
        report = attempt.exit_report()
    assert (report["exit_code"], report["reason"]) == (0, "exited")
    assert report["counters"]["log_complete"] is True
    assert server.lines() == [f"line {n}" for n in range(LINES)]


def test_a_command_that_a_read_only_disk_ends_says_so(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python(WORKING)
    eventually(lambda: len(server.lines()) > 20)
    with disk.refusing():
        report = attempt.exit_report()
    assert (report["exit_code"], report["evidence"]["disk"]) == (1, "read_only")
    assert "Read-only file system" in report["evidence"]["traceback"]
    written = [line for line in server.lines() if line.startswith("line ")]
    points = [point[1] for point in server.state.points if point[0] == "n"]
    # Each point that the disk took, though it cannot be noted that they are sent.
    assert points == list(range(len(points)))
    assert len(points) in {len(written), len(written) - 1}


def test_a_command_that_prints_more_than_is_held_waits_for_the_disk(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python("import time; print('ready', flush=True); time.sleep(1)\n" + MANY_LINES)
    eventually(lambda: server.lines() == ["ready"])
    with disk.refusing():
        eventually(lambda: len(server.state.log) > 500_000)
        time.sleep(2)
        assert server.state.phases[-1] == "running"
    attempt.exit_report()
    assert server.lines() == ["ready", *(f"line {n}" for n in range(MANY))]


def test_a_lost_runner_is_drained_from_a_read_only_disk(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    server.stop()
    attempt.python(PRINTING + "time.sleep(60)", verb="supervise")
    spool = attempt.root / "spool"
    last = f"line {LINES - 1}\n".encode()
    eventually(lambda: any(last in path.read_bytes() for path in spool.glob("log-*")))
    with disk.refusing():
        assert attempt.process
        os.kill(runner_below(attempt.process.pid), signal.SIGKILL)
        server.start()
        report = attempt.exit_report()
    assert report["reason"] == "runner_lost"
    assert server.lines() == [f"line {n}" for n in range(LINES)]


def test_files_that_arrived_are_no_failed_ones_though_that_cannot_be_noted(
    disk: SlowDisk, attempt: Attempt, server: RunnerServer, eventually: Eventually
) -> None:
    attempt.python("import os, time" + WRITE_RESULT)
    eventually((attempt.root / "outputs" / "result.txt").exists)
    with disk.refusing():
        report = attempt.exit_report()
    assert server.state.completed == ["result.txt"]
    assert "outputs_failed" not in report["evidence"]
