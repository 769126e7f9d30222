"""Differences where one version lays one more delta over a range: the delta has them."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.diff.ranges import DifferingPaths
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.ranges.deltas import ADDED, CHANGED, REMOVED, read_delta, read_delta_changes
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.rows.sorted_paths import positions

# The first and the last path of what differs.
Reach = tuple[str, str]


def one_more_delta(old: Sequence[RangeRef], new: Sequence[RangeRef]) -> bytes | None:
    """The delta by which a range differs from what it was, if that is all."""
    if len(old) != 1 or len(new) != 1 or old[0].object != new[0].object:
        return None
    deltas = new[0].deltas
    return deltas[-1] if deltas and old[0].deltas == deltas[:-1] else None


class DeltaDiff:
    """The rows of a delta over some ranges: their paths at once, the rest when asked for."""

    def __init__(self, digest: bytes, reaches: Sequence[Reach], store: ObjectStore) -> None:
        """`reaches` are in path order. Raises ObjectNotFoundError, ManifestCorruptError."""
        self._digest = digest
        self._store = store
        changes = read_delta_changes(digest, store)
        self._mask = _mask(changes["path"].combine_chunks(), reaches)
        changes = self._within(changes)
        self.paths = DifferingPaths(*(_paths(changes, kind) for kind in (ADDED, REMOVED, CHANGED)))

    def rows(self, change: str, columns: Sequence[str]) -> pa.Table:
        """The entries that were added or changed, as they are, or removed, as they were."""
        rows = self._within(read_delta(self._digest, self._store))
        return rows.filter(pc.equal(rows["change"], change)).select(columns)

    def _within(self, rows: pa.Table) -> pa.Table:
        return rows if self._mask is None else rows.filter(self._mask)


def _mask(paths: pa.Array, reaches: Sequence[Reach]) -> pa.Array | None:
    """Which rows are within the reaches; the others are for ranges that were written since.

    None if all are.
    """
    low = positions(paths, pa.array([first for first, _ in reaches]), "left")
    high = positions(paths, pa.array([last for _, last in reaches]), "right")
    if (high - low).sum() == len(paths):
        return None
    steps = np.zeros(len(paths) + 1, np.int64)
    np.add.at(steps, low, 1)
    np.add.at(steps, high, -1)
    return pa.array(np.cumsum(steps[:-1]) > 0)


def _paths(changes: pa.Table, kind: str) -> pa.Array:
    is_kind = pc.equal(changes["change"], kind)
    if pc.all(is_kind).as_py():
        return changes["path"].combine_chunks()
    return changes["path"].filter(is_kind).combine_chunks()
