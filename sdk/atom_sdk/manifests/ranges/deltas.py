"""Delta layers: rows laid over ranges, so that a scattered change does not rewrite them all.

A delta is written once for a whole commit; every range that it touches names it. Format: README.md.
"""

from __future__ import annotations

import threading
from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.entries import ENTRY_SCHEMA, check_order
from atom_sdk.manifests.objects import ObjectStore, delta_key, digest_of, get_verified
from atom_sdk.manifests.ranges.ranges import decode_columns, encode_range

ADDED, CHANGED, REMOVED = "added", "changed", "removed"
DELTA_SCHEMA = pa.schema([*ENTRY_SCHEMA, pa.field("change", pa.string(), nullable=False)])
_CACHED_BYTES = 64 << 20


@dataclass(frozen=True, slots=True)
class DeltaRule:
    """When a change is laid over its ranges instead of being written into them.

    It touches at least `min_ranges` ranges, changes at most `max_share` of their rows, and a range
    carries fewer than `max_depth` deltas already. A writer's choice, not part of the format.
    """

    min_ranges: int = 8
    max_share: float = 0.1
    max_depth: int = 8

    def fits(self, ranges: int, rows: int, changes: int) -> bool:
        """Whether so many changes to `ranges` ranges with `rows` rows are worth a delta."""
        return ranges >= self.min_ranges and changes <= rows * self.max_share


DEFAULT_DELTA_RULE = DeltaRule()


def same_rows(left: pa.Table, right: pa.Table, columns: Iterable[str]) -> pa.ChunkedArray:
    """Whether rows of two tables agree in all columns; null equals null. Shape (rows,)."""
    same = pa.chunked_array([pa.repeat(pa.scalar(True), len(left))])
    for name in columns:
        equal = pc.equal(left[name], right[name])
        if equal.null_count:
            both_null = pc.and_(left[name].is_null(), right[name].is_null())
            equal = pc.or_(both_null, pc.fill_null(equal, False))
        same = pc.and_(same, equal)
    return same


def marked(rows: pa.Table, change: str) -> pa.Table:
    """Entries as rows of a delta."""
    column = pa.repeat(pa.scalar(change), len(rows))
    return rows.append_column(DELTA_SCHEMA.field("change"), column)


def lay_over(table: pa.Table, delta: pa.Table, first: str, last: str) -> pa.Table:
    """Entries from `first` to `last` after the rows of a delta, in the columns of the table."""
    rows = clip(delta, first, last)
    kept = clip(table, first, last)
    paths = rows["path"].combine_chunks()
    kept = kept.filter(pc.invert(pc.is_in(kept["path"], value_set=paths)))
    puts = rows.filter(pc.not_equal(rows["change"], REMOVED)).select(table.column_names)
    return pa.concat_tables([kept, puts]).sort_by("path").combine_chunks()


def clip(table: pa.Table, first: str, last: str) -> pa.Table:
    """Rows of a table sorted by path from the path `first` to the path `last`, both included."""
    paths = table["path"]
    rows = range(len(table))
    low = bisect_left(rows, first, key=lambda row: paths[row].as_py())
    high = bisect_right(rows, last, lo=low, key=lambda row: paths[row].as_py())
    return table.slice(low, high - low)


def write_delta(rows: pa.Table, store: ObjectStore) -> bytes:
    """Store the rows of a delta; returns its digest, 32 bytes. Raises EntryOrderError."""
    check_order(rows)
    data = encode_range(rows)
    digest = digest_of(data)
    store.put(delta_key(digest), data)
    return digest


def read_delta(digest: bytes, store: ObjectStore) -> pa.Table:
    """Read and check a delta. Raises ObjectNotFoundError or ManifestCorruptError.

    The last ones are kept decoded: every range of a version asks for the same few.
    """
    return _recent.get(digest, store)


def read_delta_changes(digest: bytes, store: ObjectStore) -> pa.Table:
    """Path and change of each row of a delta. Raises what `read_delta` raises."""
    columns = ("path", "change")
    known = _recent.peek(digest)
    return known.select(columns) if known else _decode(digest, store, columns)


def _decode(
    digest: bytes, store: ObjectStore, columns: Sequence[str] = DELTA_SCHEMA.names
) -> pa.Table:
    key = delta_key(digest)
    return decode_columns(get_verified(store, key, digest), key, DELTA_SCHEMA, columns)


class _Recent:
    """Decoded deltas by digest, bounded in bytes; for several threads."""

    def __init__(self, max_bytes: int) -> None:
        self._max_bytes = max_bytes
        self._tables: OrderedDict[bytes, pa.Table] = OrderedDict()
        self._lock = threading.Lock()

    def peek(self, digest: bytes) -> pa.Table | None:
        with self._lock:
            return self._tables.get(digest)

    def get(self, digest: bytes, store: ObjectStore) -> pa.Table:
        with self._lock:
            if digest in self._tables:
                self._tables.move_to_end(digest)
                return self._tables[digest]
        table = _decode(digest, store)
        with self._lock:
            self._tables[digest] = table
            while len(self._tables) > 1 and self._bytes() > self._max_bytes:
                self._tables.popitem(last=False)
        return table

    def _bytes(self) -> int:
        return sum(table.nbytes for table in self._tables.values())


_recent = _Recent(_CACHED_BYTES)
