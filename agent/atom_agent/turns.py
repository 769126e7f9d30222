"""Whether the loops of an agent still turn: a liveness probe asks."""

from __future__ import annotations

import threading
import time

# A loop may remove packs or read a large inventory for minutes.
PATIENCE_S = 300.0


class Turns:
    """The time at which each loop has to turn again. Safe to use from several threads."""

    def __init__(self, patience_s: float = PATIENCE_S) -> None:
        """A loop is late once it has not turned for so long after its pause."""
        self._patience_s = patience_s
        self._due: dict[str, float] = {}
        self._lock = threading.Lock()

    def turn(self, loop: str, pause_s: float = 0.0) -> None:
        """Note that a loop turns, and will do so again after a pause."""
        with self._lock:
            self._due[loop] = time.monotonic() + pause_s + self._patience_s

    def late(self) -> list[str]:
        """Return the loops that do not turn any more."""
        now = time.monotonic()
        with self._lock:
            return sorted(loop for loop, due in self._due.items() if due < now)
