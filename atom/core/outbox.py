"""What happened in a project, for whom it concerns elsewhere: written with the change itself.

An action calls `emit` in its transaction, so that an event is there exactly if the change is. Apps
above read the rows at their own pace (ADR 0043); no app that emits knows who does.
"""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db.models.functions import Now

from atom.core.models import OutboxEvent

# Taken or not: an installation that delivers nothing must not keep all that ever happened.
KEPT = timedelta(days=3)


def emit(project_id: UUID, kind: str, **data: Any) -> None:
    """Note an event in the caller's transaction; `data` must be plain JSON, never secrets."""
    OutboxEvent.objects.create(project_id=project_id, kind=kind, data=data)


def forget_old() -> int:
    """Delete events that are over; return how many."""
    return OutboxEvent.objects.filter(at__lt=Now() - KEPT).delete()[0]
