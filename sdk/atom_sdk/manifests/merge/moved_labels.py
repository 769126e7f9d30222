"""Labels of files that one side of a merge moved, while the other side may have changed them."""

from __future__ import annotations

from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.diff.diff import pair_renames
from atom_sdk.manifests.layers.layers import merge_layer


@dataclass(frozen=True, slots=True)
class Moves:
    """The old and new paths of moved files, row by row, and their digests."""

    old: pa.Array
    new: pa.Array
    digest: pa.Array

    def applied_to(self, layer: pa.Table) -> pa.Table:
        """The layer with the rows of moved files where these are now."""
        if not len(self.old):
            return layer
        row = pc.index_in(layer["path"], value_set=self.old)
        moved = pc.fill_null(pc.equal(self.digest.take(row), layer["digest"]), False)
        rows = layer.filter(moved)
        column = layer.schema.get_field_index("path")
        there = rows.set_column(
            column, layer.schema.field(column), self.new.take(row.filter(moved))
        )
        return merge_layer(layer, there.sort_by("path").combine_chunks(), rows["path"].to_pylist())


def moves_of(base: pa.Table, mover: pa.Table, keeper: pa.Table, merged: pa.Table) -> Moves:
    """Which files the mover moved and the keeper left where they were.

    Each table has the entries of the paths that either side changed, on that side or in the merged
    version. A file that both moved, or that a conflict keeps where it was, is not among them.
    """
    gone = _without(_without(base, mover), merged)
    kept = pc.index_in(keeper["path"], value_set=gone["path"].combine_chunks())
    left = keeper.filter(pc.fill_null(pc.equal(gone["digest"].take(kept), keeper["digest"]), False))
    came = _without(_without(merged, base), keeper)
    pairs = list(pair_renames(left, came))
    return Moves(
        pa.array([each.old_path for each in pairs], pa.string()),
        pa.array([each.new_path for each in pairs], pa.string()),
        pa.array([each.digest for each in pairs], left.schema.field("digest").type),
    )


def _without(table: pa.Table, other: pa.Table) -> pa.Table:
    known = pc.is_in(table["path"], value_set=other["path"].combine_chunks())
    return table.filter(pc.invert(known)).combine_chunks()
