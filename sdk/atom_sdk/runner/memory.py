"""Ends a command that uses more memory than it asked for, before the machine suffers."""

from __future__ import annotations

import os
import threading
from collections.abc import Callable

from . import processes

CHECK_EVERY_S = 0.2


class MemoryWatch:
    """A thread that compares the process tree's memory with the limit."""

    def __init__(self, limit_bytes: int, on_exceeded: Callable[[], None]) -> None:
        """Watch the processes below this one; a limit of 0 only measures the peak."""
        self._limit_bytes = limit_bytes
        self._on_exceeded = on_exceeded
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="memory", daemon=True)
        self.peak_bytes = 0
        self.exceeded = False

    def start(self) -> None:
        """Begin to watch."""
        self._thread.start()

    def finish(self) -> None:
        """Stop."""
        self._stopping.set()
        self._thread.join(1.0)

    def _run(self) -> None:
        while not self._stopping.wait(CHECK_EVERY_S):
            used_bytes = self._used_bytes()
            self.peak_bytes = max(self.peak_bytes, used_bytes)
            if self._limit_bytes and used_bytes > self._limit_bytes:
                self.exceeded = True
                self._on_exceeded()
                return

    def _used_bytes(self) -> int:
        pids = processes.descendants(os.getpid())
        used_bytes = processes.rss_bytes(pids)
        if self._limit_bytes and used_bytes > self._limit_bytes:
            # Forked data loaders share most pages: RSS counts those once per process.
            return processes.pss_bytes(pids)
        return used_bytes
