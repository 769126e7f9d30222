"""Deltas of layers: a change to a few rows, beside the object that holds all the others.

A delta has the columns of its layer and `change`, as a delta over ranges has. Format: README.md.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.ranges.deltas import ADDED, CHANGED, REMOVED, same_rows

_CHANGE = pa.field("change", pa.string(), nullable=False)


@dataclass(frozen=True, slots=True)
class LayerDeltaRule:
    """When a change of a layer is written beside it.

    The layer has at least `min_rows` rows, at most `max_share` of them change, and it carries
    fewer than `max_depth` deltas already. A writer's choice, not part of the format.
    """

    min_rows: int = 10_000
    max_share: float = 0.1
    max_depth: int = 8

    def fits(self, rows: int, depth: int, changes: int) -> bool:
        """Whether so many changes to a layer of `rows` rows are worth a delta."""
        is_worth_it = rows >= self.min_rows and changes <= rows * self.max_share
        return is_worth_it and depth < self.max_depth


DEFAULT_LAYER_DELTA_RULE = LayerDeltaRule()


def delta_schema(layer: pa.Schema) -> pa.Schema:
    """Columns of a delta over a layer with these columns."""
    return layer.append(_CHANGE)


def compared_columns(schema: pa.Schema) -> list[str]:
    """Columns that tell whether rows of one path differ.

    Nested columns are not among them: the content of their row is.
    """
    return [
        field.name
        for field in schema
        if field.name != "path" and not pa.types.is_nested(field.type)
    ]


def layer_delta_rows(before: pa.Table, after: pa.Table) -> pa.Table:
    """The rows in which two states of a layer differ, sorted by path; removed rows as they were."""
    columns = compared_columns(after.schema)
    old_row = pc.index_in(after["path"], value_set=before["path"].combine_chunks())
    known = old_row.is_valid()
    new, old = after.filter(known), before.take(old_row.drop_null())
    parts = [
        (after.filter(pc.invert(known)), ADDED),
        (new.filter(pc.invert(same_rows(old, new, columns))), CHANGED),
    ]
    if len(new) < len(before):
        there = pc.is_in(before["path"], value_set=after["path"].combine_chunks())
        parts.append((before.filter(pc.invert(there)), REMOVED))
    marked = [
        rows.append_column(_CHANGE, pa.array([change] * len(rows), pa.string()))
        for rows, change in parts
    ]
    return pa.concat_tables(marked).sort_by("path").combine_chunks()


def lay_over_layer(table: pa.Table, delta: pa.Table) -> pa.Table:
    """The layer after the rows of a delta."""
    is_gone = pc.equal(delta["change"], REMOVED)
    puts = delta.filter(pc.invert(is_gone)).select(table.column_names)
    return put_rows(table, puts, delta["path"].filter(is_gone).combine_chunks())


def put_rows(table: pa.Table, puts: pa.Table, gone: pa.Array) -> pa.Table:
    """A table sorted by path with rows replaced, added and removed; a put wins."""
    if len(gone):
        table = table.filter(pc.invert(pc.is_in(table["path"], value_set=gone)))
    if not len(puts):
        return table.combine_chunks()
    found = pc.index_in(table["path"], value_set=puts["path"].combine_chunks())
    if found.null_count == len(found) - len(puts):
        # Every path is there already: in its place each row keeps the order without sorting.
        row = pc.coalesce(pc.add(found, len(table)), pa.array(np.arange(len(table), dtype="i4")))
        return pa.concat_tables([table, puts]).combine_chunks().take(row).combine_chunks()
    kept = table.filter(found.is_null())
    return pa.concat_tables([kept, puts]).sort_by("path").combine_chunks()
