"""The queue of a project: order and reasons of waiting runs, and resources of placed runs."""

from __future__ import annotations

from dataclasses import dataclass
from uuid import UUID

from django.db.models import BooleanField, Count, ExpressionWrapper, F, Sum

from atom.accounts.models import Project
from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Run, RunInput, RunQuerySet
from atom.jobs.runs.actions.auto_explanations import AUTO_WAITS, NO_PLACE
from atom.jobs.runs.actions.explain import between_attempts, waiting_in_queue
from atom.jobs.runs.actions.explanations import AnswerCode, Explanation
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.actions.queue_order import STARVING, Turn, could_be_held, in_order
from atom.jobs.scheduling.actions.scheduling import data_on_nodes, demand_of, with_coverage
from atom.jobs.scheduling.engines.placement import largest, place

MAX_ROWS = 200
_HOLDING = states.ACTIVE - states.WAITING


@dataclass(frozen=True, slots=True)
class Held:
    """Resources that runs hold together."""

    runs: int
    cpus: int
    memory_bytes: int
    gpus: int


@dataclass(frozen=True, slots=True)
class WaitingRun:
    """A run without a machine; `position` is over all projects, None between two attempts."""

    run: Run
    position: int | None
    ahead_elsewhere: int
    explanation: Explanation


@dataclass(frozen=True, slots=True)
class Queue:
    """The project's queue; runs of other projects appear only as numbers."""

    waiting: list[WaitingRun]
    waiting_count: int
    waiting_elsewhere: int
    holding: list[Run]
    held: Held
    held_elsewhere: Held


def queue_of(project: Project) -> Queue:
    """Return what waits and what runs, in a number of queries that does not grow with it."""
    turns = _turns()
    own = [run_id for run_id, (project_id, _) in turns.items() if project_id == project.pk]
    executed = Run.objects.executed().filter(project=project)
    between = executed.filter(state__in=states.WAITING - {states.QUEUED}).order_by("retry_at", "pk")
    holding = executed.filter(state__in=_HOLDING).order_by("started_at", "pk").for_lists()
    waiting = [*_queued(own[:MAX_ROWS], turns, project), *_between(between)]
    return Queue(
        waiting=waiting,
        waiting_count=len(own) + between.count(),
        waiting_elsewhere=len(turns) - len(own),
        holding=list(holding[:MAX_ROWS]),
        held=_held(Run.objects.filter(project=project)),
        held_elsewhere=_held(Run.objects.exclude(project=project)),
    )


def _turns() -> dict[UUID, tuple[UUID, Turn]]:
    """Return the project and the turn of each queued run, in the order of the queue."""
    holdable = ExpressionWrapper(could_be_held(largest(capacities())), BooleanField())
    queued = in_order(Run.objects.filter(state=states.QUEUED)).annotate(is_holdable=holdable)
    starves_since = clock.now() - STARVING
    passed, is_kept_back, turns = 0, False, {}
    rows = queued.values_list("pk", "project_id", "queued_at", "is_holdable")
    for ahead, (run_id, project_id, queued_at, is_holdable) in enumerate(rows):
        turns[run_id] = (project_id, Turn(ahead, passed, is_kept_back))
        passed += not is_holdable
        is_kept_back |= bool(is_holdable and queued_at and queued_at < starves_since)
    return turns


def _queued(
    run_ids: list[UUID], turns: dict[UUID, tuple[UUID, Turn]], project: Project
) -> list[WaitingRun]:
    elsewhere, foreign = 0, {}
    for run_id, (project_id, _) in turns.items():
        foreign[run_id] = elsewhere
        elsewhere += project_id != project.pk
    runs = Run.objects.for_lists().in_bulk(run_ids)
    inputs: dict[UUID, dict[UUID, int]] = {}
    for run_id, version_id, size in RunInput.objects.filter(run__in=run_ids).values_list(
        "run_id", "version_id", "version__size_bytes"
    ):
        inputs.setdefault(run_id, {})[version_id] = size
    nodes = capacities()
    parts = data_on_nodes({version for some in inputs.values() for version in some})
    rows = []
    for run in (runs[run_id] for run_id in run_ids if run_id in runs):
        placement = place(with_coverage(nodes, inputs.get(run.pk, {}), parts), demand_of(run))
        _, turn = turns[run.pk]
        why = _waits_for_place(run) or waiting_in_queue(placement, turn)
        rows.append(WaitingRun(run, turn.ahead + 1, foreign[run.pk], why))
    return rows


def _waits_for_place(run: Run) -> Explanation | None:
    """Return that Atom looks for a place, without the reasons that the page of the run has."""
    if not run.has_place:
        return Explanation(AnswerCode.NO_PLACE, NO_PLACE, [])
    if run.auto_request is not None and run.cluster_id is not None:
        return Explanation(AnswerCode.AUTO_WAITS, AUTO_WAITS, [])
    return None


def _between(found: RunQuerySet) -> list[WaitingRun]:
    return [WaitingRun(run, None, 0, between_attempts(run)) for run in found.for_lists()[:MAX_ROWS]]


def _held(found: RunQuerySet) -> Held:
    sums = found.filter(state__in=_HOLDING, origin=states.EXECUTED).aggregate(
        runs=Count("pk"),
        **{name: Sum(F(name) * F("nodes")) for name in ("cpus", "memory_bytes", "gpus")},
    )
    return Held(**{name: value or 0 for name, value in sums.items()})
