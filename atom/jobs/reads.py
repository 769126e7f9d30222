"""Frequent reads of runs for pages and lists, by statements that are built only once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable
from functools import partial
from typing import Any, Final
from uuid import UUID

from django.db.models import QuerySet

from atom.core.errors import NotFound
from atom.core.prepared_queries import AnyOf, Prepared
from atom.jobs.models import Attempt, Run, attempts_to_show, inputs_to_show
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
        _load([found], _WHOLE_PARTS)
    return found


def listed_runs(ids: list[UUID]) -> dict[UUID, Run]:
    """Return the runs that there are, by id, with what a row of a list shows."""
    found = _LISTED.rows(ids)
    _load(found, _LISTED_PARTS)
    return {run.pk: run for run in found}


def _load(runs: Iterable[Run], parts: _Parts) -> None:
    """Give each run its parts, as `RunQuerySet.with_parts` does."""
    by_id = {run.pk: run for run in runs}
    for attribute, prepared in parts.items():
        of_runs: dict[UUID, list[Any]] = defaultdict(list)
        for part in prepared.rows(list(by_id)):
            part.run = by_id[part.run_id]
            of_runs[part.run_id].append(part)
        for run_id, run in by_id.items():
            setattr(run, attribute, of_runs[run_id])


def _run_query(run_id: UUID, *related: str) -> QuerySet[Run]:
    return Run.objects.filter(pk=run_id).select_related("project__unit", *related)[:1]


def _parts(for_list: bool) -> _Parts:
    return {
        "loaded_inputs": Prepared(partial(_inputs, for_list), list),
        "loaded_attempts": Prepared(partial(_attempts, for_list), list),
    }


def _inputs(for_list: bool, ids: list[UUID]) -> QuerySet[Any]:
    return inputs_to_show(for_list).filter(AnyOf("run_id", ids))


def _attempts(for_list: bool, ids: list[UUID]) -> QuerySet[Any]:
    return attempts_to_show(for_list).filter(AnyOf("run_id", ids))


_RUN: Final = Prepared(_run_query, UUID)
_WHOLE: Final = Prepared(
    lambda run_id: _run_query(run_id, "workflow", "experiment", "created_by", "runtime", "code"),
    UUID,
)
_LISTED: Final = Prepared(lambda ids: Run.objects.for_lists().filter(AnyOf("pk", ids)), list)
_WHOLE_PARTS: Final = _parts(for_list=False)
_LISTED_PARTS: Final = _parts(for_list=True)


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
