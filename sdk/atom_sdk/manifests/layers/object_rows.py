"""Rows of an `objects` layer: what is drawn on each picture, one row a picture.

The nested columns cannot be compared or hashed by column. So each row has `content`, the digest of
its annotations, which stands for them in diffs, merges and the layer's own digest.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.manifests.entries import DIGEST

OBJECTS_LAYER = "objects"
OBJECTS_KIND = "objects"
CONTENT = "content"
_ID = pa.binary(8)
OBJECT_TYPE = pa.struct(
    [
        pa.field("id", _ID, nullable=False),
        pa.field("track_id", _ID),
        pa.field("label", pa.string(), nullable=False),
        pa.field("kind", pa.string(), nullable=False),
        pa.field("x", pa.float64(), nullable=False),
        pa.field("y", pa.float64(), nullable=False),
        pa.field("width", pa.float64(), nullable=False),
        pa.field("height", pa.float64(), nullable=False),
        pa.field("area", pa.float64(), nullable=False),
        pa.field("geometry", pa.binary(), nullable=False),
        pa.field("sizes", pa.list_(pa.int32())),
        pa.field("ignore", pa.bool_(), nullable=False),
        pa.field("text", pa.string()),
        pa.field("attributes", pa.string()),
    ]
)
RELATION_TYPE = pa.struct(
    [
        pa.field("id", _ID, nullable=False),
        pa.field("name", pa.string(), nullable=False),
        pa.field("subject", _ID, nullable=False),
        pa.field("object", _ID, nullable=False),
    ]
)
OBJECTS_SCHEMA = pa.schema(
    [
        pa.field("path", pa.string(), nullable=False),
        pa.field("digest", DIGEST),
        pa.field("width", pa.int32(), nullable=False),
        pa.field("height", pa.int32(), nullable=False),
        pa.field("objects", pa.list_(OBJECT_TYPE)),
        pa.field("labels", pa.list_(pa.string())),
        pa.field("attributes", pa.string()),
        pa.field("relations", pa.list_(RELATION_TYPE)),
        pa.field("source", pa.string(), nullable=False),
        pa.field("source_model", pa.string()),
        pa.field("revision", pa.int64()),
        pa.field("annotator", pa.string()),
        pa.field("agreement", pa.float64()),
        pa.field("audit_state", pa.string()),
        pa.field(CONTENT, DIGEST, nullable=False),
    ]
)
# Bounds and area follow from the geometry, so a row's content does without them.
_HASHED = ("id", "track_id", "label", "kind", "geometry", "sizes", "ignore", "text", "attributes")
_DOMAIN = b"atom-objects/1\n"
# Offsets of 32 bits must reach over the bytes of so many rows.
_ROWS_AT_ONCE = 4096


def row_contents(table: pa.Table) -> pa.Array:
    """Return the content digest of each row's annotations, shape (rows,). Layout: README.md."""
    batches = table.to_batches(max_chunksize=_ROWS_AT_ONCE)
    found = [blake3(text).digest() for batch in batches for text in _row_bytes(batch)]
    return pa.array(found, DIGEST)


def with_contents(table: pa.Table) -> pa.Table:
    """Return rows of the schema with their `content` computed anew."""
    position = table.schema.get_field_index(CONTENT)
    return table.set_column(position, OBJECTS_SCHEMA.field(CONTENT), row_contents(table))


def _row_bytes(batch: pa.RecordBatch) -> list[bytes]:
    """The bytes that stand for each row."""
    parts = [pa.array([_DOMAIN] * len(batch), pa.binary())]
    parts += _nested(batch.column("objects"), _HASHED)
    parts += _nested(batch.column("labels"), ())
    # One value a row, as if each row had a list of one.
    parts += _parts(batch.column("attributes"), np.arange(len(batch) + 1))
    parts += _nested(batch.column("relations"), ("id", "name", "subject", "object"))
    texts: list[bytes] = pc.binary_join_element_wise(*parts, b"").to_pylist()
    return texts


def _nested(lists: pa.ListArray, fields: tuple[str, ...]) -> Iterator[pa.Array]:
    """For each row: how many values its list has, and then the fields of these."""
    values = lists.flatten()
    counts = pc.fill_null(pc.list_value_length(lists), 0).to_numpy(zero_copy_only=False)
    yield _cut(counts.astype("<u8"), 8 * np.arange(len(lists) + 1))
    for column in [pc.struct_field(values, name) for name in fields] or [values]:
        yield from _parts(column, _ends(counts))


def _parts(values: pa.Array, ends: NDArray[np.int64]) -> Iterator[pa.Array]:
    """For each row the lengths of its values (int32, -1 for null), and then the values."""
    if pa.types.is_list(values.type):
        lengths = 4 * pc.fill_null(pc.list_value_length(values), 0).to_numpy(zero_copy_only=False)
        data = values.flatten().to_numpy(zero_copy_only=False).astype("<i4")
    elif pa.types.is_boolean(values.type):
        lengths = np.ones(len(values))
        data = values.to_numpy(zero_copy_only=False).astype(np.uint8)
    else:
        lengths = pc.fill_null(pc.binary_length(values), -1).to_numpy(zero_copy_only=False)
        joined = pc.binary_join(
            pa.ListArray.from_arrays([0, len(values)], pc.fill_null(values.cast(pa.binary()), b"")),
            b"",
        )
        data = np.frombuffer(joined[0].as_buffer(), np.uint8)
    yield _cut(lengths.astype("<i4"), 4 * ends)
    yield _cut(data, _ends(np.maximum(lengths, 0))[ends])


def _cut(values: NDArray[Any], ends: NDArray[np.int64]) -> pa.Array:
    """The bytes of values, cut where each row ends."""
    buffers = [None, pa.py_buffer(ends.astype("<i4")), pa.py_buffer(values.tobytes())]
    return pa.Array.from_buffers(pa.binary(), len(ends) - 1, buffers)


def _ends(lengths: NDArray[Any]) -> NDArray[np.int64]:
    return np.concatenate([[0], np.cumsum(lengths, dtype=np.int64)]).astype(np.int64)
