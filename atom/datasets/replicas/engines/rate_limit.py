"""A limit of bytes a second that several threads share."""

from __future__ import annotations

import threading
import time


class RateLimit:
    """Makes threads wait, so that together they stay below a rate."""

    def __init__(self, bytes_per_s: int | None) -> None:
        """None: no limit."""
        self._rate = bytes_per_s
        self._lock = threading.Lock()
        self._free_at = 0.0

    def wait(self, size_bytes: int) -> None:
        """Return once so many bytes may move; the first ones may at once."""
        if self._rate is None:
            return
        with self._lock:
            now = time.monotonic()
            begins_at = max(now, self._free_at)
            self._free_at = begins_at + size_bytes / self._rate
        if begins_at > now:
            time.sleep(begins_at - now)
