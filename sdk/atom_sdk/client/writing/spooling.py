"""The queue between a program that writes and the thread that sends.

A writer fills one segment; full ones wait in line for the thread. When too many wait, who writes
waits too, so memory and disk stay bounded.
"""

from __future__ import annotations

import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections import deque
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from atom_sdk.client.writing.segment import Segment
from atom_sdk.packs.plan import TARGET_PACK_BYTES

_MAX_FILES = 100_000
_LOCK = "lock"
# A folder is made before it is locked; one this old is not being made.
_LEFTOVER_AFTER_S = 3600.0


@dataclass(frozen=True)
class SpoolLimits:
    """When a segment is full, how old it may get, and how many may wait to be sent."""

    segment_bytes: int = TARGET_PACK_BYTES
    segment_age_s: float = 30.0
    waiting_segments: int = 2


class Spool:
    """Segments on their way. `send` is called by one thread, with one segment after the other."""

    def __init__(self, folder: Path, limits: SpoolLimits, send: Callable[[Segment], None]) -> None:
        folder.mkdir(parents=True, exist_ok=True)
        remove_leftovers(folder)
        self.folder = Path(tempfile.mkdtemp(dir=folder, prefix="writer-"))
        self._lock = os.open(self.folder / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        fcntl.flock(self._lock, fcntl.LOCK_EX)
        self._limits = limits
        self._send = send
        self._changed = threading.Condition(threading.RLock())
        self._waiting: deque[Segment] = deque()
        self._current: Segment | None = None
        self._made = 0
        self._failure: BaseException | None = None
        self._is_closing = False
        self._thread: threading.Thread | None = None

    def take(self, add: Callable[[Segment], object]) -> None:
        """Let `add` put something into the present segment.

        Waits while too much is on its way. Raises what `add` and earlier sending raised.
        """
        with self._changed:
            self._raise_failure()
            while len(self._waiting) >= self._limits.waiting_segments:
                self._changed.wait()
                self._raise_failure()
            if self._current is None:
                self._current = Segment(self.folder / f"segment-{self._made:06d}")
                self._made += 1
            add(self._current)
            self._start()
            if self._is_full(self._current):
                self._seal()
            self._changed.notify_all()

    def flush(self) -> None:
        """Return once everything is sent. Raises what sending raised; called again, it retries."""
        with self._changed:
            self._seal()
            self._raise_failure()
            while self._waiting:
                self._start()
                self._changed.notify_all()
                self._changed.wait()
                self._raise_failure()

    def close(self) -> None:
        """Stop the thread after what it is at, and drop what was not sent."""
        with self._changed:
            self._is_closing = True
            self._failure = None
            self._changed.notify_all()
        if self._thread is not None and self._thread is not threading.current_thread():
            self._thread.join()
        if self._lock >= 0:
            shutil.rmtree(self.folder, ignore_errors=True)
            os.close(self._lock)
            self._lock = -1

    def _is_full(self, segment: Segment) -> bool:
        return segment.size_bytes >= self._limits.segment_bytes or segment.changes >= _MAX_FILES

    def _seal(self) -> None:
        if self._current is not None and self._current.changes:
            self._waiting.append(self._current)
            self._current = None

    def _raise_failure(self) -> None:
        """Raise a failure once; the segment stays in line, and is sent again after that."""
        failure, self._failure = self._failure, None
        if failure is not None:
            self._changed.notify_all()
            raise failure

    def _start(self) -> None:
        if self._thread is None:
            self._thread = threading.Thread(target=self._run, name="atom-writer", daemon=True)
            self._thread.start()

    def _run(self) -> None:
        while (segment := self._next()) is not None:
            try:
                self._send(segment)
            except BaseException as exc:
                with self._changed:
                    self._failure = exc
                    self._changed.notify_all()
            else:
                segment.discard()
                with self._changed:
                    self._waiting.popleft()
                    self._changed.notify_all()

    def _next(self) -> Segment | None:
        """Wait for a segment that may be sent; None when the spool is closed."""
        with self._changed:
            while not self._is_closing:
                left_s = self._age_left_s()
                if left_s is not None and left_s <= 0:
                    self._seal()
                    left_s = None
                # After a failure nothing is sent until a caller got it.
                if self._waiting and self._failure is None:
                    return self._waiting[0]
                self._changed.wait(left_s)
            return None

    def _age_left_s(self) -> float | None:
        if self._current is None or not self._current.changes:
            return None
        return self._current.began_at + self._limits.segment_age_s - time.monotonic()


def remove_leftovers(folder: Path, after_s: float = _LEFTOVER_AFTER_S) -> None:
    """Remove the spools of processes that were killed; one that lives holds its lock."""
    for left in folder.glob("writer-*"):
        try:
            if time.time() - left.stat().st_mtime < after_s:
                continue
            descriptor = os.open(left / _LOCK, os.O_RDWR | os.O_CREAT | os.O_CLOEXEC)
        except OSError:
            # Somebody else has just removed it.
            continue
        try:
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
            shutil.rmtree(left, ignore_errors=True)
        except BlockingIOError:
            continue
        finally:
            os.close(descriptor)
