"""Keyset pages over a sort that may have no value: rows without one come last."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any

from django.core.exceptions import ValidationError
from django.db import DataError
from django.db.models import F, Q, QuerySet

from atom.core.errors import Invalid
from atom.core.pagination import decode_cursor, encode_cursor

_MISSING = ""
_PRESENT = "="
_BAD_CURSOR = {"cursor": ["This is not a cursor of this list."]}


@dataclass(frozen=True, slots=True)
class SortKey:
    """One expression to sort by; `read` undoes what `str` made of its value.

    One that always has a value may be sorted by an index.
    """

    expression: Any
    read: Callable[[str], Any]
    may_miss: bool = False


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
    rows: QuerySet[Any],
    sorting: Sorting,
    limit: int,
    cursor: str | None,
    read: Callable[[list[Any]], Mapping[Any, Any]] | None = None,
) -> tuple[list[Any], str | None]:
    """Return a page and the cursor of the next. Raises Invalid for another order's cursor.

    The ids are found first: to sort whole rows with all that belongs to them takes far longer.
    `read` returns the rows of ids, by id; unless given, they are asked for as `rows` says.
    """
    values = dict(zip(sorting.aliases, (key.expression for key in sorting.keys), strict=True))
    found = rows.select_related(None).prefetch_related(None).annotate(**values)
    if cursor:
        found = found.filter(_after(sorting, cursor, rows.model._meta.pk))
    ordered = found.order_by(*_order(sorting)).values_list("pk", *sorting.aliases)
    try:
        page = list(ordered[: limit + 1])
    except DataError as exc:
        # A time in a zone that PostgreSQL does not know, which was no value of ours.
        raise Invalid(errors=_BAD_CURSOR) from exc
    whole = (read or rows.in_bulk)([pk for pk, *_ in page[:limit]])
    # Rows that were removed between the two queries are left out.
    shown = [whole[pk] for pk, *_ in page[:limit] if pk in whole]
    return shown, _cursor_of(page[limit - 1], sorting) if len(page) > limit else None


def _order(sorting: Sorting) -> list[Any]:
    missing = [key.may_miss or None for key in sorting.keys]
    columns = zip((*sorting.aliases, "pk"), (*missing, None), strict=True)
    if sorting.descending:
        return [F(alias).desc(nulls_last=last) for alias, last in columns]
    return [F(alias).asc(nulls_last=last) for alias, last in columns]


def _cursor_of(row: tuple[Any, ...], sorting: Sorting) -> str:
    pk, *values = row
    return encode_cursor([sorting.name, *map(_written, values), pk])


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
    for alias, key, value in zip(sorting.aliases, sorting.keys, values, strict=True):
        # After a row without a value come only other rows without one.
        if value is not None:
            beyond = Q(**{f"{alias}__{lookup}": value})
            if key.may_miss:
                beyond |= Q(**{f"{alias}__isnull": True})
            condition |= equal & beyond
            equal &= Q(**{alias: value})
        else:
            equal &= Q(**{f"{alias}__isnull": True})
    return condition | (equal & Q(**{f"pk__{lookup}": pk}))
