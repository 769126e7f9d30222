"""Merges three tables that are keyed by path, row by row and field by field.

Knows nothing of ranges or stores: tables in, a table and its conflicts out.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Policy = Literal["fail", "ours", "theirs"]
Change = Literal["added", "changed", "removed"]
Mask = NDArray[np.bool_]
# Takes paths in conflict, and the field or "" for whole rows; returns whether their side counts.
Settles = Callable[[list[str], str], Mask]


@dataclass(frozen=True, slots=True)
class Conflict:
    """A path that both sides changed, each in its own way.

    `layer` and `field` are "" for the file itself. `other_path` is set where one side has a file
    and the other a folder of that name: it is our path, `path` is theirs. The values are those of
    the field, or the digests of the files in hex. For files with the same bytes, `field` is
    `attributes` or `media_type`, whichever differs, with its values. In a layer of objects, `field`
    names an object and its part, such as `objects.9f86d081884c7d65.label`; for a whole row of
    objects, the values are their numbers.
    """

    path: str
    ours: Change
    theirs: Change
    layer: str = ""
    field: str = ""
    other_path: str = ""
    our_value: str = ""
    their_value: str = ""


@dataclass(frozen=True, slots=True)
class Field:
    """Columns that change together; `carried` ones go with them and are not compared.

    A conflict shows the first of the `shown` columns that differs.
    """

    name: str
    compared: tuple[str, ...]
    shown: tuple[str, ...]
    carried: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class MergedTable:
    """The merged rows by path, with every conflict settled."""

    table: pa.Table
    conflicts: Iterable[Conflict]


def merge_tables(
    base: pa.Table, ours: pa.Table, theirs: pa.Table, fields: Sequence[Field], settles: Settles
) -> MergedTable:
    """Merge tables of one schema, each sorted by path with each path once.

    Changes of one side are taken. A row that one side removed and the other changed, and a field
    that both changed to different values, is a conflict.
    """
    rows = _Rows.align(base, ours, theirs)
    same = {each.name: rows.compare(each) for each in fields}
    take = _rows_to_take(rows, same, settles)
    columns = {"path": rows.paths}
    for each in fields:
        # Where both sides have the row, each field is settled by itself.
        chosen = np.where(rows.has_both, _field_to_take(rows, same, each.name, settles), take)
        mask = pa.array(chosen)
        for name in (*each.compared, *each.carried):
            columns[name] = pc.if_else(mask, rows.theirs[name], rows.ours[name])
    kept = pa.array(np.where(take, rows.has_theirs, rows.has_ours) | rows.has_both)
    table = pa.table([columns[name] for name in ours.schema.names], schema=ours.schema)
    return MergedTable(table.filter(kept).combine_chunks(), _conflicts(rows, same, fields))


@dataclass(frozen=True, slots=True)
class _Same:
    """Which rows agree in a field; a row that is missing has nulls."""

    ours_theirs: Mask
    base_ours: Mask
    base_theirs: Mask

    @property
    def clashes(self) -> Mask:
        return ~(self.ours_theirs | self.base_ours | self.base_theirs)


@dataclass(frozen=True, slots=True)
class _Rows:
    """The three tables, brought to the same paths; a row that a table lacks is null."""

    paths: pa.Array
    base: pa.Table
    ours: pa.Table
    theirs: pa.Table
    has_base: Mask
    has_ours: Mask
    has_theirs: Mask

    @classmethod
    def align(cls, base: pa.Table, ours: pa.Table, theirs: pa.Table) -> _Rows:
        tables = (base, ours, theirs)
        chunks = [table["path"].combine_chunks() for table in tables]
        paths = pc.unique(pa.concat_arrays(chunks)).sort()
        found = [pc.index_in(paths, value_set=chunk) for chunk in chunks]
        taken = [table.take(index) for table, index in zip(tables, found, strict=True)]
        return cls(paths, *taken, *(_mask(index.is_valid()) for index in found))

    @property
    def has_both(self) -> Mask:
        return self.has_ours & self.has_theirs

    def compare(self, field: Field) -> _Same:
        def same(left: pa.Table, right: pa.Table) -> Mask:
            equal = np.ones(len(self.paths), np.bool_)
            for name in field.compared:
                equal &= _null_safe_equal(left[name], right[name])
            return equal

        return _Same(
            same(self.ours, self.theirs),
            same(self.base, self.ours),
            same(self.base, self.theirs),
        )


def _rows_to_take(rows: _Rows, same: dict[str, _Same], settles: Settles) -> Mask:
    """Where the row is theirs, present or not, for rows that one side at least does not have."""
    kept_ours = rows.has_base & rows.has_ours & _all(same, lambda each: each.base_ours)
    kept_theirs = rows.has_base & rows.has_theirs & _all(same, lambda each: each.base_theirs)
    added_by_them = ~rows.has_base & ~rows.has_ours
    added_by_us = ~rows.has_base & ~rows.has_theirs
    kept = kept_ours | kept_theirs | added_by_them | added_by_us
    lost = _lost(rows, ~rows.has_both & ~kept, "", settles)
    return ~rows.has_both & (kept_ours | added_by_them | lost)


def _field_to_take(rows: _Rows, same: dict[str, _Same], name: str, settles: Settles) -> Mask:
    here = same[name]
    lost = _lost(rows, rows.has_both & here.clashes, name, settles)
    return ~here.ours_theirs & (here.base_ours | lost)


def _lost(rows: _Rows, clashes: Mask, name: str, settles: Settles) -> Mask:
    """Among the rows in conflict, those in which their side counts."""
    lost = np.zeros(len(clashes), np.bool_)
    found = np.flatnonzero(clashes)
    if len(found):
        lost[found] = settles(rows.paths.take(pa.array(found)).to_pylist(), name)
    return lost


def _conflicts(rows: _Rows, same: dict[str, _Same], fields: Sequence[Field]) -> Iterator[Conflict]:
    ours_gone = rows.has_base & ~rows.has_ours & rows.has_theirs
    theirs_gone = rows.has_base & ~rows.has_theirs & rows.has_ours
    for row in np.flatnonzero(ours_gone & ~_all(same, lambda each: each.base_theirs)):
        yield _conflict(rows, int(row), ("removed", "changed"), "", fields[0].shown[:1])
    for row in np.flatnonzero(theirs_gone & ~_all(same, lambda each: each.base_ours)):
        yield _conflict(rows, int(row), ("changed", "removed"), "", fields[0].shown[:1])
    for each in fields:
        change: Change
        for row in np.flatnonzero(same[each.name].clashes & rows.has_both):
            change = "changed" if rows.has_base[row] else "added"
            yield _conflict(rows, int(row), (change, change), each.name, each.shown)


def _conflict(
    rows: _Rows, row: int, changes: tuple[Change, Change], name: str, shown: Sequence[str]
) -> Conflict:
    sides = {
        column: [_shown(table[column][row].as_py()) for table in (rows.ours, rows.theirs)]
        for column in shown
    }
    told = next((column for column, (ours, theirs) in sides.items() if ours != theirs), shown[0])
    field = name if told == shown[0] else told
    ours, theirs = sides[told]
    return Conflict(
        rows.paths[row].as_py(), *changes, field=field, our_value=ours, their_value=theirs
    )


def _shown(value: Any) -> str:
    if value is None:
        return ""
    if isinstance(value, list):
        return str(len(value))
    return value.hex() if isinstance(value, bytes) else str(value)


def _all(same: dict[str, _Same], which: Callable[[_Same], Mask]) -> Mask:
    masks: Mask = np.logical_and.reduce([which(each) for each in same.values()])
    return masks


def _null_safe_equal(left: pa.ChunkedArray, right: pa.ChunkedArray) -> Mask:
    both_null = pc.and_(left.is_null(), right.is_null())
    return _mask(pc.or_(both_null, pc.fill_null(pc.equal(left, right), False)))


def _mask(values: pa.Array | pa.ChunkedArray) -> Mask:
    mask: Mask = values.to_numpy(zero_copy_only=False).astype(np.bool_)
    return mask
