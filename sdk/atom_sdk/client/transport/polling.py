"""How long to wait before a server is asked again how far it is."""

from __future__ import annotations

import time
from collections.abc import Iterator

_FIRST_S = 0.05
_LONGEST_S = 0.5
_GROWTH = 1.3


def pauses() -> Iterator[float]:
    """Yield seconds: what is soon over is soon noticed, and what takes long is asked less often."""
    pause_s = _FIRST_S
    while True:
        yield pause_s
        pause_s = min(pause_s * _GROWTH, _LONGEST_S)


def sleep_until(timeout_s: float, between: Iterator[float]) -> Iterator[None]:
    """Yield at once and after each pause, until the time is up."""
    deadline = time.monotonic() + timeout_s
    for pause_s in between:
        yield
        if time.monotonic() > deadline:
            return
        time.sleep(pause_s)
