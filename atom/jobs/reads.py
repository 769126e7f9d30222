"""Frequent reads of runs: for pages by prepared statements, for lists by columns."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from atom.core.errors import NotFound
from atom.core.prepared_queries import Prepared
from atom.jobs.models import (
    Attempt,
    Rank,
    Run,
    RunInput,
    attempts_to_show,
    decisions_to_show,
    inputs_to_show,
    ranks_to_show,
)
from atom_sdk.sentences import Sentence

# The attribute of a run that takes what belongs to it, and how that is found.
_Parts = dict[str, Prepared[Any]]


def find_run(run_id: UUID) -> Run | None:
    """Return the run with its project and unit."""
    return _RUN.first(run_id)


def find_whole_run(run_id: UUID) -> Run | None:
    """Return the run with all that its page shows."""
    found = _WHOLE.first(run_id)
    if found is not None:
        for attribute, prepared in _WHOLE_PARTS.items():
            parts = prepared.rows(run_id)
            for part in parts:
                part.run = found
            setattr(found, attribute, parts)
        ranks: dict[UUID, list[Rank]] = defaultdict(list)
        for rank in _RANKS.rows(run_id):
            ranks[rank.attempt_id].append(rank)
        for attempt in found.loaded_attempts:  # type: ignore[attr-defined]  # set above
            attempt.loaded_ranks = ranks[attempt.pk]
    return found


@dataclass(frozen=True, slots=True)
class ListedRun:
    """Columns of a run, its inputs by alias and its attempts in order, for a row of a list."""

    columns: dict[str, Any]
    inputs: list[dict[str, Any]]
    attempts: list[Any]


def listed_runs(ids: list[UUID], *more: str) -> dict[UUID, ListedRun]:
    """Return the rows of the runs that exist, by id; `more` names further columns.

    Columns, not instances: to make those of fifty runs takes longer than to ask for them.
    """
    inputs: dict[UUID, list[dict[str, Any]]] = defaultdict(list)
    attempts: dict[UUID, list[Any]] = defaultdict(list)
    of_runs = {"run__in": ids}
    for part in RunInput.objects.filter(**of_runs).order_by("alias").values(*_INPUT_COLUMNS):
        inputs[part["run_id"]].append(part)
    asked = Attempt.objects.filter(**of_runs).order_by("number")
    for attempt in asked.values_list(*_ATTEMPT_COLUMNS, named=True):
        attempts[attempt.run_id].append(attempt)
    return {
        columns["id"]: ListedRun(columns, inputs[columns["id"]], attempts[columns["id"]])
        for columns in Run.objects.filter(pk__in=ids).values(*_RUN_COLUMNS, *more)
    }


def _run_query(run_id: UUID, *related: str) -> QuerySet[Run]:
    return Run.objects.filter(pk=run_id).select_related("project__unit", *related)[:1]


_RUN_COLUMNS: Final = (
    *("id", "number", "name", "state", "progress", "progress_text", "origin", "metrics_summary"),
    *("tags", "starred", "revision", "cpus", "memory_bytes", "gpus"),
    *("accelerator", "nodes", "launcher", "failure_class"),
    *("failure_reason", "created_at", "started_at", "finished_at", "archived_at"),
    *(
        "cluster__name",
        "workflow__slug",
        "experiment__name",
        "created_by__username",
        "created_by__full_name",
    ),
)
_INPUT_COLUMNS: Final = (
    *("run_id", "alias", "selector", "view", "delivery", "mounted_by", "mount_skipped"),
    *("version__number", "version__commit", "version__dataset__name"),
)
_ATTEMPT_COLUMNS: Final = (
    *("run_id", "state", "started_at", "finished_at", "evidence", "node__name"),
    "placed_in__observed__phase",
)
_RUN: Final = Prepared(_run_query, UUID)
_WHOLE: Final = Prepared(
    lambda run_id: _run_query(
        run_id, "workflow", "experiment", "created_by", "runtime", "code", "cluster"
    ),
    UUID,
)
_WHOLE_PARTS: Final[_Parts] = {
    "loaded_inputs": Prepared(lambda run: inputs_to_show(False).filter(run=run), UUID),
    "loaded_attempts": Prepared(lambda run: attempts_to_show(False).filter(run=run), UUID),
    "loaded_decisions": Prepared(lambda run: decisions_to_show().filter(run=run)[:1], UUID),
}
_RANKS: Final = Prepared(lambda run: ranks_to_show().filter(attempt__run=run), UUID)


def find_attempt(run: Run, wanted: str = "") -> Attempt:
    """Return the attempt by id or number; the last one if none is named. Raises NotFound."""
    attempts = run.attempts.order_by("-number")
    if not wanted:
        found = attempts.first()
    elif wanted.isdecimal() and len(wanted) < 10:
        found = attempts.filter(number=int(wanted)).first()
    else:
        found = attempts.filter(pk=_uuid(wanted)).first()
    if found is None:
        raise NotFound(Sentence("jobs.attempt_unknown", "The run has no such attempt yet."))
    return found


def _uuid(text: str) -> UUID:
    try:
        return UUID(text)
    except ValueError as error:
        raise NotFound from error
