"""Ranges: runs of entries in Parquet, cut where the hash of a path says so."""

from __future__ import annotations

import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq
from numpy.typing import NDArray
from xxhash import xxh3_64_intdigest

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.entries import (
    ENTRY_SCHEMA,
    LINK_COLUMN,
    LOGICAL_COLUMNS,
    OPTIONAL_COLUMNS,
    SOURCE_COLUMNS,
    check_order,
    content_digest,
)

_RANGE_DOMAIN = b"atom-range/1\n"
_ENCODINGS = {
    "path": "DELTA_BYTE_ARRAY",
    "size": "DELTA_BINARY_PACKED",
    "offset": "DELTA_BINARY_PACKED",
}
# Objects of at least this size have their columns decoded side by side.
_MANY_BYTES = 1 << 20
_SOURCE_ENCODINGS = {"key": "DELTA_BYTE_ARRAY", "mtime": "DELTA_BINARY_PACKED"}


@dataclass(frozen=True, slots=True)
class BoundaryRule:
    """Where ranges begin: at each path with xxh3_64(path) % modulus == 0.

    And after `cap` rows without such a path. The format fixes the defaults; tests use smaller
    numbers.
    """

    modulus: int = 4096
    cap: int = 65_536

    def begins(self, path: str) -> bool:
        """Whether a range begins at this path, whatever its neighbours."""
        return xxh3_64_intdigest(path.encode()) % self.modulus == 0


DEFAULT_RULE = BoundaryRule()


def range_content(table: pa.Table) -> bytes:
    """Content digest of a range, 32 bytes: logical columns only."""
    return content_digest(table, _RANGE_DOMAIN, LOGICAL_COLUMNS)


def encode_range(table: pa.Table) -> bytes:
    """Parquet bytes of a table of entries.

    Without an object at a source there are no columns for one, and without a link none for its
    target, so that such ranges stay byte for byte what they were before these columns came.
    """
    dictionaries, encodings = ["media_type", "pack"], dict(_ENCODINGS)
    if table.column("source").null_count == len(table):
        table = table.drop_columns(list(SOURCE_COLUMNS))
    else:
        dictionaries.append("source")
        encodings |= _SOURCE_ENCODINGS
    if table.column(LINK_COLUMN).null_count == len(table):
        table = table.drop_columns([LINK_COLUMN])
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        use_dictionary=dictionaries,
        column_encoding=encodings,
        store_schema=False,
    )
    return sink.getvalue()


def decode_range(data: bytes, key: str, columns: Sequence[str] = ENTRY_SCHEMA.names) -> pa.Table:
    """Table of entries, or some of its columns, from Parquet bytes. Raises ManifestCorruptError."""
    return decode_columns(data, key, ENTRY_SCHEMA, columns)


def decode_columns(data: bytes, key: str, schema: pa.Schema, columns: Sequence[str]) -> pa.Table:
    """Some columns of an object with the columns of an entry. Raises ManifestCorruptError."""
    try:
        file = pq.ParquetFile(pa.BufferReader(data))
        return stored_columns(file, schema, columns, threads=len(data) >= _MANY_BYTES)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise ManifestCorruptError(key, "it is not a Parquet file of entries") from error


def stored_columns(
    file: pq.ParquetFile, schema: pa.Schema, columns: Sequence[str], *, threads: bool = False
) -> pa.Table:
    """Some columns of an opened object; optional ones are null where it left them out.

    Raises KeyError for another column that it left out, ValueError for nulls where none may be,
    and what Arrow raises.
    """
    found = file.read(columns=list(columns), use_threads=threads)
    fields = [schema.field(name) for name in columns]
    if found.schema.equals(pa.schema(fields)):
        return found.combine_chunks()
    named = set(found.column_names)
    arrays = [
        pa.nulls(len(found), field.type)
        if field.name in OPTIONAL_COLUMNS and field.name not in named
        else _fitted(found[field.name], field)
        for field in fields
    ]
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields)).combine_chunks()


def _fitted(column: pa.ChunkedArray, field: pa.Field) -> pa.ChunkedArray:
    if column.null_count and not field.nullable:
        raise ValueError(f"{field.name} has nulls")
    return column if column.type == field.type else column.cast(field.type)


def split_ranges(
    tables: Iterable[pa.Table], rule: BoundaryRule = DEFAULT_RULE
) -> Iterator[pa.Table]:
    """Cut a sorted stream of entry tables into ranges.

    The cuts depend on the set of paths only, never on how the stream was cut before. Holds one
    range at a time. Raises EntryOrderError.
    """
    pending: list[pa.Table] = []
    rows = 0
    previous: str | None = None
    for table in tables:
        if not len(table):
            continue
        check_order(table, previous)
        previous = table.column("path")[-1].as_py()
        start = 0
        for cut in _cuts(table, rows, rule):
            pending.append(table.slice(start, cut - start))
            if piece := _joined(pending):
                yield piece
            pending, start, rows = [], cut, 0
        pending.append(table.slice(start))
        rows += len(table) - start
    if piece := _joined(pending):
        yield piece


def _joined(tables: list[pa.Table]) -> pa.Table | None:
    joined = pa.concat_tables(tables).combine_chunks() if tables else None
    return joined if joined is not None and len(joined) else None


def _cuts(table: pa.Table, rows_before: int, rule: BoundaryRule) -> Iterator[int]:
    """Rows of the table at which a range begins; `rows_before` are already in the open range."""
    begin = -rows_before
    marks = [int(row) for row in np.flatnonzero(_begins(table, rule))]
    for mark in [*marks, len(table)]:
        while mark - begin > rule.cap:
            begin += rule.cap
            yield begin
        if mark < len(table):
            begin = mark
            yield mark


def _begins(table: pa.Table, rule: BoundaryRule) -> NDArray[np.bool_]:
    paths = table.column("path").to_pylist()
    return np.fromiter((rule.begins(path) for path in paths), np.bool_, len(paths))
