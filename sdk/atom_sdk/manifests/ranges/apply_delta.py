"""Lays changes over a range: reads what decides its digest, and gathers the rows of the delta."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.manifests.entries import ENTRY_SCHEMA, LINK_COLUMN, LOGICAL_COLUMNS
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.ranges.deltas import ADDED, CHANGED, REMOVED, marked, same_rows
from atom_sdk.manifests.ranges.ranges import BoundaryRule, range_content
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.ranges.stored import range_ref, read_range
from atom_sdk.manifests.rows.sorted_paths import positions, rows_of_paths

# The reference to a range is computed from these columns.
_TOLD_COLUMNS = (*LOGICAL_COLUMNS, LINK_COLUMN)
# Stands for the delta of a commit until all of its rows are known.
UNNAMED = b""


class Laid(NamedTuple):
    """A range after its changes, over it a delta that has no name yet, and its rows of that delta.

    A range that the changes leave as it is has no rows.
    """

    part: RangeRef
    rows: pa.Table | None


def lay_changes(
    part: RangeRef,
    upserts: pa.Table,
    deletes: Iterable[str],
    store: ObjectStore,
    rule: BoundaryRule,
) -> Laid | None:
    """Lay changes over a range; None if it would not be one range any more.

    Raises ObjectNotFoundError, ManifestCorruptError.
    """
    gone = pa.array(list(deletes), pa.string())
    # The delta keeps all columns of a removed row.
    columns = ENTRY_SCHEMA.names if len(gone) else _TOLD_COLUMNS
    change = _Change(read_range(part, store, columns), upserts, gone)
    if not change.is_one_range(part.min, rule):
        return None
    rows = change.rows()
    if not len(rows):
        return Laid(part, None)
    after = change.after()
    content = range_content(after)
    return Laid(range_ref(after, content, part.object, (*part.deltas, UNNAMED)), rows)


class _Change:
    """Where the rows of a range and its changes meet."""

    def __init__(self, before: pa.Table, upserts: pa.Table, deletes: pa.Array) -> None:
        self._before = before
        self._upserts = upserts
        self._paths = before["path"].combine_chunks()
        row = rows_of_paths(self._paths, upserts["path"].combine_chunks())
        self._is_known = row >= 0
        # The rows that are put in another's place, and those that go.
        self._put = row[self._is_known]
        self._gone = np.setdiff1d(rows_of_paths(self._paths, deletes), [-1, *self._put])
        self._old = before.take(pa.array(self._put))
        if self._is_known.all():
            self._new, self._added = upserts, upserts.slice(0, 0)
        else:
            self._new = upserts.filter(pa.array(self._is_known))
            self._added = upserts.filter(pa.array(~self._is_known))

    def is_one_range(self, first: str, rule: BoundaryRule) -> bool:
        """Whether the result, in a range that began at `first`, has no boundary inside."""
        rows = len(self._paths) + len(self._added) - len(self._gone)
        if not 0 < rows <= rule.cap:
            return False
        if not len(self._added):
            return True
        # Among the paths that were there, only the first can begin a range.
        added = self._added["path"].to_pylist()
        inside = [path for path in added if path > first]
        if added[0] < first:
            inside += [*added[1:], first]
        return not any(map(rule.begins, inside))

    def rows(self) -> pa.Table:
        """Rows of the delta: what really differs, sorted by path."""
        differs = pc.invert(same_rows(self._old, self._new, LOGICAL_COLUMNS))
        parts = [(self._added, ADDED), (self._new.filter(differs), CHANGED)]
        if len(self._gone):
            parts.append((self._before.take(pa.array(self._gone)), REMOVED))
        filled = [marked(rows, change) for rows, change in parts if len(rows)]
        if len(filled) < 2:
            return filled[0] if filled else marked(self._added, ADDED)
        return pa.concat_tables(filled).sort_by("path")

    def after(self) -> pa.Table:
        """The columns of the range's entries from now on that its reference is computed from."""
        index = self._index()
        stays = not len(self._added) and not len(self._gone)
        columns = {name: self._column(name, index, stays) for name in _TOLD_COLUMNS}
        return pa.table(columns)

    def _index(self) -> NDArray[np.int64]:
        """The number of each row in the range followed by the upserts."""
        rows = len(self._paths)
        index = np.arange(rows)
        index[self._put] = rows + np.flatnonzero(self._is_known)
        index[self._gone] = -1
        if len(self._added):
            places = positions(self._paths, self._added["path"].combine_chunks(), "left")
            index = np.insert(index, places, rows + np.flatnonzero(~self._is_known))
        return index[index >= 0] if len(self._gone) else index

    def _column(self, name: str, index: NDArray[np.int64], stays: bool) -> pa.ChunkedArray:
        before = self._before[name]
        if stays and (name == "path" or self._old[name].equals(self._new[name])):
            return before
        chunks = [*before.chunks, *self._upserts[name].chunks]
        return pa.chunked_array([pa.concat_arrays(chunks).take(pa.array(index))])
