"""Trying again: longer and longer waits, not all at the same moment, and an end."""

from __future__ import annotations

import random
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import TypeVar

from atom.datasets.sources.errors import SourceAway, SourceThrottled

T = TypeVar("T")


@dataclass(frozen=True, slots=True)
class Patience:
    """How often something is tried, and the longest first and longest wait between two tries.

    `longest_asked_s`: how long a source may make us wait that says when to come back.
    """

    tries: int = 8
    first_wait_s: float = 0.5
    longest_wait_s: float = 20.0
    longest_asked_s: float = 60.0

    def run(self, work: Callable[[], T]) -> T:
        """Return what `work` does once it is neither throttled nor without an answer.

        Raises what it raised at the last try, and any other error at once.
        """
        for number in range(self.tries - 1):
            try:
                return work()
            except (SourceThrottled, SourceAway) as error:
                time.sleep(self._wait_s(number, getattr(error, "retry_after_s", 0.0)))
        return work()

    def _wait_s(self, number: int, asked_s: float) -> float:
        longest = min(self.first_wait_s * 2**number, self.longest_wait_s)
        # Many readers meet the same limit: they must not come back together.
        own = random.uniform(longest / 2, longest)  # no secret
        return own + min(asked_s, self.longest_asked_s)


def retry_after_s(header: str | None) -> float:
    """Return the seconds of a Retry-After header; 0 without one, or if it names a date."""
    return float(header) if header and header.strip().isdecimal() else 0.0


BATCH = Patience()
# Somebody waits for the answer.
INTERACTIVE = Patience(tries=2, first_wait_s=0.2, longest_asked_s=1.0)
