"""The difference between ranges, from their logical columns: paths at once, rows on request."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from numpy.typing import NDArray

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.entries import ENTRY_SCHEMA, LOGICAL_COLUMNS
from atom_sdk.manifests.objects import ObjectStore, get_verified, range_key
from atom_sdk.manifests.parallel import worked_ahead
from atom_sdk.manifests.ranges.deltas import same_rows
from atom_sdk.manifests.ranges.ranges import stored_columns
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.ranges.stored import read_range
from atom_sdk.manifests.roots.groups import range_position

NO_PATHS = pa.array([], pa.string())
NO_ROWS = pa.array([], pa.bool_())


class DifferingPaths(NamedTuple):
    """Paths at which two sides differ, each an array in path order."""

    added: pa.Array
    removed: pa.Array
    changed: pa.Array


def compare_ranges(
    old: Sequence[RangeRef], new: Sequence[RangeRef], store: ObjectStore
) -> DifferingPaths:
    """Compare the ranges of a part of two versions.

    Raises ObjectNotFoundError, ManifestCorruptError.
    """
    if not old or not new:
        before, after = (_table(parts, store, ("path",))["path"] for parts in (old, new))
        return DifferingPaths(after.combine_chunks(), before.combine_chunks(), NO_PATHS)
    if len(old) == len(new) == 1 and not old[0].deltas and not new[0].deltas:
        return _compare_stored(_Stored(old[0], store), _Stored(new[0], store))
    return _compare_tables(*(_table(parts, store, LOGICAL_COLUMNS) for parts in (old, new)))


class _Stored:
    """The object of one range; its columns are decoded when they are asked for."""

    def __init__(self, part: RangeRef, store: ObjectStore) -> None:
        self._key = range_key(part.object)
        self._data = get_verified(store, self._key, part.object)
        try:
            self._file = pq.ParquetFile(pa.BufferReader(self._data))
        except (pa.ArrowException, OSError, ValueError) as error:
            raise self._corrupt() from error

    def alike(self, other: _Stored) -> set[str]:
        """The columns that both hold as the same bytes; others may still have the same values."""
        mine, theirs = self._file.metadata, other._file.metadata
        if mine.num_row_groups != 1 or theirs.num_row_groups != 1 or mine.schema != theirs.schema:
            return set()
        chunks = mine.row_group(0), theirs.row_group(0)
        return {
            name
            for number, name in enumerate(mine.schema.names)
            if self._same_bytes(other, chunks[0].column(number), chunks[1].column(number))
        }

    def columns(self, names: Sequence[str]) -> pa.Table:
        try:
            return stored_columns(self._file, ENTRY_SCHEMA, names)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise self._corrupt() from error

    def _same_bytes(
        self, other: _Stored, mine: pq.ColumnChunkMetaData, theirs: pq.ColumnChunkMetaData
    ) -> bool:
        if mine.total_compressed_size != theirs.total_compressed_size:
            return False
        is_alike = np.array_equal(self._chunk(mine), other._chunk(theirs))
        return is_alike and mine.compression == theirs.compression

    def _chunk(self, chunk: pq.ColumnChunkMetaData) -> NDArray[np.uint8]:
        dictionary = chunk.dictionary_page_offset
        start = chunk.data_page_offset if dictionary is None else dictionary
        return np.frombuffer(self._data, np.uint8, chunk.total_compressed_size, start)

    def _corrupt(self) -> ManifestCorruptError:
        return ManifestCorruptError(self._key, "it is not a Parquet file of entries")


def _compare_stored(old: _Stored, new: _Stored) -> DifferingPaths:
    alike = old.alike(new)
    if "path" not in alike:
        return _compare_tables(old.columns(LOGICAL_COLUMNS), new.columns(LOGICAL_COLUMNS))
    # Row by row the same paths: what else is stored alike cannot differ.
    unlike = [name for name in LOGICAL_COLUMNS[1:] if name not in alike]
    if not unlike:
        return DifferingPaths(NO_PATHS, NO_PATHS, NO_PATHS)
    changed = _only(new.columns(("path",))["path"], _differing(old, new, unlike))
    return DifferingPaths(NO_PATHS, NO_PATHS, changed)


def _differing(old: _Stored, new: _Stored, unlike: Sequence[str]) -> pa.Array:
    """Which rows differ in the columns that are stored unlike; shape (rows,)."""
    # Where all bytes of all files are others, nothing else of them needs to be decoded.
    columns = sorted(unlike, key=lambda name: name != "digest")
    differs = NO_ROWS
    for name in columns:
        same = same_rows(old.columns((name,)), new.columns((name,)), (name,))
        other = pc.invert(same).combine_chunks()
        differs = pc.or_(differs, other) if len(differs) else other
        if differs.true_count == len(differs):
            break
    return differs


def _compare_tables(old: pa.Table, new: pa.Table) -> DifferingPaths:
    old_row = pc.index_in(new["path"], value_set=old["path"].combine_chunks()).combine_chunks()
    is_known, rows = old_row.is_valid(), old_row.drop_null()
    is_gone = np.ones(len(old), np.bool_)
    is_gone[rows.to_numpy()] = False
    both_old, both_new = old.take(rows), new.filter(is_known)
    differs = pc.invert(same_rows(both_old, both_new, LOGICAL_COLUMNS[1:]))
    return DifferingPaths(
        added=_only(new["path"], pc.invert(is_known)),
        removed=_only(old["path"], pa.array(is_gone)),
        changed=_only(both_new["path"], differs),
    )


def _only(paths: pa.ChunkedArray, mask: pa.Array | pa.ChunkedArray) -> pa.Array:
    return (paths if pc.all(mask).as_py() else paths.filter(mask)).combine_chunks()


def _table(parts: Sequence[RangeRef], store: ObjectStore, columns: Sequence[str]) -> pa.Table:
    return concat_columns((read_range(part, store, columns) for part in parts), columns)


def rows_at(
    ranges: Sequence[RangeRef],
    paths: pa.Array,
    store: ObjectStore,
    columns: Sequence[str] = ENTRY_SCHEMA.names,
) -> pa.Table:
    """The entries at sorted paths, which are all there; only ranges that have some are read."""
    wanted = list(_by_range(ranges, paths.to_pylist()))

    def read(item: tuple[RangeRef, int, int]) -> pa.Table:
        part, first, last = item
        table = read_range(part, store, columns)
        return table.filter(pc.is_in(table["path"], value_set=paths.slice(first, last - first)))

    tables = worked_ahead(read, wanted) if len(wanted) > 1 else map(read, wanted)
    return concat_columns(tables, columns)


def _by_range(
    ranges: Sequence[RangeRef], paths: Sequence[str]
) -> Iterator[tuple[RangeRef, int, int]]:
    """Ranges and the positions of the first of their paths and of the one after the last."""
    first = 0
    while first < len(paths):
        part = ranges[range_position(ranges, paths[first])]
        last = bisect_right(paths, part.max, lo=first)
        yield part, first, last
        first = last


def concat_columns(tables: Iterable[pa.Table], columns: Sequence[str]) -> pa.Table:
    """One table, of one chunk, of tables with some columns of an entry."""
    none = ENTRY_SCHEMA.empty_table().select(columns)
    return pa.concat_tables([none, *tables]).combine_chunks()
