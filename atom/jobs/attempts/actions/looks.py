"""Which open runs the reconciler looks at: most of those in clusters run for hours unchanged.

A run in a cluster is looked at when its state is one that moves, when somebody cancels or moves it,
when the watcher saw something that may end it, and otherwise every few seconds. Heartbeats and time
limits are noticed then, and nothing relies on having seen an event.
"""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet
from django.db.models.functions import Now

from atom.core.prepared_queries import Prepared
from atom.jobs import states
from atom.jobs.models import Attempt, Placement, Run

LOOK_EVERY = timedelta(seconds=30)
# A tick must not last for seconds, so it looks at no more runs that have only waited long enough.
LOOKS_PER_TICK = 50
# States in which only its cluster, its runner, a person or a time limit moves a run.
_WAIT_FOR_OTHERS = frozenset({states.SUBMITTED, states.RUNNING})


def runs_to_look_at() -> list[UUID]:
    """Return the runs that hold a machine, or wait for their next attempt, and may move."""
    moving = [run.pk for run in _MOVING.rows()]
    old = Placement.objects.filter(
        ended_at=None, looked_at__lt=Now() - LOOK_EVERY, run__state__in=_WAIT_FOR_OTHERS
    )
    stale = old.order_by("looked_at").values_list("run_id", flat=True)[:LOOKS_PER_TICK]
    return list(dict.fromkeys([*moving, *stale]))


def _moving() -> QuerySet[Run]:
    mine = Placement.objects.filter(run=OuterRef("pk"), ended_at=None).exclude(job_uid="")
    unasked = Q(state__in=_WAIT_FOR_OTHERS, cancel_requested_at=None, moving_since=None)
    quiet = unasked & Exists(mine.exclude(looked_at=None))
    open_runs = Run.objects.executed().filter(state__in=states.ACTIVE - {states.QUEUED})
    return open_runs.exclude(quiet).order_by("id").only("id")


_MOVING = Prepared(_moving)


def note_look(attempt: Attempt) -> None:
    """Note that the attempt was looked at, unless its watcher has written since it was read."""
    placement = attempt.placed_in
    if placement is None or placement.observed_at is None:
        return
    read = Placement.objects.filter(pk=placement.pk, observed_at=placement.observed_at)
    read.update(looked_at=Now())
