"""The outbox: events for other apps, written in the transaction of the change.

An action calls `emit` in its transaction, so that an event is there exactly if the change is. Apps
above read the rows at their own pace (ADR 0043); an app that emits knows none of its readers.
"""

from __future__ import annotations

from collections.abc import Iterable
from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from atom.core.models import OutboxEvent

# Taken or not: an installation that delivers nothing must not keep all that ever happened.
KEPT = timedelta(days=3)


def emit(
    project_id: UUID | None,
    kind: str,
    *,
    people: Iterable[UUID | None] = (),
    subject: UUID | str = "",
    **data: Any,
) -> None:
    """Note an event in the caller's transaction; `data` must be plain JSON, never secrets.

    `people` are those whom it concerns, without the person who did it; None among them is somebody
    who is gone. `subject` is the id of the thing that it is about. `user` in `data` is the one
    person for whom it ends the notifications before.
    """
    concerned = list(dict.fromkeys(one for one in people if one is not None))
    OutboxEvent.objects.create(
        project_id=project_id,
        kind=kind,
        data=data,
        people=concerned,
        subject=str(subject),
        # An event without people may still close notifications about its subject.
        told_at=None if concerned or subject else Now(),
    )


def forget_old() -> int:
    """Delete events that are over; return how many."""
    return OutboxEvent.objects.filter(at__lt=Now() - KEPT).delete()[0]
