"""The reconciler: every second, and after each change, it moves every run as far as it can.

It reads the current state and never relies on having seen an event. So a worker may be killed
anywhere: the next tick, in any worker, goes on. Each run is advanced under its own row lock.
"""

from __future__ import annotations

from collections.abc import Callable
from datetime import datetime
from uuid import UUID

import structlog
from django.db import transaction

from atom.clusters.actions import beat_local_node
from atom.core import clock
from atom.core.prepared_queries import Prepared
from atom.jobs import states
from atom.jobs.artifacts.actions import outputs
from atom.jobs.attempts.actions.attempts import end_attempt, end_moved, is_moving
from atom.jobs.attempts.actions.finalize import conclude, is_retry_due
from atom.jobs.attempts.actions.looks import note_look, runs_to_look_at
from atom.jobs.attempts.actions.watch import fail_if_node_is_lost, watch
from atom.jobs.events import transition
from atom.jobs.executors import advance_builds
from atom.jobs.logs.actions import logs
from atom.jobs.logs.actions.logs import ask_flush
from atom.jobs.models import Attempt, Run
from atom.jobs.runs.actions.auto_places import place_waiting
from atom.jobs.runs.actions.stored_decisions import keep_parts, keep_placed
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.actions.data_gates import release_gates
from atom.jobs.scheduling.actions.in_clusters import waiting_for_clusters
from atom.jobs.scheduling.actions.queue_gates import follow_gate
from atom.jobs.scheduling.actions.queue_order import STARVING, could_be_held, in_order
from atom.jobs.scheduling.actions.scheduling import place_run, warm_run
from atom.jobs.scheduling.engines.placement import Demand, largest

log = structlog.get_logger(__name__)

# More than this many queued runs are not looked at in one tick: the machines are full long before.
PLACED_PER_TICK = 200
PASSED_PER_TICK = 20
_STEPS_PER_TICK = 6


def tick() -> None:
    """Advance everything that can be advanced."""
    beat_local_node()
    for stream in logs.streams_due():
        ask_flush(stream.attempt_id)
    outputs.verify_stalled()
    advance_builds()
    for run_id in runs_to_look_at():
        _guarded(run_id)
    for run_id in (*_auto_placed(), *waiting_for_clusters()):
        _guarded(run_id)
    _place_queued()


def _auto_placed() -> list[UUID]:
    """Return the runs that Atom places and that their cluster gets now; a defect stops no other."""
    try:
        return place_waiting()
    except Exception:
        log.exception("places_not_chosen")
        return []


def _place_queued() -> None:
    """Place in order; small jobs may pass a large one until it has waited for too long.

    A run is skipped if it needs at least as much as an earlier one that found no room. If a machine
    has become free meanwhile, the earlier one must come first.
    """
    passed: list[Demand] = []
    now = clock.now()
    for run_id, queued_at, cpus, memory_bytes, gpus, accelerator in _queued_runs():
        demand = Demand(cpus, memory_bytes, gpus, accelerator)
        if any(demand.is_at_least(one) for one in passed) or not _still_waits(run_id):
            continue
        passed.append(demand)
        waited = now - (queued_at or now)
        if waited > STARVING or len(passed) >= PASSED_PER_TICK:
            break


def _still_waits(run_id: UUID) -> bool:
    """Try to place a run. A run that another worker holds still waits, a broken one does not."""
    try:
        return advance(run_id) in {states.QUEUED, None}
    except Exception:
        log.exception("run_not_advanced", run_id=str(run_id))
        return False


def _queued_runs() -> list[tuple[UUID, datetime | None, int, int, int, str]]:
    """Return the queued runs that a machine could hold now, with their demands.

    Runs that no machine can hold must not keep others waiting.
    """
    holdable = could_be_held(largest(capacities()))
    ordered = in_order(
        Run.objects.filter(holdable, state=states.QUEUED, cluster=None, has_place=True)
    )
    asked = ordered.values_list("pk", "queued_at", "cpus", "memory_bytes", "gpus", "accelerator")
    return list(asked[:PLACED_PER_TICK])


def _guarded(run_id: UUID) -> str | None:
    """Advance one run; a defect that one run meets must not stop the others."""
    try:
        return advance(run_id)
    except Exception:
        log.exception("run_not_advanced", run_id=str(run_id))
        return None


def advance(run_id: UUID) -> str | None:
    """Take steps until the run's state stays; return it, None if another worker holds the run."""
    state = None
    for _ in range(_STEPS_PER_TICK):
        step = _step(run_id)
        if step is None:
            return None
        before, state = step
        if state == before or state in states.TERMINAL:
            break
    return state


def _step(run_id: UUID) -> tuple[str, str] | None:
    """Take one step; return the run's state before and after it, None if it is held elsewhere."""
    with transaction.atomic():
        run = _LOCKED.first(run_id)
        if run is None:
            return None
        before = run.state
        step = _STEPS.get(before)
        if step is not None:
            step(run)
        return before, run.state


def _wait_is_over(run: Run) -> None:
    if run.retry_at is None or is_retry_due(run.retry_at):
        run.queued_at, run.retry_at = clock.now(), None
        transition(run, states.QUEUED)


def _place(run: Run) -> None:
    if not run.has_place or not place_run(run):
        return
    try:
        with transaction.atomic():
            keep_placed(run)
    except Exception:
        # A record keeps no run from its start.
        log.exception("decision_not_kept", run_id=str(run.pk))


def _warm(run: Run) -> None:
    attempt = open_attempt(run)
    if run.cancel_requested_at is not None:
        transition(run, states.CANCELLING, attempt)
        end_attempt(run, attempt, None, {"reason": "cancelled", "no_more": True})
        return
    if is_moving(run):
        end_moved(run, attempt)
    elif not fail_if_node_is_lost(run, attempt):
        warm_run(run, attempt)


def _watch(run: Run) -> None:
    attempt = open_attempt(run)
    is_held = follow_gate(run, attempt)
    if attempt.state != states.FINALIZING:
        watch(run, attempt)
    # The data of a run that its queue holds back is looked at with each tick.
    if not is_held:
        note_look(attempt)


def _conclude(run: Run) -> None:
    attempt = open_attempt(run)
    if not conclude(run, attempt):
        ask_flush(attempt.pk)
        return
    keep_parts(attempt)
    # The next attempt in the same cluster needs the same data.
    if run.state in states.TERMINAL or run.cluster_id != attempt.cluster_id:
        release_gates(run)


def open_attempt(run: Run) -> Attempt:
    """Return the attempt that is not over. Raises ValueError unless there is just one."""
    (attempt,) = _OPEN.rows(run.pk)
    attempt.run = run
    return attempt


# Each look at a run asks these two.
_LOCKED = Prepared(
    lambda run: (
        Run.objects.select_for_update(skip_locked=True, of=("self",), no_key=True)
        .select_related("project", "runtime", "cluster")
        .filter(pk=run, origin=states.EXECUTED)
    ),
    UUID,
)
_OPEN = Prepared(
    lambda run: (
        Attempt.objects.filter(run=run)
        .exclude(state__in=states.TERMINAL)
        .select_related("node", "cluster", "placed_in")
    ),
    UUID,
)

_STEPS: dict[str, Callable[[Run], None]] = {
    states.QUEUED: _place,
    states.RETRY_WAIT: _wait_is_over,
    states.WARMING: _warm,
    states.CANCELLING: _watch,
    states.FINALIZING: _conclude,
    **dict.fromkeys(states.SUPERVISED, _watch),
}
