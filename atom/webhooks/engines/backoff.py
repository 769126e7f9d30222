"""Pauses between retries of a delivery: short at first, then long, for a day."""

from __future__ import annotations

from datetime import timedelta

GIVEN_UP_AFTER = timedelta(hours=24)
_FIRST_S = 10.0
_LONGEST_S = 2 * 3600.0
_JITTER = 0.2


def pause(tries: int, luck: float) -> timedelta:
    """Return how long to wait after the try number `tries` (from 1); `luck` is in 0..1.

    Spread by a fifth, so that deliveries which failed together do not come back together.
    """
    doubled_s = _FIRST_S * 2.0 ** min(max(tries, 1) - 1, 20)
    return timedelta(seconds=min(doubled_s, _LONGEST_S) * (1 + _JITTER * (2 * luck - 1)))
