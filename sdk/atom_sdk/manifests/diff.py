"""What changed between two roots; equal ranges are skipped, so cost follows the change."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import defaultdict, deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from functools import cached_property, partial
from itertools import chain

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.build import Changes, read_range
from atom_sdk.manifests.deltas import ADDED, CHANGED, REMOVED, read_delta, same_rows
from atom_sdk.manifests.entries import ENTRY_SCHEMA, LOGICAL_COLUMNS
from atom_sdk.manifests.groups import range_position, unshared
from atom_sdk.manifests.layers import layer_schema, read_differing, read_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots import LayerRef, RangeRef, Root
from atom_sdk.manifests.watching import UNWATCHED, Watch, rows_of


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
    """Entries that differ, as entry tables sorted by path.

    `added` and `removed` include both sides of `renamed`; `changed_from` and `changed_to` hold the
    same paths, row by row. `ranges_read` counts the ranges that were read for all but
    `changed_from`, which is read when it is asked for.
    """

    added: pa.Table
    removed: pa.Table
    changed_to: pa.Table
    renamed: tuple[Rename, ...]
    layers: tuple[LayerDiff, ...]
    ranges_read: int
    _old_rows: Callable[[pa.Table], pa.Table]

    @cached_property
    def changed_from(self) -> pa.Table:
        """What the changed entries were."""
        return self._old_rows(self.changed_to)

    @property
    def is_empty(self) -> bool:
        """Whether the two versions hold the same entries and layers."""
        return not (len(self.added) or len(self.removed) or len(self.changed_to) or self.layers)

    def changes(self) -> Changes:
        """What to apply to the old root to get the new root's entries."""
        upserts = pa.concat_tables([self.added, self.changed_to]).sort_by("path")
        return Changes(upserts, frozenset(self.removed.column("path").to_pylist()))


@dataclass(frozen=True, slots=True)
class TableDiff:
    """Rows that differ; changed ones as they are now."""

    added: pa.Table
    removed: pa.Table
    changed_to: pa.Table


# The first and the last path of what differs.
_Reach = tuple[str, str]


def diff_roots(old: Root, new: Root, store: ObjectStore, watch: Watch = UNWATCHED) -> RootDiff:
    """Compare two roots. Raises ObjectNotFoundError, ManifestCorruptError.

    Ranges over which the new root lays one more delta than the old one are not read: the delta says
    what differs.
    """
    parts: list[TableDiff] = []
    laid: defaultdict[bytes, list[_Reach]] = defaultdict(list)
    ranges_read = 0
    groups = list(_unequal_groups(old.ranges, new.ranges))
    watch.begin("comparing", sum(rows_of(chain(*sides)) for sides in groups))
    for old_ranges, new_ranges in groups:
        delta = _one_more_delta(old_ranges, new_ranges)
        if delta is not None:
            laid[delta].append(_reach(old_ranges + new_ranges))
        else:
            ranges_read += len(old_ranges) + len(new_ranges)
            tables = (_read_all(old_ranges, store), _read_all(new_ranges, store))
            parts.append(diff_tables(*tables, LOGICAL_COLUMNS))
        watch.advance(rows_of(chain(old_ranges, new_ranges)))
    parts += [_diff_of_delta(delta, reaches, store) for delta, reaches in laid.items()]
    added = _concat_sorted(part.added for part in parts)
    removed = _concat_sorted(part.removed for part in parts)
    return RootDiff(
        added=added,
        removed=removed,
        changed_to=_concat_sorted(part.changed_to for part in parts),
        renamed=tuple(_renames(removed, added)),
        layers=tuple(_layer_diffs(old, new, store)),
        ranges_read=ranges_read,
        _old_rows=partial(_rows_at, old, store),
    )


def _unequal_groups(
    old: Sequence[RangeRef], new: Sequence[RangeRef]
) -> Iterator[tuple[list[RangeRef], list[RangeRef]]]:
    """Ranges that only one side has, grouped so that no path of one group lies within another."""
    left, right = unshared(old, new)
    sides = [(part, 0) for part in left] + [(part, 1) for part in right]
    sides.sort(key=lambda item: item[0].min)
    group: tuple[list[RangeRef], list[RangeRef]] = ([], [])
    reach = ""
    for part, side in sides:
        if part.min > reach and (group[0] or group[1]):
            yield group
            group = ([], [])
        group[side].append(part)
        reach = max(reach, part.max)
    if group[0] or group[1]:
        yield group


def _one_more_delta(old: Sequence[RangeRef], new: Sequence[RangeRef]) -> bytes | None:
    """The delta by which a range differs from what it was, if that is all."""
    if len(old) != 1 or len(new) != 1 or not new[0].deltas:
        return None
    grown = (*old[0].layout, new[0].deltas[-1]) == new[0].layout
    return new[0].deltas[-1] if grown else None


def _reach(parts: Sequence[RangeRef]) -> _Reach:
    return min(part.min for part in parts), max(part.max for part in parts)


def _within(rows: pa.Table, reaches: Sequence[_Reach]) -> pa.Table:
    """Rows in one of the reaches; the others are for ranges that were written anew since."""
    paths = rows["path"].to_pylist()
    cuts = [(bisect_left(paths, first), bisect_right(paths, last)) for first, last in reaches]
    if sum(high - low for low, high in cuts) == len(rows):
        return rows
    return pa.concat_tables(
        [rows.schema.empty_table(), *(rows.slice(low, high - low) for low, high in cuts)]
    )


def _diff_of_delta(digest: bytes, reaches: Sequence[_Reach], store: ObjectStore) -> TableDiff:
    rows = _within(read_delta(digest, store), reaches)
    added, changed, removed = (
        rows.filter(pc.equal(rows["change"], change)).select(ENTRY_SCHEMA.names)
        for change in (ADDED, CHANGED, REMOVED)
    )
    return TableDiff(added, removed, changed)


def _rows_at(root: Root, store: ObjectStore, wanted: pa.Table) -> pa.Table:
    """The entries of a root at the paths of a sorted table, which are all there."""
    paths = wanted["path"].to_pylist()
    tables = []
    first = 0
    while first < len(paths):
        part = root.ranges[range_position(root.ranges, paths[first])]
        last = bisect_right(paths, part.max, lo=first)
        table = read_range(part, store)
        tables.append(_at(table, pa.array(paths[first:last], pa.string())))
        first = last
    return _concat(tables)


def _at(table: pa.Table, paths: pa.Array) -> pa.Table:
    return table.filter(pc.is_in(table["path"], value_set=paths))


def _read_all(parts: Iterable[RangeRef], store: ObjectStore) -> pa.Table:
    return _concat(read_range(part, store) for part in parts)


def _concat_sorted(tables: Iterable[pa.Table]) -> pa.Table:
    filled = [table for table in tables if len(table)]
    # Rows of a delta lie between those of ranges that were read.
    return _concat(filled) if len(filled) < 2 else _concat(filled).sort_by("path").combine_chunks()


def _concat(tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([ENTRY_SCHEMA.empty_table(), *tables]).combine_chunks()


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


def _renames(removed: pa.Table, added: pa.Table) -> Iterator[Rename]:
    """Pair removed and added files with the same bytes, both in path order."""
    sources: defaultdict[bytes, deque[str]] = defaultdict(deque)
    for path, digest in _paths_and_digests(removed):
        sources[digest].append(path)
    for path, digest in _paths_and_digests(added):
        if sources.get(digest):
            yield Rename(sources[digest].popleft(), path, digest)


def _paths_and_digests(table: pa.Table) -> Iterator[tuple[str, bytes]]:
    pairs = zip(table.column("path").to_pylist(), table.column("digest").to_pylist(), strict=True)
    return ((path, digest) for path, digest in pairs if digest is not None)


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
    columns = [name for name in layer_schema(after.kind).names if name != "path"]
    old, new = read_differing(before, after, store)
    part = diff_tables(old, new, columns)
    changed_from = _at(old, part.changed_to["path"].combine_chunks())
    return LayerDiff(
        after.name, after.kind, part.added, part.removed, changed_from, part.changed_to
    )


def _whole_layer(layer: LayerRef, store: ObjectStore, *, added: bool) -> LayerDiff:
    table = read_layer(layer, store)
    none = table.schema.empty_table()
    return LayerDiff(
        layer.name, layer.kind, table if added else none, none if added else table, none, none
    )
