"""The order of the queue: which runs go first, which are passed, and which machines are kept."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta

from django.db.models import F, Q

from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Run, RunQuerySet
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.engines.placement import Demand, largest

# Nothing that a machine could hold is passed for longer than this.
STARVING = timedelta(minutes=10)


@dataclass(frozen=True, slots=True)
class Turn:
    """How many runs come before one, and what they mean for it.

    `passed`: those of them that no machine could hold now, for which nobody waits. `is_kept_back`:
    one of the others has waited for so long that machines are kept for it.
    """

    ahead: int
    passed: int = 0
    is_kept_back: bool = False


def in_order(queued: RunQuerySet) -> RunQuerySet:
    """Return queued runs as they are placed: by priority, then by when they were asked for."""
    return queued.order_by("-priority", F("queued_at").asc(nulls_first=True), "id")


def could_be_held(sizes: Sequence[Demand]) -> Q:
    """Return the condition that a machine of one of the sizes, if it were empty, has enough."""
    condition = Q(pk__in=[])
    for size in sizes:
        condition |= Q(
            cpus__lte=size.cpus,
            memory_bytes__lte=size.memory_bytes,
            gpus__lte=size.gpus,
            accelerator__in=["", size.accelerator],
        )
    return condition


def queue_position(run: Run | None = None) -> int:
    """Return the place in the queue, from 1; of a run that does not exist yet without one."""
    if run is None:
        return _queued_here().count() + 1
    return _before(run).count() + 1


def turn_of(run: Run) -> Turn:
    """Return what the runs before a queued one mean for it."""
    before = _before(run)
    holdable = before.filter(could_be_held(largest(capacities())))
    ahead = before.count()
    starving = holdable.filter(queued_at__lt=clock.now() - STARVING)
    return Turn(ahead, ahead - holdable.count(), starving.exists())


def ahead_in_cluster(run: Run) -> int:
    """Return how many runs come before a queued one in its registered cluster.

    Those that are placed there and have not started count too.
    """
    there = Run.objects.executed().filter(cluster=run.cluster_id, state__in=_NOT_STARTED)
    return there.exclude(pk=run.pk).filter(~Q(state=states.QUEUED) | _is_before(run)).count()


def _before(run: Run) -> RunQuerySet:
    return _queued_here().filter(_is_before(run))


def _queued_here() -> RunQuerySet:
    """Return the runs that wait for Atom's own machines."""
    return Run.objects.filter(state=states.QUEUED, cluster=None, has_place=True)


def _is_before(run: Run) -> Q:
    since = run.queued_at or run.created_at
    return Q(priority__gt=run.priority) | Q(priority=run.priority, queued_at__lt=since)


_NOT_STARTED = {states.QUEUED, states.PLACING, states.WARMING} | states.SUPERVISED - {
    states.RUNNING
}
