"""The order of plans: those of higher priority come first, and none waits for ever."""

from __future__ import annotations

from collections.abc import Collection
from datetime import datetime, timedelta

# Priorities are 0 to 100. A step counts like so much waiting, so that an old plan of low priority
# comes before a new one of high priority in the end.
_STEP = timedelta(minutes=6)
DEFAULT_PRIORITY = 50
MAX_PRIORITY = 100


def turn_of(created_at: datetime, priority: int) -> datetime:
    """Return a plan's place in the order: the earliest comes first."""
    return created_at - priority * _STEP


def origin_room(
    turn: datetime, waiting: Collection[datetime], held: int, held_by_all: int, ceiling: int
) -> int:
    """Return how many more reads of the origin a plan may begin.

    `waiting` are the turns of other plans that lately got no read. The first of them gets all
    reads but one for each plan after it; each of those has one.
    """
    is_first = all(turn < other for other in waiting)
    most = max(ceiling - len(waiting), 1) if is_first else 1
    return max(min(most - held, ceiling - held_by_all), 0)
