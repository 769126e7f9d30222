"""Runs that wait for long: people are notified once for each time that a run is queued."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from atom.core import clock, outbox
from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.models import Run, RunEvent

LONG = timedelta(minutes=30)
_AT_ONCE = 200


def notify_long_waits() -> int:
    """Notify about each run that has been queued for long; return how many."""
    # The line in the timeline records that people were notified.
    told = RunEvent.objects.filter(
        run=OuterRef("pk"), kind=EventKind.WAITS, at__gte=OuterRef("queued_at")
    )
    waiting = Run.objects.executed().filter(
        ~Exists(told), state=states.QUEUED, queued_at__lt=Now() - LONG
    )
    ids = waiting.order_by("queued_at").values_list("pk", flat=True)[:_AT_ONCE]
    return sum(_notify(run_id) for run_id in list(ids))


@transaction.atomic
def _notify(run_id: UUID) -> bool:
    rows = Run.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
    run = rows.filter(pk=run_id, state=states.QUEUED).first()
    if run is None or run.queued_at is None:
        return False
    minutes = int((clock.now() - run.queued_at).total_seconds() // 60)
    record(run, EventKind.WAITS, f"It has waited for {minutes} minutes.", minutes=minutes)
    outbox.emit(
        run.project_id,
        "run.waiting",
        people=[run.created_by_id],
        subject=run.pk,
        run=str(run.pk),
        number=run.number,
        name=run.name,
        minutes=minutes,
    )
    return True
