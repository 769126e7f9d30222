"""Disks that tests make slow, silent or read-only while something is stored on them.

Served by `tests.cache.slow_folder`, which needs libfuse; this does not.
"""

from __future__ import annotations

import errno
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

_STARTS_WITHIN_S = 30.0
_HEARD_WITHIN_S = 0.1


class SlowDisk:
    """A mounted folder, whose disk can be made worse for a while."""

    def __init__(self, folder: Path, server: subprocess.Popen[bytes]) -> None:
        self.folder = folder
        self._server = server

    @contextmanager
    def silent(self) -> Iterator[None]:
        """As a disk whose cable is out, or whose server is away."""
        self._server.send_signal(signal.SIGSTOP)
        try:
            yield
        finally:
            self._server.send_signal(signal.SIGCONT)

    @contextmanager
    def slower(self, delay_s: float) -> Iterator[None]:
        """As a disk that others keep busy."""
        self._say(f"delay {delay_s}")
        try:
            yield
        finally:
            self._say("delay 0")

    @contextmanager
    def refusing(self, number: int = errno.EROFS) -> Iterator[None]:
        """As a disk that the kernel has made read-only, or that is full or failing."""
        self._say(f"refuse {number}")
        try:
            yield
        finally:
            self._say("refuse 0")

    def _say(self, line: str) -> None:
        assert self._server.stdin is not None
        self._server.stdin.write(f"{line}\n".encode())
        self._server.stdin.flush()
        # It is heard before anything that comes through the kernel.
        time.sleep(_HEARD_WITHIN_S)


@contextmanager
def slow_disk(source: Path, folder: Path, delay_s: float) -> Iterator[SlowDisk]:
    """Mount it, and take it away again. Both folders are created."""
    for each in (source, folder):
        each.mkdir(parents=True)
    words = [
        sys.executable,
        "-m",
        "tests.cache.slow_folder",
        str(source),
        str(folder),
        str(delay_s),
    ]
    with subprocess.Popen(words, stdin=subprocess.PIPE) as server:
        try:
            deadline = time.monotonic() + _STARTS_WITHIN_S
            while not os.path.ismount(folder):
                assert server.poll() is None, "the disk did not start"
                assert time.monotonic() < deadline, "the disk was not mounted in time"
                time.sleep(0.02)
            yield SlowDisk(folder, server)
        finally:
            subprocess.run(["umount", "--lazy", str(folder)], check=False)
            server.kill()
