"""Keyset pages over a sort that may have no value: rows without one come last."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db.models import F, Q, QuerySet

from atom.core.errors import Invalid
from atom.core.pagination import decode_cursor, encode_cursor

_MISSING = ""
_PRESENT = "="
_BAD_CURSOR = {"cursor": ["This is not a cursor of this list."]}


@dataclass(frozen=True, slots=True)
class SortKey:
    """One expression to sort by; `read` undoes what `str` made of its value."""

    expression: Any
    read: Callable[[str], Any]


@dataclass(frozen=True, slots=True)
class Sorting:
    """An order: its keys, then the id. `name` is part of every cursor of it."""

    name: str
    keys: tuple[SortKey, ...]
    descending: bool

    @property
    def aliases(self) -> list[str]:
        """Return the names under which a row carries the values that it is sorted by."""
        return [f"sort_{place}" for place in range(len(self.keys))]


def sorted_page(
    rows: QuerySet[Any], sorting: Sorting, limit: int, cursor: str | None
) -> tuple[list[Any], str | None]:
    """Return a page and the cursor of the next. Raises Invalid for another order's cursor."""
    rows = rows.annotate(
        **{alias: key.expression for alias, key in zip(sorting.aliases, sorting.keys, strict=True)}
    )
    if cursor:
        rows = rows.filter(_after(sorting, cursor, rows.model._meta.pk))
    direction = "-" if sorting.descending else ""
    terms = [
        F(alias).desc(nulls_last=True) if sorting.descending else F(alias).asc(nulls_last=True)
        for alias in sorting.aliases
    ]
    page = list(rows.order_by(*terms, f"{direction}pk")[: limit + 1])
    more = len(page) > limit
    return page[:limit], _cursor_of(page[limit - 1], sorting) if more else None


def _cursor_of(row: Any, sorting: Sorting) -> str:
    values = [_written(getattr(row, alias)) for alias in sorting.aliases]
    return encode_cursor([sorting.name, *values, row.pk])


def _written(value: Any) -> str:
    if value is None:
        return _MISSING
    return _PRESENT + (value.isoformat() if isinstance(value, datetime) else str(value))


def _after(sorting: Sorting, cursor: str, id_field: Any) -> Q:
    name, *written, pk = decode_cursor(cursor, len(sorting.keys) + 2)
    if name != sorting.name:
        raise Invalid(errors=_BAD_CURSOR)
    try:
        values = [
            None if text == _MISSING else key.read(text.removeprefix(_PRESENT))
            for text, key in zip(written, sorting.keys, strict=True)
        ]
        last = id_field.to_python(pk)
    except (ValueError, ArithmeticError, ValidationError) as error:
        raise Invalid(errors=_BAD_CURSOR) from error
    return _comes_after(sorting, values, last)


def _comes_after(sorting: Sorting, values: Sequence[Any], pk: Any) -> Q:
    lookup = "lt" if sorting.descending else "gt"
    condition, equal = Q(), Q()
    for alias, value in zip(sorting.aliases, values, strict=True):
        # Nothing comes after no value but what has none either.
        if value is not None:
            beyond = Q(**{f"{alias}__{lookup}": value}) | Q(**{f"{alias}__isnull": True})
            condition |= equal & beyond
            equal &= Q(**{alias: value})
        else:
            equal &= Q(**{f"{alias}__isnull": True})
    return condition | (equal & Q(**{f"pk__{lookup}": pk}))
