"""The orders of a list of runs: by its own columns, or by any parameter or metric."""

from __future__ import annotations

from decimal import Decimal

from django.db.models import F

from atom.core.sorted_pages import Sorting, SortKey
from atom.jobs import run_values
from atom.jobs.errors import InvalidRunSort

MAX_KEY = 250
DEFAULT = "-created"
# Those that an index holds, or that are cheap: pages over the columns themselves.
PLAIN = {
    "created": ("created_at", "id"),
    "number": ("number", "id"),
}
COMPUTED = ("name", "duration", "cpu_hours", "gpu_hours")


def _number(text: str) -> Decimal:
    found = Decimal(text)
    # What a cursor of ours holds; a longer one would not fit into the database's number.
    if not found.is_finite() or abs(found.adjusted()) > 1000:
        raise ValueError(text)
    return found


def _float(text: str) -> float:
    return float(_number(text))


def _text(text: str) -> str:
    if "\0" in text:
        raise ValueError(text)
    return text


def plain_order(sort: str) -> tuple[str, ...] | None:
    """Return the columns of a sort that needs no expression, None if it needs one."""
    columns = PLAIN.get(sort.removeprefix("-"))
    if columns is None:
        return None
    return tuple(f"-{one}" for one in columns) if sort.startswith("-") else columns


def sorting_of(sort: str) -> Sorting:
    """Return how to sort by `cpu_hours`, `-metric.loss` or `param.lr`. Raises InvalidRunSort."""
    return Sorting(sort, _keys(sort.removeprefix("-")), sort.startswith("-"))


def _keys(name: str) -> tuple[SortKey, ...]:
    kind, dot, key = name.partition(".")
    if dot and 0 < len(key) <= MAX_KEY:
        if kind == "metric":
            return (SortKey(run_values.metric_number(key), _number),)
        if kind == "param":
            # Numbers by size, then what is no number by its letters.
            return (
                SortKey(run_values.parameter_number(key), _number),
                SortKey(run_values.parameter_text(key), _text),
            )
    if name == "name":
        return (SortKey(F("name"), _text),)
    if name == "duration":
        return (SortKey(run_values.duration_s(), _float),)
    if name in ("cpu_hours", "gpu_hours"):
        return (SortKey(run_values.hours_of(name.removesuffix("_hours") + "s"), _float),)
    raise InvalidRunSort(errors={"sort": [f"Runs cannot be sorted by {name!r}."]})
