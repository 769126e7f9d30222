"""The entries of a dataset as Arrow tables: columns, order, content digest.

A table of entries has the columns of ENTRY_SCHEMA and is sorted by path in UTF-8 byte order, each
path once.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from datetime import datetime
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.errors import EntryOrderError

DIGEST = pa.binary(32)
ENTRY_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("size", pa.int64(), nullable=False),
        pa.field("digest", DIGEST),
        pa.field("media_type", pa.string()),
        pa.field("attributes", pa.string()),
        pa.field("pack", DIGEST),
        pa.field("offset", pa.int64()),
        pa.field("source", pa.string()),
        pa.field("key", pa.string()),
        pa.field("version_id", pa.string()),
        pa.field("etag", pa.string()),
        pa.field("mtime", pa.timestamp("us", "UTC")),
        pa.field("link", pa.string()),
    ]
)
# Only of objects that stay at their source; a range without one does not have these columns.
SOURCE_COLUMNS = ("source", "key", "version_id", "etag", "mtime")
# Only of symbolic links: the target. A range without a link does not have this column.
LINK_COLUMN = "link"
OPTIONAL_COLUMNS = (*SOURCE_COLUMNS, LINK_COLUMN)
# The columns that make up "the same data"; the others only place the bytes. The digest of an object
# at its source is that of its pin (see pins.py), so it changes when the object does. The digest of
# a link is that of its target (see links.py).
LOGICAL_COLUMNS = ("path", "size", "digest", "media_type", "attributes")


class Entry(NamedTuple):
    """One file or symbolic link of a dataset.

    Digests are 32 bytes, size and offset are in bytes, attributes are a JSON string. The bytes
    are in a pack, or at a source: then `digest` is that of the pin. A link has no bytes: `link` is
    its target, `digest` and `size` are those of the target (see links.py).
    """

    path: str
    size: int
    digest: bytes | None
    media_type: str | None = None
    attributes: str | None = None
    pack: bytes | None = None
    offset: int | None = None
    source: str | None = None
    key: str | None = None
    version_id: str | None = None
    etag: str | None = None
    mtime: datetime | None = None
    link: str | None = None


def entries_table(entries: Iterable[Entry]) -> pa.Table:
    """Table of entries, sorted by path."""
    ordered = sorted(entries)
    columns = zip(*ordered, strict=True) if ordered else ((),) * len(ENTRY_SCHEMA)
    arrays = [
        pa.array(column, type_) for column, type_ in zip(columns, ENTRY_SCHEMA.types, strict=True)
    ]
    return pa.Table.from_arrays(arrays, schema=ENTRY_SCHEMA)


def table_entries(table: pa.Table) -> list[Entry]:
    """Rows of a table of entries."""
    columns = (table.column(name).to_pylist() for name in ENTRY_SCHEMA.names)
    return [Entry(*row) for row in zip(*columns, strict=True)]


def check_order(table: pa.Table, previous: str | None = None) -> None:
    """Raise EntryOrderError unless paths ascend strictly, after `previous` if given."""
    paths = table.column("path")
    if previous is not None and len(paths) and paths[0].as_py() <= previous:
        raise EntryOrderError(previous, paths[0].as_py())
    if len(paths) < 2:
        return
    ascending = pc.less(paths.slice(0, len(paths) - 1), paths.slice(1)).to_numpy(
        zero_copy_only=False
    )
    if not ascending.all():
        row = int(np.argmin(ascending))
        raise EntryOrderError(paths[row].as_py(), paths[row + 1].as_py())


def content_digest(table: pa.Table, domain: bytes, columns: Iterable[str]) -> bytes:
    """BLAKE3 (32 bytes) over some columns of a table, independent of how they are stored.

    See "Content digest" in README.md for the byte layout.
    """
    hasher = blake3(domain)
    hasher.update(len(table).to_bytes(8, "little"))
    for name in columns:
        column = table.column(name).combine_chunks()
        hasher.update(_lengths(column).tobytes())
        hasher.update(_values(column))
    return hasher.digest()


def content_of_pieces(
    rows: int, read: Callable[[str], Iterable[pa.Array]], domain: bytes, columns: Iterable[str]
) -> bytes:
    """`content_digest` of rows that are not in memory; `read` gives the pieces of a column."""
    hasher = blake3(domain)
    hasher.update(rows.to_bytes(8, "little"))
    for name in columns:
        for piece in read(name):
            hasher.update(_lengths(piece).tobytes())
        for piece in read(name):
            hasher.update(_values(piece))
    return hasher.digest()


def _lengths(column: pa.Array) -> NDArray[np.int32]:
    """Byte length of each value, shape (rows,), -1 for null."""
    if pa.types.is_string(column.type) and len(column):
        ends = np.frombuffer(column.buffers()[1], "<i4")
        lengths = np.diff(ends[column.offset : column.offset + len(column) + 1])
    else:
        lengths = np.full(len(column), _fixed_bytes(column.type) if len(column) else 0, "<i4")
    if column.null_count == len(column):
        lengths = np.full(len(column), -1, "<i4")
    elif column.null_count:
        lengths[column.is_null().to_numpy(zero_copy_only=False)] = -1
    return lengths


def _fixed_bytes(type_: pa.DataType) -> int:
    width: int = type_.bit_width // 8
    return width


def _values(column: pa.Array) -> bytes | memoryview:
    """The values that are not null, one after the other, little endian."""
    valid = column.drop_null() if column.null_count else column
    if not len(valid):
        return b""
    width = None if pa.types.is_string(valid.type) else _fixed_bytes(valid.type)
    buffers = valid.buffers()
    if width is not None:
        start = valid.offset * width
        return memoryview(buffers[1])[start : start + len(valid) * width]
    offsets = np.frombuffer(buffers[1], "<i4")
    return memoryview(buffers[2] or b"")[offsets[valid.offset] : offsets[valid.offset + len(valid)]]
