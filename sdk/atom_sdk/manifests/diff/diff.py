"""The changes between two roots; equal ranges are skipped, so cost follows the change."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.build import Changes
from atom_sdk.manifests.diff.deltas import DeltaDiff, Reach, one_more_delta
from atom_sdk.manifests.diff.ranges import (
    NO_PATHS,
    DifferingPaths,
    compare_ranges,
    concat_columns,
    rows_at,
)
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.layers.deltas import compared_columns
from atom_sdk.manifests.layers.layers import layer_schema, read_differing, read_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.parallel import worked_ahead
from atom_sdk.manifests.progress import UNWATCHED, Watch, rows_of
from atom_sdk.manifests.ranges.deltas import ADDED, CHANGED, REMOVED, same_rows
from atom_sdk.manifests.roots.groups import unshared
from atom_sdk.manifests.roots.roots import LayerRef, RangeRef, Root

_ALL_COLUMNS = ENTRY_SCHEMA.names
# Ranges that only one side has, old and new: no path of one group lies within another.
_Group = tuple[list[RangeRef], list[RangeRef]]


@dataclass(frozen=True, slots=True)
class Rename:
    """A file that has another path and the same bytes."""

    old_path: str
    new_path: str
    digest: bytes


@dataclass(frozen=True, slots=True)
class LayerDiff:
    """Rows of one layer that differ; tables have the columns of the layer's kind.

    `changed_from` and `changed_to` hold the same paths, row by row.
    """

    name: str
    kind: str
    added: pa.Table
    removed: pa.Table
    changed_from: pa.Table
    changed_to: pa.Table


@dataclass(frozen=True)
class RootDiff:
    """Paths at which entries differ, sorted; the entries are read when they are asked for.

    Added and removed ones include both sides of `renamed`. Tables of entries are sorted by path;
    `changed_from` and `changed_to` hold the same paths, row by row. Asking for them raises
    ObjectNotFoundError or ManifestCorruptError. `ranges_read` counts the ranges that were read to
    say what differs.
    """

    added_paths: pa.Array
    removed_paths: pa.Array
    changed_paths: pa.Array
    renamed: tuple[Rename, ...]
    layers: tuple[LayerDiff, ...]
    ranges_read: int
    _rows: _DifferingRows

    @cached_property
    def added(self) -> pa.Table:
        """The entries that only the new root has."""
        return self._rows.added(self.added_paths)

    @cached_property
    def removed(self) -> pa.Table:
        """The entries that only the old root has."""
        return self._rows.removed(self.removed_paths)

    @cached_property
    def changed_to(self) -> pa.Table:
        """The changed entries as they are now."""
        return self._rows.changed_to(self.changed_paths)

    @cached_property
    def changed_from(self) -> pa.Table:
        """The changed entries as they were."""
        return self._rows.changed_from(self.changed_paths)

    @property
    def is_empty(self) -> bool:
        """Whether the two versions hold the same entries and layers."""
        paths = self.added_paths, self.removed_paths, self.changed_paths
        return not (any(map(len, paths)) or self.layers)

    def selected(self, selects: Callable[[pa.Array], pa.Array]) -> RootDiff:
        """The same diff confined to some paths; renames and layers are left as they are."""
        paths = self.added_paths, self.removed_paths, self.changed_paths
        added, removed, changed = (each.filter(selects(each)) for each in paths)
        return replace(self, added_paths=added, removed_paths=removed, changed_paths=changed)

    def changes(self) -> Changes:
        """The changes that turn the old root's entries into those of the new root."""
        upserts = pa.concat_tables([self.added, self.changed_to]).sort_by("path")
        return Changes(upserts, frozenset(self.removed_paths.to_pylist()))


@dataclass(frozen=True, slots=True)
class TableDiff:
    """Rows that differ; changed ones as they are now."""

    added: pa.Table
    removed: pa.Table
    changed_to: pa.Table


def diff_roots(old: Root, new: Root, store: ObjectStore, watch: Watch = UNWATCHED) -> RootDiff:
    """Compare two roots. Raises ObjectNotFoundError, ManifestCorruptError.

    For ranges that differ, only the columns that can differ are read. Ranges over which the new
    root lays one more delta than the old one are not read: the delta holds the difference.
    """
    left, right = unshared(old.ranges, new.ranges)
    watch.begin("comparing", rows_of(left) + rows_of(right))
    laid: defaultdict[bytes, list[Reach]] = defaultdict(list)
    written: list[_Group] = []
    for group in _unequal_groups(left, right):
        delta = one_more_delta(*group)
        if delta is None:
            written.append(group)
        else:
            laid[delta].append(_reach(group[0][0], group[1][0]))
            watch.advance(group[0][0].count + group[1][0].count)
    by_delta = [DeltaDiff(delta, reaches, store) for delta, reaches in laid.items()]
    by_range = _joined(_compared(written, store, watch))
    paths = _mixed([by_range, *(part.paths for part in by_delta)])
    rows = _DifferingRows(old, written, by_range, by_delta, store)
    return RootDiff(
        added_paths=paths.added,
        removed_paths=paths.removed,
        changed_paths=paths.changed,
        renamed=tuple(_renames(rows, paths)),
        layers=tuple(_layer_diffs(old, new, store)),
        ranges_read=sum(len(before) + len(after) for before, after in written),
        _rows=rows,
    )


def _unequal_groups(left: Sequence[RangeRef], right: Sequence[RangeRef]) -> Iterator[_Group]:
    sides = [(part, 0) for part in left] + [(part, 1) for part in right]
    sides.sort(key=lambda item: item[0].min)
    group: _Group = ([], [])
    reach = ""
    for part, side in sides:
        if part.min > reach and (group[0] or group[1]):
            yield group
            group = ([], [])
            reach = part.max
        elif part.max > reach:
            reach = part.max
        group[side].append(part)
    if group[0] or group[1]:
        yield group


def _compared(
    groups: Sequence[_Group], store: ObjectStore, watch: Watch
) -> Iterator[DifferingPaths]:
    def compare(group: _Group) -> DifferingPaths:
        return compare_ranges(*group, store)

    found = worked_ahead(compare, groups) if len(groups) > 1 else map(compare, groups)
    for group, paths in zip(groups, found, strict=True):
        watch.advance(sum(map(rows_of, group)))
        yield paths


def _reach(old: RangeRef, new: RangeRef) -> Reach:
    return (
        old.min if old.min < new.min else new.min,
        old.max if old.max > new.max else new.max,
    )


def _joined(parts: Iterable[DifferingPaths]) -> DifferingPaths:
    """The paths of parts that follow each other."""
    kinds = zip(DifferingPaths(NO_PATHS, NO_PATHS, NO_PATHS), *parts, strict=True)
    return DifferingPaths(*map(pa.concat_arrays, kinds))


def _mixed(parts: Sequence[DifferingPaths]) -> DifferingPaths:
    """The paths of parts that lie between each other, in order."""
    kinds = ([paths for paths in kind if len(paths)] for kind in zip(*parts, strict=True))
    return DifferingPaths(*map(_in_order, kinds))


def _in_order(arrays: Sequence[pa.Array]) -> pa.Array:
    if len(arrays) < 2:
        return arrays[0] if arrays else NO_PATHS
    paths = pa.concat_arrays(arrays)
    return paths.take(pc.array_sort_indices(paths))


class _DifferingRows:
    """Reads the entries at paths that differ."""

    def __init__(
        self,
        old: Root,
        written: Sequence[_Group],
        by_range: DifferingPaths,
        by_delta: Sequence[DeltaDiff],
        store: ObjectStore,
    ) -> None:
        """`by_range` are the paths that differ in the groups of ranges in `written`."""
        self._old = old
        self._before = [part for group in written for part in group[0]]
        self._after = [part for group in written for part in group[1]]
        self._by_range = by_range
        self._by_delta = by_delta
        self._store = store

    def added(self, paths: pa.Array, columns: Sequence[str] = _ALL_COLUMNS) -> pa.Table:
        return self._rows(self._after, self._by_range.added, ADDED, paths, columns)

    def removed(self, paths: pa.Array, columns: Sequence[str] = _ALL_COLUMNS) -> pa.Table:
        return self._rows(self._before, self._by_range.removed, REMOVED, paths, columns)

    def changed_to(self, paths: pa.Array) -> pa.Table:
        return self._rows(self._after, self._by_range.changed, CHANGED, paths, _ALL_COLUMNS)

    def changed_from(self, paths: pa.Array) -> pa.Table:
        return rows_at(self._old.ranges, paths, self._store)

    def _rows(
        self,
        ranges: Sequence[RangeRef],
        by_range: pa.Array,
        change: str,
        wanted: pa.Array,
        columns: Sequence[str],
    ) -> pa.Table:
        """Rows of ranges and deltas at the wanted paths."""
        tables = [part.rows(change, columns) for part in self._by_delta]
        if len(by_range) + sum(map(len, tables)) > len(wanted):
            by_range = by_range.filter(pc.is_in(by_range, value_set=wanted))
            tables = [table.filter(pc.is_in(table["path"], value_set=wanted)) for table in tables]
        tables.append(rows_at(ranges, by_range, self._store, columns))
        filled = [table for table in tables if len(table)]
        rows = concat_columns(filled, columns)
        # Rows of a delta lie between those of ranges that were read.
        return rows if len(filled) < 2 else rows.sort_by("path").combine_chunks()


def diff_tables(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> TableDiff:
    """Compare two tables that are keyed by path, by some of their columns."""
    old_row = pc.index_in(new.column("path"), value_set=old.column("path").combine_chunks())
    known = pc.is_in(old.column("path"), value_set=new.column("path").combine_chunks())
    both_new = new.filter(old_row.is_valid())
    both_old = old.take(old_row.drop_null())
    differs = pc.invert(same_rows(both_old, both_new, columns))
    return TableDiff(
        added=new.filter(old_row.is_null()),
        removed=old.filter(pc.invert(known)),
        changed_to=both_new.filter(differs),
    )


def _renames(rows: _DifferingRows, paths: DifferingPaths) -> Iterator[Rename]:
    if not len(paths.removed) or not len(paths.added):
        return iter(())
    columns = ("path", "digest")
    return pair_renames(rows.removed(paths.removed, columns), rows.added(paths.added, columns))


def pair_renames(removed: pa.Table, added: pa.Table) -> Iterator[Rename]:
    """Pair removed and added files with the same bytes, both in path order."""
    sources: defaultdict[bytes, deque[str]] = defaultdict(deque)
    for path, digest in _paths_and_digests(removed, added):
        sources[digest].append(path)
    for path, digest in _paths_and_digests(added, removed):
        if sources.get(digest):
            yield Rename(sources[digest].popleft(), path, digest)


def _paths_and_digests(table: pa.Table, other: pa.Table) -> Iterator[tuple[str, bytes]]:
    """Those of rows whose digest the other table has too."""
    digests = other["digest"].drop_null().combine_chunks()
    shared = table.filter(pc.is_in(table["digest"], value_set=digests))
    return zip(shared["path"].to_pylist(), shared["digest"].to_pylist(), strict=True)


def _layer_diffs(old: Root, new: Root, store: ObjectStore) -> Iterator[LayerDiff]:
    for name in sorted({layer.name for layer in (*old.layers, *new.layers)}):
        before, after = old.layer(name), new.layer(name)
        if before and after and before.kind == after.kind:
            if before.content != after.content:
                yield _layer_diff(before, after, store)
            continue
        # A layer that came, went or became another kind: all of its rows differ.
        if before:
            yield _whole_layer(before, store, added=False)
        if after:
            yield _whole_layer(after, store, added=True)


def _layer_diff(before: LayerRef, after: LayerRef, store: ObjectStore) -> LayerDiff:
    columns = compared_columns(layer_schema(after.kind))
    old, new = read_differing(before, after, store)
    part = diff_tables(old, new, columns)
    changed_from = old.filter(pc.is_in(old["path"], value_set=part.changed_to["path"]))
    return LayerDiff(
        after.name, after.kind, part.added, part.removed, changed_from, part.changed_to
    )


def _whole_layer(layer: LayerRef, store: ObjectStore, *, added: bool) -> LayerDiff:
    table = read_layer(layer, store)
    none = table.schema.empty_table()
    return LayerDiff(
        layer.name, layer.kind, table if added else none, none if added else table, none, none
    )
