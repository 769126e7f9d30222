"""Rates: all fetches of a plan on this node share its bytes per second."""

from __future__ import annotations

import threading
import time


class RateLimits:
    """One limit for each plan, forgotten with the plan's last fetch. Safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._next_s: dict[str, float] = {}

    def delay_s(self, plan: str, count_bytes: int, rate_bytes_s: int | None) -> float:
        """Book bytes that have come; returns the seconds to wait before the next ones."""
        if rate_bytes_s is None:
            return 0.0
        now = time.monotonic()
        with self._guard:
            # A pause is not made up for: the rate is a ceiling at each moment.
            begin = max(self._next_s.get(plan, now), now)
            self._next_s[plan] = begin + count_bytes / rate_bytes_s
            return self._next_s[plan] - now

    def forget(self, plan: str) -> None:
        """Drop the limit of a plan that has no fetch here."""
        with self._guard:
            self._next_s.pop(plan, None)
