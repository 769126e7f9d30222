"""Merges the pictures of a layer on which both sides drew."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.layers.deltas import compared_columns, put_rows
from atom_sdk.manifests.layers.object_rows import with_contents
from atom_sdk.manifests.merge.object_merge import merge_pictures
from atom_sdk.manifests.merge.three_way import Conflict
from atom_sdk.manifests.ranges.deltas import same_rows

# Takes the path and the field in conflict; returns whether their side counts.
Settle = Callable[[str, str], bool]


def merge_both_drawn(
    tables: Sequence[pa.Table], prefers_theirs: Settle
) -> tuple[list[pa.Table], list[Conflict]]:
    """Return the tables of base, ours and theirs, with the rows that both changed merged in both.

    Only these rows are looked into; a conflict is settled by `prefers_theirs` and returned.
    """
    base, ours, theirs = tables
    paths = _both_changed(base, ours, theirs)
    if not len(paths):
        return list(tables), []
    sides = [_by_path(table, paths) for table in tables]
    rows, conflicts = [], []
    for path in paths.to_pylist():
        was, mine, other = (side.get(path) for side in sides)
        if mine is None or other is None:
            continue
        row, clashes = merge_pictures(was, mine, other, partial(prefers_theirs, path))
        rows.append(row)
        conflicts += clashes
    merged = with_contents(pa.Table.from_pylist(rows, schema=ours.schema))
    none = pa.array([], pa.string())
    return [base, put_rows(ours, merged, none), put_rows(theirs, merged, none)], conflicts


def _both_changed(base: pa.Table, ours: pa.Table, theirs: pa.Table) -> pa.Array:
    """Return the paths at which three rows, or two without a base, all differ."""
    changed, _ = _compared(ours, theirs)
    for side in (ours, theirs):
        _, as_before = _compared(_at(side, changed), base)
        changed = changed.filter(pc.invert(pc.is_in(changed, value_set=as_before)))
    return changed


def _compared(left: pa.Table, right: pa.Table) -> tuple[pa.Array, pa.Array]:
    """Return the paths of both tables at which their rows differ, and the others of both."""
    row = pc.index_in(left["path"], value_set=right["path"].combine_chunks())
    both = left.filter(row.is_valid())
    same = same_rows(both, right.take(row.drop_null()), compared_columns(left.schema))
    paths = both["path"]
    return paths.filter(pc.invert(same)).combine_chunks(), paths.filter(same).combine_chunks()


def _at(table: pa.Table, paths: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["path"], value_set=paths))


def _by_path(table: pa.Table, paths: pa.Array) -> dict[str, dict[str, object]]:
    return {str(row["path"]): row for row in _at(table, paths).to_pylist()}
