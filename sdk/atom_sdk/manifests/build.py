"""Builds and changes roots; only ranges that contain a change are read or written."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.deltas import (
    DEFAULT_DELTA_RULE,
    DeltaRule,
    delta_rows,
    lay_over,
    read_delta,
    write_delta,
)
from atom_sdk.manifests.entries import ENTRY_SCHEMA, check_order
from atom_sdk.manifests.layers import compact_layer
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, range_key
from atom_sdk.manifests.ranges import (
    DEFAULT_RULE,
    BoundaryRule,
    decode_range,
    encode_range,
    range_content,
    split_ranges,
)
from atom_sdk.manifests.roots import RangeRef, Root, make_root
from atom_sdk.manifests.watching import UNWATCHED, Watch, rows_of


def read_range(
    part: RangeRef, store: ObjectStore, columns: Sequence[str] = ENTRY_SCHEMA.names
) -> pa.Table:
    """Read and check one range, or some of its columns, the first of them the path.

    Raises ObjectNotFoundError or ManifestCorruptError.
    """
    key = range_key(part.object)
    table = decode_range(get_verified(store, key, part.object), key, columns)
    for delta in part.deltas:
        table = lay_over(table, read_delta(delta, store), part.min, part.max)
    return table


def write_range(table: pa.Table, store: ObjectStore, known: dict[bytes, RangeRef]) -> RangeRef:
    """Store one range, unless `known` (by content digest) already has its entries."""
    content = range_content(table)
    if content in known:
        return known[content]
    data = encode_range(table)
    digest = digest_of(data)
    store.put(range_key(digest), data)
    return _range_ref(table, content, digest)


def _range_ref(
    table: pa.Table, content: bytes, digest: bytes, deltas: tuple[bytes, ...] = ()
) -> RangeRef:
    paths = table.column("path")
    first, last = paths[0].as_py(), paths[-1].as_py()
    size_bytes = pc.sum(table.column("size")).as_py()
    return RangeRef(first, last, len(table), size_bytes, content, digest, deltas)


def build_root(
    tables: Iterable[pa.Table],
    store: ObjectStore,
    parent: Root | None = None,
    rule: BoundaryRule = DEFAULT_RULE,
) -> Root:
    """Root over a sorted stream of entry tables.

    Ranges with the parent's entries are not written again; its layers are not carried over.
    Raises EmptyDatasetError, EntryOrderError.
    """
    known = {part.content: part for part in parent.ranges} if parent else {}
    parts = [write_range(table, store, known) for table in split_ranges(tables, rule)]
    if not parts:
        raise EmptyDatasetError
    return make_root(parts)


@dataclass(frozen=True, slots=True)
class Changes:
    """Entries to add or replace, a table sorted by path, and paths to remove.

    An upsert wins over a delete of the same path.
    """

    upserts: pa.Table = field(default_factory=ENTRY_SCHEMA.empty_table)
    deletes: frozenset[str] = frozenset()


def apply_changes(
    parent: Root,
    changes: Changes,
    store: ObjectStore,
    rule: BoundaryRule = DEFAULT_RULE,
    delta_rule: DeltaRule = DEFAULT_DELTA_RULE,
    watch: Watch = UNWATCHED,
) -> Root:
    """Root with the changes made; what is written follows the changes, not the dataset.

    A change to few ranges writes these anew; a scattered one is laid over them as a delta. The
    result has the same content digest as a root built from scratch. Layers are carried over as they
    are; a row whose path or digest is gone counts for nothing. Raises EmptyDatasetError,
    EntryOrderError.
    """
    check_order(changes.upserts)
    spans = _spans(parent.ranges, rule)
    touched = _touched(spans, changes)
    known = {part.content: part for part in parent.ranges}
    max_depth = delta_rule.max_depth if _fits(delta_rule, spans, touched) else 0
    delta = _OpenDelta(store, rule, max_depth)
    parts: list[RangeRef] = []
    watch.begin("writing", _rows_touched(spans, touched))
    for run, merged in _runs(spans, touched, changes):
        if not merged:
            parts.extend(part for span in run for part in span.parts)
        elif (part := delta.laid_over(run, touched)) is not None:
            parts.append(part)
        else:
            tables = _merged_spans(run, touched, store)
            parts.extend(write_range(table, store, known) for table in split_ranges(tables, rule))
        watch.advance(_rows_touched(run, touched))
    if not parts:
        raise EmptyDatasetError("The changes would remove every file of the dataset.")
    return make_root(delta.close(parts), parent.layers)


def compact(root: Root, store: ObjectStore) -> Root:
    """The same content without deltas: ranges and layers that have some are written anew."""
    parts = [
        write_range(read_range(part, store), store, {}) if part.deltas else part
        for part in root.ranges
    ]
    return make_root(parts, (compact_layer(layer, store) for layer in root.layers))


@dataclass(frozen=True, slots=True)
class _Span:
    """Ranges from one hash boundary to the next; several only where the row cap cut."""

    index: int
    parts: tuple[RangeRef, ...]


@dataclass(slots=True)
class _SpanChanges:
    upserts: pa.Table = field(default_factory=ENTRY_SCHEMA.empty_table)
    deletes: list[str] = field(default_factory=list)


def _spans(parts: Sequence[RangeRef], rule: BoundaryRule) -> list[_Span]:
    groups: list[list[RangeRef]] = []
    for part in parts:
        if not groups or rule.begins(part.min):
            groups.append([])
        groups[-1].append(part)
    return [_Span(index, tuple(group)) for index, group in enumerate(groups)]


def _touched(spans: Sequence[_Span], changes: Changes) -> dict[int, _SpanChanges]:
    """The changes of each span, by its index."""
    starts = [span.parts[0].min for span in spans]
    touched: defaultdict[int, _SpanChanges] = defaultdict(_SpanChanges)
    paths = changes.upserts.column("path").to_pylist()
    first = 0
    while first < len(paths):
        span = _span_of(starts, paths[first])
        # Sorted upserts: those up to the next span's start belong together.
        end = (
            len(paths)
            if span + 1 >= len(starts)
            else _first_not_below(paths, starts[span + 1], first)
        )
        touched[span].upserts = changes.upserts.slice(first, end - first)
        first = end
    for path in changes.deletes:
        touched[_span_of(starts, path)].deletes.append(path)
    return dict(touched)


def _rows_touched(spans: Iterable[_Span], touched: dict[int, _SpanChanges]) -> int:
    return sum(rows_of(span.parts) for span in spans if span.index in touched)


def _span_of(starts: Sequence[str], path: str) -> int:
    return max(bisect_right(starts, path) - 1, 0)


def _first_not_below(paths: Sequence[str], bound: str, first: int) -> int:
    low, high = first, len(paths)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if paths[middle] < bound else (low, middle)
    return low


def _runs(
    spans: Sequence[_Span], touched: dict[int, _SpanChanges], changes: Changes
) -> Iterator[tuple[list[_Span], bool]]:
    """Spans that must be cut anew together, and whether they changed at all.

    A span whose first path goes away loses its boundary, so its rest belongs to the span before it.
    """
    upserted = set(changes.upserts.column("path").to_pylist())
    run: list[_Span] = []
    for span in spans:
        start = span.parts[0].min
        joins = bool(run) and start in changes.deletes and start not in upserted
        if run and not joins:
            yield run, _is_touched(run, touched)
            run = []
        run.append(span)
    if run:
        yield run, _is_touched(run, touched)


def _is_touched(run: Sequence[_Span], touched: dict[int, _SpanChanges]) -> bool:
    return any(span.index in touched for span in run)


def _fits(delta_rule: DeltaRule, spans: Sequence[_Span], touched: dict[int, _SpanChanges]) -> bool:
    rows = sum(part.count for index in touched for part in spans[index].parts)
    changes = sum(len(span.upserts) + len(span.deletes) for span in touched.values())
    return bool(spans) and delta_rule.fits(len(touched), rows, changes)


class _OpenDelta:
    """Lays changes over ranges and gathers the rows of the one delta that holds them."""

    _UNNAMED = b""

    def __init__(self, store: ObjectStore, rule: BoundaryRule, max_depth: int) -> None:
        self._store = store
        self._rule = rule
        self._max_depth = max_depth
        self._rows: list[pa.Table] = []

    def laid_over(self, run: Sequence[_Span], touched: dict[int, _SpanChanges]) -> RangeRef | None:
        """The range after its changes; None if it must be written anew."""
        part = run[0].parts[0]
        if len(run) > 1 or len(run[0].parts) > 1 or len(part.deltas) >= self._max_depth:
            return None
        changes = touched[run[0].index]
        before = read_range(part, self._store)
        merged = merge_entries(before, changes.upserts, changes.deletes)
        # Of the paths that were there, only the first can begin a range.
        candidates = {part.min, *changes.upserts["path"].to_pylist()}
        if not self._is_one_range(merged, candidates):
            return None
        rows = delta_rows(before, changes.upserts, changes.deletes)
        if not len(rows):
            return part
        self._rows.append(rows)
        deltas = (*part.deltas, self._UNNAMED)
        return _range_ref(merged, range_content(merged), part.object, deltas)

    def _is_one_range(self, merged: pa.Table, candidates: set[str]) -> bool:
        if not 0 < len(merged) <= self._rule.cap:
            return False
        inside = candidates - {merged["path"][0].as_py()}
        return not any(self._rule.begins(path) for path in inside)

    def close(self, parts: Iterable[RangeRef]) -> list[RangeRef]:
        """Write the delta, if there are rows, and name it in the ranges."""
        listed = list(parts)
        if not self._rows:
            return listed
        digest = write_delta(pa.concat_tables(self._rows), self._store)
        return [
            replace(part, deltas=(*part.deltas[:-1], digest))
            if part.deltas and part.deltas[-1] == self._UNNAMED
            else part
            for part in listed
        ]


def _merged_spans(
    run: Sequence[_Span], touched: dict[int, _SpanChanges], store: ObjectStore
) -> Iterator[pa.Table]:
    for span in run:
        tables = [read_range(part, store) for part in span.parts]
        if span.index not in touched:
            yield from tables
            continue
        yield merge_entries(
            pa.concat_tables(tables), touched[span.index].upserts, touched[span.index].deletes
        )


def merge_entries(table: pa.Table, upserts: pa.Table, deletes: Iterable[str]) -> pa.Table:
    """Sorted table of entries with rows replaced, added and removed."""
    gone = pa.chunked_array(
        [*upserts.column("path").chunks, pa.array(list(deletes), pa.string())], pa.string()
    )
    kept = table.filter(pc.invert(pc.is_in(table.column("path"), value_set=gone.combine_chunks())))
    return pa.concat_tables([kept, upserts]).sort_by("path").combine_chunks()
