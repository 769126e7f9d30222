"""Layers: values about entries (splits, labels, folder labels), each with a digest of its own.

A row is keyed by path and entry digest: a label belongs to the bytes that the annotator saw, so it
counts for nothing once the file has changed.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.errors import LayerKindError, ManifestCorruptError
from atom_sdk.manifests.entries import DIGEST, check_order, content_digest
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, layer_key
from atom_sdk.manifests.roots import LayerRef

_KEY = [pa.field("path", pa.string(), nullable=False), pa.field("digest", DIGEST)]
LAYER_SCHEMAS: Mapping[str, pa.Schema] = {
    "split": pa.schema([*_KEY, pa.field("value", pa.string(), nullable=False)]),
    "classification": pa.schema(
        [
            *_KEY,
            pa.field("label", pa.string(), nullable=False),
            pa.field("source", pa.string(), nullable=False),
            pa.field("revision", pa.int64()),
            pa.field("annotator", pa.string()),
            pa.field("agreement", pa.float64()),
            pa.field("audit_state", pa.string()),
        ]
    ),
}

MAX_LABEL_BYTES = 255


def is_label(text: str) -> bool:
    """Whether a text can be a label: 1 to 255 bytes, all of it printable."""
    return 0 < len(text.encode()) <= MAX_LABEL_BYTES and text.isprintable()


def layer_schema(kind: str) -> pa.Schema:
    """Columns of a kind of layer. Raises LayerKindError."""
    try:
        return LAYER_SCHEMAS[kind]
    except KeyError as error:
        raise LayerKindError(
            f"There is no kind of layer called {kind!r}; there are {', '.join(LAYER_SCHEMAS)}."
        ) from error


def layer_table(kind: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Table of a layer, sorted by path.

    Rows have `path`, `digest` and the columns of the kind.
    Columns that are left out are null. Raises LayerKindError if a value does not fit its column.
    """
    schema = layer_schema(kind)
    ordered = sorted(rows, key=lambda row: str(row["path"]))
    try:
        return pa.Table.from_pylist([dict(row) for row in ordered], schema=schema)
    except (pa.ArrowException, TypeError) as error:
        raise LayerKindError(
            f"A row does not fit the columns of a {kind} layer: {error}."
        ) from error


def write_layer(name: str, kind: str, table: pa.Table, store: ObjectStore) -> LayerRef:
    """Store a layer.

    Raises LayerKindError for other columns, EntryOrderError for a path out of order.
    """
    schema = layer_schema(kind)
    if table.column_names != schema.names:
        raise LayerKindError(
            f"A {kind} layer has the columns {schema.names}, not {table.column_names}."
        )
    check_order(table)
    table = table.cast(schema).combine_chunks()
    content = content_digest(table, f"atom-layer/1 {kind}\n".encode(), schema.names)
    sink = io.BytesIO()
    pq.write_table(
        table,
        sink,
        compression="zstd",
        use_dictionary=[column for column in schema.names if column not in ("path", "digest")],
        column_encoding={"path": "DELTA_BYTE_ARRAY"},
        store_schema=False,
    )
    data = sink.getvalue()
    digest = digest_of(data)
    store.put(layer_key(digest), data)
    return LayerRef(name, kind, len(table), content, digest)


def read_layer(layer: LayerRef, store: ObjectStore) -> pa.Table:
    """Read and check a layer. Raises ObjectNotFoundError, ManifestCorruptError, LayerKindError."""
    schema = layer_schema(layer.kind)
    key = layer_key(layer.object)
    data = get_verified(store, key, layer.object)
    try:
        table = pq.read_table(pa.BufferReader(data), columns=schema.names)
        return table.select(schema.names).cast(schema).combine_chunks()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise ManifestCorruptError(
            key, f"it is not a Parquet file of a {layer.kind} layer"
        ) from error


def merge_layer(table: pa.Table, upserts: pa.Table, deletes: Iterable[str] = ()) -> pa.Table:
    """Layer table with rows replaced, added and removed by path."""
    gone = pa.concat_arrays(
        [upserts.column("path").combine_chunks(), pa.array(list(deletes), pa.string())]
    )
    kept = table.filter(pc.invert(pc.is_in(table.column("path"), value_set=gone)))
    return pa.concat_tables([kept, upserts.cast(table.schema)]).sort_by("path").combine_chunks()


def current_rows(layer: pa.Table, entries: pa.Table) -> pa.Table:
    """The layer's values for each entry, in the entries' order.

    A row is null where the layer has no row with the entry's path and digest.
    """
    found = pc.index_in(entries.column("path"), value_set=layer.column("path").combine_chunks())
    rows = layer.take(found)
    same = pc.fill_null(pc.equal(rows.column("digest"), entries.column("digest")), False)
    columns = [pc.if_else(same, rows.column(name), None) for name in layer.column_names]
    return pa.table(dict(zip(layer.column_names, columns, strict=True)))
