"""Builds and changes roots; only ranges that contain a change are read or written."""

from __future__ import annotations

from bisect import bisect_right
from collections import defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.entries import ENTRY_SCHEMA, check_order
from atom_sdk.manifests.layers.layers import compact_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.parallel import worked_ahead
from atom_sdk.manifests.progress import UNWATCHED, Watch, rows_of
from atom_sdk.manifests.ranges.apply_delta import UNNAMED, lay_changes
from atom_sdk.manifests.ranges.deltas import DEFAULT_DELTA_RULE, DeltaRule, write_delta
from atom_sdk.manifests.ranges.ranges import DEFAULT_RULE, BoundaryRule, split_ranges
from atom_sdk.manifests.ranges.stored import read_range, write_range
from atom_sdk.manifests.roots.regrouping import PathsOfChanges, change_groups
from atom_sdk.manifests.roots.roots import RangeRef, Root, make_root

__all__ = [
    "Changes",
    "apply_changes",
    "build_root",
    "compact",
    "merge_entries",
    "read_range",
    "write_range",
]


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

    A change to few ranges rewrites these; a scattered one is laid over them as a delta. The result
    has the same content digest as a root built from scratch. Layers are carried over as they are; a
    row whose path or digest is gone counts for nothing. If the root has groups, only those with a
    changed path are read. Raises EmptyDatasetError, EntryOrderError.
    """
    check_order(changes.upserts)
    change = _Applied(changes, store, rule, delta_rule)

    def rewrite(ranges: Sequence[RangeRef]) -> list[RangeRef]:
        return change.to_ranges(ranges, watch)

    upserted = changes.upserts["path"].to_pylist()
    paths = PathsOfChanges(upserted, changes.deletes.difference(upserted))
    root = change_groups(parent, paths, rewrite, store, rule)
    if not len(root.ranges):
        raise EmptyDatasetError("The changes would remove every file of the dataset.")
    return root


def compact(root: Root, store: ObjectStore) -> Root:
    """The same content without deltas: ranges and layers that have some are rewritten."""
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


def _rows_touched(spans: Iterable[_Span], touched: Mapping[int, _SpanChanges]) -> int:
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
    """Spans that must be cut again together, and whether they changed at all.

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


class _Made(NamedTuple):
    """The ranges that a run of spans becomes, and the rows of the delta over them."""

    parts: Sequence[RangeRef]
    rows: pa.Table | None = None


class _Applied:
    """Applies changes to ranges; what is laid over them makes one delta."""

    def __init__(
        self, changes: Changes, store: ObjectStore, rule: BoundaryRule, delta_rule: DeltaRule
    ) -> None:
        self._changes = changes
        self._store = store
        self._rule = rule
        self._delta_rule = delta_rule

    def to_ranges(self, ranges: Sequence[RangeRef], watch: Watch) -> list[RangeRef]:
        """The ranges after the changes, in path order."""
        spans = _spans(ranges, self._rule)
        touched = _touched(spans, self._changes)
        known = {part.content: part for part in ranges}
        max_depth = self._delta_rule.max_depth if _fits(self._delta_rule, spans, touched) else 0
        runs = list(_runs(spans, touched, self._changes))
        watch.begin("writing", _rows_touched(spans, touched))

        def make(run: Sequence[_Span]) -> _Made:
            return self._laid_over(run, touched, max_depth) or self._written(run, touched, known)

        changed = [run for run, is_touched in runs if is_touched]
        made = worked_ahead(make, changed) if len(changed) > 1 else map(make, changed)
        parts: list[RangeRef] = []
        rows: list[pa.Table] = []
        for run, is_touched in runs:
            if not is_touched:
                parts.extend(part for span in run for part in span.parts)
                continue
            after = next(made)
            parts.extend(after.parts)
            rows.extend([] if after.rows is None else [after.rows])
            watch.advance(_rows_touched(run, touched))
        return _named(parts, rows, self._store)

    def _laid_over(
        self, run: Sequence[_Span], touched: Mapping[int, _SpanChanges], max_depth: int
    ) -> _Made | None:
        """The range after its changes; None if it must be rewritten."""
        part = run[0].parts[0]
        if len(run) > 1 or len(run[0].parts) > 1 or len(part.deltas) >= max_depth:
            return None
        here = touched[run[0].index]
        laid = lay_changes(part, here.upserts, here.deletes, self._store, self._rule)
        return _Made([laid.part], laid.rows) if laid else None

    def _written(
        self,
        run: Sequence[_Span],
        touched: Mapping[int, _SpanChanges],
        known: Mapping[bytes, RangeRef],
    ) -> _Made:
        tables = split_ranges(_merged_spans(run, touched, self._store), self._rule)
        return _Made([write_range(table, self._store, known) for table in tables])


def _named(
    parts: Sequence[RangeRef], rows: Sequence[pa.Table], store: ObjectStore
) -> list[RangeRef]:
    """Write the delta, if there are rows, and name it in the ranges."""
    if not rows:
        return list(parts)
    digest = write_delta(pa.concat_tables(rows), store)
    return [
        replace(part, deltas=(*part.deltas[:-1], digest))
        if part.deltas and part.deltas[-1] == UNNAMED
        else part
        for part in parts
    ]


def _merged_spans(
    run: Sequence[_Span], touched: Mapping[int, _SpanChanges], store: ObjectStore
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
