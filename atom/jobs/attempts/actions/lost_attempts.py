"""Counts the lost attempts of a run: which use up its retries, and which lost machines in a row."""

from __future__ import annotations

from datetime import datetime

from django.db.models import F, Max, Q

from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.failures.engines.failure_codes import NODE_LOST, RETRIED, UNCOUNTED
from atom.jobs.models import Artifact, Run

_CHECKPOINT = "checkpoint"


def lost_attempts(run: Run, uncounted: frozenset[str] = UNCOUNTED) -> int:
    """Count the attempts since the last start by a person that were lost, the ended one included.

    `uncounted`: classes of failures that do not count.
    """
    counted = RETRIED - uncounted
    lost = run.attempts.filter(Q(failure_class__in=counted) | Q(evidence__passing=True))
    return lost.filter(created_at__gte=_last_start(run)).count()


def lost_machines_in_a_row(run: Run) -> int:
    """Count the attempts that lost their machine since the run last stored a new checkpoint.

    The attempt that stored it counts too. Attempts that ended in another way end no row, since
    they say nothing about the machines. A person who starts or moves the run begins a new count.
    """
    since = _last_start(run)
    # A checkpoint that a resumed attempt stores again is no progress.
    is_new = Q(attempt__resumed_from_step=None) | Q(step__gt=F("attempt__resumed_from_step"))
    # Its bytes are there and are verified now: the loss must not come first.
    is_stored = Q(state=states.PERSISTED) | Q(state=states.LOCAL, verify_asked_at__isnull=False)
    stored = Artifact.objects.filter(is_new, is_stored, run=run, kind=_CHECKPOINT)
    last = stored.filter(attempt__created_at__gte=since).aggregate(last=Max("attempt__number"))
    lost = run.attempts.filter(failure_class=NODE_LOST, created_at__gte=since)
    return lost.filter(number__gte=last["last"] or 0).count()


def _last_start(run: Run) -> datetime:
    starts = [EventKind.CREATED, EventKind.RETRIED, EventKind.MOVE_REQUESTED]
    asked = run.events.filter(kind__in=starts).order_by("-id")
    return asked.values_list("at", flat=True).first() or run.created_at
