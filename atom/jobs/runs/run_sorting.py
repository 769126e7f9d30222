"""The orders of a list of runs: by its own columns, or by any parameter or metric."""

from __future__ import annotations

from datetime import datetime
from decimal import Decimal
from typing import Any

from django.db.models import F

from atom.core.sorted_pages import Sorting, SortKey
from atom.jobs.errors import InvalidRunSort
from atom.jobs.models import run_values
from atom.jobs.runs.engines import run_query
from atom_sdk.sentences import Sentence

MAX_KEY = 250
DEFAULT = "-created"


def _metric(text: str) -> Any:
    """Return a number of a cursor, or infinity."""
    word = run_query.word_of(text)
    return run_values.word(word) if word else _number(text)


def _number(text: str) -> Decimal:
    found = Decimal(text)
    # No cursor of ours holds a larger number, and a larger one would not fit the database's type.
    if not found.is_finite() or abs(found.adjusted()) > 1000:
        raise ValueError(text)
    return found


def _float(text: str) -> float:
    return float(_number(text))


def _text(text: str) -> str:
    if "\0" in text:
        raise ValueError(text)
    return text


def sorting_of(sort: str) -> Sorting:
    """Return how to sort by `cpu_hours`, `-metric.loss` or `param.lr`. Raises InvalidRunSort."""
    return Sorting(sort, _keys(sort.removeprefix("-")), sort.startswith("-"))


def _keys(name: str) -> tuple[SortKey, ...]:
    kind, dot, key = name.partition(".")
    if dot and 0 < len(key) <= MAX_KEY:
        if kind == "metric":
            # Numbers by size, then NaN, in both directions; runs without the metric come last.
            return (
                SortKey(run_values.metric_number_in_order(key), _metric, may_miss=True),
                SortKey(run_values.metric_is_nan(key), int, may_miss=True),
            )
        if kind == "param":
            # Numbers by size, then what is no number by its letters.
            return (
                SortKey(run_values.parameter_number(key), _number, may_miss=True),
                SortKey(run_values.parameter_text(key), _text, may_miss=True),
            )
    if name in _OWN:
        return (_OWN[name],)
    raise InvalidRunSort(
        errors={
            "sort": [
                Sentence(
                    "jobs.sort_unknown", "Runs cannot be sorted by {column}.", column=repr(name)
                )
            ]
        }
    )


_OWN = {
    "created": SortKey(F("created_at"), datetime.fromisoformat),
    "number": SortKey(F("number"), int),
    "name": SortKey(F("name"), _text),
    "duration": SortKey(run_values.duration_s(), _float),
    "cpu_hours": SortKey(run_values.hours_of("cpus"), _float),
    "gpu_hours": SortKey(run_values.hours_of("gpus"), _float),
}
