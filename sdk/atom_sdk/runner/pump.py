"""Moves what the command writes into the spool, in arrival order."""

from __future__ import annotations

import os
import selectors
import threading
import time
from collections.abc import Iterable, Sequence

from .collapse import PARTIAL_HOLD_S, LineCollapser
from .redaction import Redactor
from .spool import Spool

READ_BYTES = 128 * 1024
STDOUT, STDERR = 1, 2
TAIL_BYTES = 64 * 1024


class LogPump:
    """A thread that reads the command's stdout and stderr until both are closed."""

    def __init__(self, spool: Spool, pipes: Sequence[int], secrets: Iterable[str] = ()) -> None:
        """Take the read ends of (stdout, stderr); the pump closes them.

        The values in `secrets` are masked.
        """
        self._spool = spool
        secrets = list(secrets)
        self._redactors = {STDOUT: Redactor(secrets), STDERR: Redactor(secrets)}
        self._lines = {STDOUT: LineCollapser(), STDERR: LineCollapser()}
        self._selector = selectors.DefaultSelector()
        for fd, pipe in zip((STDOUT, STDERR), pipes):  # noqa: B905 - Python 3.8
            os.set_blocking(pipe, False)
            self._selector.register(pipe, selectors.EVENT_READ, fd)
        self._lock = threading.Lock()
        self._stopping = threading.Event()
        self._thread = threading.Thread(target=self._run, name="log-pump", daemon=True)
        self.tail = b""
        self.stderr_tail = b""
        self._is_stderr_mid_line = False

    def start(self) -> None:
        """Begin to read."""
        self._thread.start()

    def say(self, sentence: str) -> None:
        """Put a sentence of the runner itself into the log, on a line of its own."""
        text = f"[atom] {sentence}\n".encode()
        with self._lock:
            self._store(STDERR, b"\n" + text if self._is_stderr_mid_line else text)

    def finish(self, wait_s: float) -> None:
        """Wait for the end of both pipes, at most `wait_s`, then take what is in them and stop."""
        self._thread.join(wait_s)
        self._stopping.set()
        self._thread.join()

    def _run(self) -> None:
        while self._selector.get_map():
            stopping = self._stopping.is_set()
            ready = self._selector.select(0 if stopping else PARTIAL_HOLD_S)
            for key, _ in ready:
                self._read(key.fd, key.data)
            now_s = time.monotonic()
            for fd, lines in self._lines.items():
                self._append(fd, lines.flush(now_s))
            if stopping and not ready:
                break
        for fd, lines in self._lines.items():
            self._append(fd, lines.flush(0.0, final=True))
            self._keep(fd, self._redactors[fd].flush())
        self._close()

    def _read(self, pipe: int, fd: int) -> None:
        try:
            data = os.read(pipe, READ_BYTES)
        except BlockingIOError:
            return
        if data:
            self._append(fd, self._lines[fd].feed(data, time.monotonic()))
        else:
            self._selector.unregister(pipe)
            os.close(pipe)

    def _append(self, fd: int, text: bytes) -> None:
        self._keep(fd, self._redactors[fd].feed(text))

    def _keep(self, fd: int, text: bytes) -> None:
        if not text:
            return
        with self._lock:
            self._store(fd, text)

    def _store(self, fd: int, text: bytes) -> None:
        """Append to the spool and the tails; called with the lock held."""
        self._spool.append(fd, time.time_ns(), text)
        self.tail = (self.tail + text)[-TAIL_BYTES:]
        if fd == STDERR:
            self.stderr_tail = (self.stderr_tail + text)[-TAIL_BYTES:]
            self._is_stderr_mid_line = not text.endswith(b"\n")

    def _close(self) -> None:
        for key in list(self._selector.get_map().values()):
            os.close(key.fd)
        self._selector.close()
