"""When a second request for the same bytes is worth it (Dean & Barroso, The Tail at Scale)."""

from __future__ import annotations

import threading
from collections import deque
from dataclasses import dataclass, field

_FACTOR = 3.0
_QUANTILE = 0.95
_MEASURED = 200
# Fewer measurements say nothing of the slowest twentieth.
_FEWEST = 20
_EXTRA_SHARE = 0.05


@dataclass
class Hedge:
    """Remembers how long requests took; allows a second one for those that take far longer."""

    requests: int = 0
    extra: int = 0
    _durations_s: deque[float] = field(default_factory=lambda: deque(maxlen=_MEASURED))
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def begin(self) -> float | None:
        """Count a request; returns after how many seconds a second may start, None for never."""
        with self._lock:
            self.requests += 1
            if len(self._durations_s) < _FEWEST:
                return None
            ordered = sorted(self._durations_s)
            return _FACTOR * ordered[int(_QUANTILE * (len(ordered) - 1))]

    def end(self, duration_s: float) -> None:
        """Remember how long a request took."""
        with self._lock:
            self._durations_s.append(duration_s)

    def take(self) -> bool:
        """Take one extra request out of the budget of 5 %; False if it is spent."""
        with self._lock:
            if self.extra + 1 > _EXTRA_SHARE * self.requests:
                return False
            self.extra += 1
            return True
