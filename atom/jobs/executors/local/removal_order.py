"""Which folders of ended attempts may go."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime, timedelta
from uuid import UUID


@dataclass(frozen=True, slots=True)
class EndedAttempt:
    """An attempt that is over.

    `worth_keeping`: it is its run's last one, or its folder has bytes that are nowhere else.
    """

    id: UUID
    ended_at: datetime
    worth_keeping: bool


@dataclass(frozen=True, slots=True)
class Retention:
    """How long a folder stays after its attempt's end."""

    kept: timedelta
    worth_keeping_kept: timedelta


def removal_order(
    ended: Iterable[EndedAttempt], now: datetime, retention: Retention
) -> tuple[list[UUID], list[UUID]]:
    """Return (due, spare), each oldest first: `spare` goes only while the disk is nearly full."""
    due: list[UUID] = []
    spare: list[UUID] = []
    for one in sorted(ended, key=lambda attempt: (attempt.worth_keeping, attempt.ended_at)):
        limit = retention.worth_keeping_kept if one.worth_keeping else retention.kept
        (due if now - one.ended_at >= limit else spare).append(one.id)
    return due, spare
