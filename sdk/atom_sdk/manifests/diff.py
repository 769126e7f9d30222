"""What changed between two roots; equal ranges are skipped, so cost follows the change."""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.build import Changes, read_range
from atom_sdk.manifests.entries import ENTRY_SCHEMA, LOGICAL_COLUMNS
from atom_sdk.manifests.layers import layer_schema, read_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots import LayerRef, RangeRef, Root


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


@dataclass(frozen=True, slots=True)
class RootDiff:
    """Entries that differ, as entry tables sorted by path.

    `added` and `removed` include both sides of `renamed`; `changed_from` and `changed_to` hold the
    same paths, row by row. `ranges_read` counts the ranges that were read.
    """

    added: pa.Table
    removed: pa.Table
    changed_from: pa.Table
    changed_to: pa.Table
    renamed: tuple[Rename, ...]
    layers: tuple[LayerDiff, ...]
    ranges_read: int

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
    """Rows that differ; `changed_from` and `changed_to` hold the same paths, row by row."""

    added: pa.Table
    removed: pa.Table
    changed_from: pa.Table
    changed_to: pa.Table


def diff_roots(old: Root, new: Root, store: ObjectStore) -> RootDiff:
    """Compare two roots. Raises ObjectNotFoundError, ManifestCorruptError."""
    parts: list[TableDiff] = []
    ranges_read = 0
    for old_ranges, new_ranges in _unequal_groups(old.ranges, new.ranges):
        ranges_read += len(old_ranges) + len(new_ranges)
        tables = (_read_all(old_ranges, store), _read_all(new_ranges, store))
        parts.append(diff_tables(*tables, LOGICAL_COLUMNS))
    added = _concat(part.added for part in parts)
    removed = _concat(part.removed for part in parts)
    return RootDiff(
        added=added,
        removed=removed,
        changed_from=_concat(part.changed_from for part in parts),
        changed_to=_concat(part.changed_to for part in parts),
        renamed=tuple(_renames(removed, added)),
        layers=tuple(_layer_diffs(old, new, store)),
        ranges_read=ranges_read,
    )


def _unequal_groups(
    old: Sequence[RangeRef], new: Sequence[RangeRef]
) -> Iterator[tuple[list[RangeRef], list[RangeRef]]]:
    """Ranges that only one side has, grouped so that no path of one group lies within another."""
    common = {part.content for part in old} & {part.content for part in new}
    sides = [(part, 0) for part in old if part.content not in common]
    sides += [(part, 1) for part in new if part.content not in common]
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


def _read_all(parts: Iterable[RangeRef], store: ObjectStore) -> pa.Table:
    return _concat(read_range(part, store) for part in parts)


def _concat(tables: Iterable[pa.Table]) -> pa.Table:
    return pa.concat_tables([ENTRY_SCHEMA.empty_table(), *tables]).combine_chunks()


def diff_tables(old: pa.Table, new: pa.Table, columns: Sequence[str]) -> TableDiff:
    """Compare two tables that are keyed by path, by some of their columns."""
    old_row = pc.index_in(new.column("path"), value_set=old.column("path").combine_chunks())
    known = pc.is_in(old.column("path"), value_set=new.column("path").combine_chunks())
    both_new = new.filter(old_row.is_valid())
    both_old = old.take(old_row.drop_null())
    differs = pa.chunked_array([pa.array([False] * len(both_new), pa.bool_())])
    for name in columns:
        same = _null_safe_equal(both_old.column(name), both_new.column(name))
        differs = pc.or_(differs, pc.invert(same))
    return TableDiff(
        added=new.filter(old_row.is_null()),
        removed=old.filter(pc.invert(known)),
        changed_from=both_old.filter(differs),
        changed_to=both_new.filter(differs),
    )


def _null_safe_equal(left: pa.ChunkedArray, right: pa.ChunkedArray) -> pa.ChunkedArray:
    both_null = pc.and_(left.is_null(), right.is_null())
    return pc.or_(both_null, pc.fill_null(pc.equal(left, right), False))


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
    part = diff_tables(read_layer(before, store), read_layer(after, store), columns)
    return LayerDiff(
        after.name, after.kind, part.added, part.removed, part.changed_from, part.changed_to
    )


def _whole_layer(layer: LayerRef, store: ObjectStore, *, added: bool) -> LayerDiff:
    table = read_layer(layer, store)
    none = table.schema.empty_table()
    return LayerDiff(
        layer.name, layer.kind, table if added else none, none if added else table, none, none
    )
