"""How slowly an answer may come: a server that sends a byte a minute must hold nobody for ever.

A limit of silence alone does not end that, and a limit of the whole time would end what is large.
"""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Pace:
    """An answer is waited for `grace_s` in all, and a second longer for every `bytes_s` of it."""

    grace_s: float = 60.0
    bytes_s: int = 16 << 10


class Waiting:
    """The time that the answers of one connection took, one answer after the other."""

    def __init__(self, pace: Pace) -> None:
        self._pace = pace
        self.begin()

    def begin(self) -> None:
        """Wait for another answer from now on."""
        self._waited_s, self._came_bytes = 0.0, 0

    @property
    def is_over(self) -> bool:
        """Whether the answer comes too slowly. The time that its reader works does not count."""
        return self._waited_s > self._pace.grace_s + self._came_bytes / self._pace.bytes_s

    @contextmanager
    def measured(self) -> Iterator[None]:
        """Wait for a part of the answer."""
        started = time.monotonic()
        try:
            yield
        finally:
            self._waited_s += time.monotonic() - started

    def came(self, count_bytes: int) -> None:
        """Note that so much of the answer came."""
        self._came_bytes += count_bytes
