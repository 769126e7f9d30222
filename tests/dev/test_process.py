"""A managed process goes on when the disk does not take its log, and its log has a limit."""

import asyncio
import io
import re
import sys
from collections.abc import Callable
from pathlib import Path

from atom.dev.config import Installation
from atom.dev.launcher import Launcher
from atom.dev.log_file import LogFile
from atom.dev.output import Terminal
from atom.dev.process import ManagedProcess
from atom.dev.spec import ProcessSpec
from atom.dev.state import READY

# More than a pipe and the reader's buffers hold.
_TALKS = "import sys; sys.stdout.write('x' * 80 + chr(10)); sys.stdout.write('y' * 2000000)"


def test_a_full_disk_does_not_stop_who_writes_to_its_log(tmp_path: Path) -> None:
    (tmp_path / "talker.log").symlink_to("/dev/full")
    done = tmp_path / "done"
    program = f"{_TALKS}; open({str(done)!r}, 'w').close(); import time; time.sleep(60)"

    async def run() -> None:
        spec = ProcessSpec(
            "talker", (sys.executable, "-c", program), tmp_path, is_ready=done.exists
        )
        process = ManagedProcess(spec, tmp_path, Terminal(io.StringIO()), on_change=lambda: None)
        try:
            await process.start()
        finally:
            await process.stop(0.5)

    asyncio.run(run())
    assert done.exists()


def test_a_log_is_written_again_when_the_disk_takes_it(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    path.symlink_to("/dev/full")
    log = LogFile(path)
    log.write(b"lost\n")
    path.unlink()
    log.write(b"kept\n")
    log.close()
    assert path.read_bytes() == b"kept\n"


def test_a_log_has_a_limit_while_its_process_runs(tmp_path: Path) -> None:
    path = tmp_path / "web.log"
    log = LogFile(path, limit_bytes=100)
    for number in range(100):
        log.write(b"line %02d\n" % number)
    log.close()
    older = tmp_path / "web.log.1"
    assert path.stat().st_size <= 108
    assert older.stat().st_size <= 108
    assert path.read_bytes().endswith(b"line 99\n")


def test_a_state_that_cannot_be_written_is_said_and_stops_nothing(tmp_path: Path) -> None:
    shown = io.StringIO()
    home = tmp_path / "not" / "made"
    installation = Installation(home, Installation.load().environment)
    Launcher(installation, Terminal(shown))._save()
    assert "could not be written down" in shown.getvalue()


def test_what_cannot_work_any_more_is_started_again_once_a_new_one_could(tmp_path: Path) -> None:
    starts, mended = tmp_path / "starts", tmp_path / "mended"
    # The first is stuck for ever, the second works.
    program = f"""
import time
with open({str(starts)!r}, "a+") as file:
    file.write("started\\n")
    file.seek(0)
    is_first = file.read().count("started") == 1
while True:
    print("insert entry: stuck" if is_first else "fine", flush=True)
    time.sleep(0.02)
"""
    asked: list[bool] = []

    def can_work() -> bool:
        asked.append(mended.exists())
        return asked[-1]

    async def run() -> None:
        spec = ProcessSpec(
            "store",
            (sys.executable, "-c", program),
            tmp_path,
            is_ready=starts.exists,
            complaint=re.compile("insert entry"),
            can_work=can_work,
        )
        process = ManagedProcess(spec, tmp_path, Terminal(io.StringIO()), on_change=lambda: None)
        try:
            await process.start()
            await _until(lambda: len(asked) > 2)
            assert process.state.restarts == 0
            mended.touch()
            await _until(lambda: process.state.restarts == 1 and process.state.phase == READY)
            before = len(asked)
            await asyncio.sleep(0.2)
            assert (len(asked), process.state.restarts) == (before, 1)
        finally:
            await process.stop(0.5)

    asyncio.run(run())
    assert starts.read_text().splitlines() == ["started"] * 2


async def _until(is_so: Callable[[], bool]) -> None:
    async with asyncio.timeout(30):
        while not is_so():
            await asyncio.sleep(0.02)
