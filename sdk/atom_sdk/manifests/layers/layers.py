"""Layers: values about entries (splits, labels, folder labels), each with a digest of its own.

A row is keyed by path and entry digest: a label belongs to the bytes that the annotator saw, so it
counts for nothing once the file has changed.
"""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import reduce
from itertools import chain
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.errors import LayerKindError, ManifestCorruptError
from atom_sdk.manifests.entries import DIGEST, check_order, content_digest
from atom_sdk.manifests.layers.deltas import (
    DEFAULT_LAYER_DELTA_RULE,
    LayerDeltaRule,
    compared_columns,
    delta_schema,
    lay_over_layer,
    layer_delta_rows,
    put_rows,
)
from atom_sdk.manifests.layers.object_rows import (
    CONTENT,
    OBJECTS_KIND,
    OBJECTS_SCHEMA,
    row_contents,
    with_contents,
)
from atom_sdk.manifests.layers.stored_rows import stored_names, write_rows
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, layer_key
from atom_sdk.manifests.roots.roots import LayerRef
from atom_sdk.sentences import Sentence

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
    OBJECTS_KIND: OBJECTS_SCHEMA,
}

MAX_LABEL_BYTES = 255


def is_label(text: str) -> bool:
    """Whether a text can be a label: 1 to 255 bytes, all of it printable."""
    # Half a character is not printable; asked first, since it has no bytes.
    return text.isprintable() and 0 < len(text.encode()) <= MAX_LABEL_BYTES


def layer_schema(kind: str) -> pa.Schema:
    """Columns of a kind of layer. Raises LayerKindError."""
    try:
        return LAYER_SCHEMAS[kind]
    except KeyError as error:
        raise LayerKindError(
            Sentence(
                "layers.kind_unknown",
                "There is no kind of layer called {kind}; there are {kinds}.",
                kind=repr(kind),
                kinds=", ".join(LAYER_SCHEMAS),
            )
        ) from error


def layer_table(kind: str, rows: Iterable[Mapping[str, Any]]) -> pa.Table:
    """Table of a layer, sorted by path.

    Rows have `path`, `digest` and the columns of the kind.
    Columns that are left out are null. Raises LayerKindError if a value does not fit its column.
    """
    schema = layer_schema(kind)
    ordered = sorted(rows, key=lambda row: str(row["path"]))
    try:
        table = pa.Table.from_pylist([dict(row) for row in ordered], schema=schema)
        return with_contents(table) if kind == OBJECTS_KIND else table
    except (pa.ArrowException, TypeError) as error:
        raise LayerKindError(
            Sentence(
                "layers.row_does_not_fit",
                "A row does not fit the columns of a {kind} layer: {reason}.",
                kind=kind,
                reason=error,
            )
        ) from error


def write_layer(name: str, kind: str, table: pa.Table, store: ObjectStore) -> LayerRef:
    """Store a layer.

    Raises LayerKindError for other columns, EntryOrderError for a path out of order.
    """
    table = _checked(kind, table)
    return LayerRef(
        name, kind, len(table), layer_content(kind, table), put_rows_object(table, store)
    )


def change_layer(
    before: LayerRef,
    table: pa.Table,
    store: ObjectStore,
    rule: LayerDeltaRule = DEFAULT_LAYER_DELTA_RULE,
    *,
    old: pa.Table | None = None,
) -> LayerRef:
    """Store the next state of a layer: what is written follows the change where that is small.

    The same rows are the layer as it is. `old` are the rows before, where these have been read.
    Raises what `write_layer` and `read_layer` raise.
    """
    table = _checked(before.kind, table)
    content = layer_content(before.kind, table)
    if content == before.content:
        return before
    if rule.fits(before.rows, len(before.deltas), abs(len(table) - before.rows)):
        rows = layer_delta_rows(read_layer(before, store) if old is None else old, table)
        if rule.fits(before.rows, len(before.deltas), len(rows)):
            deltas = (*before.deltas, put_rows_object(rows, store))
            return replace(before, rows=len(table), content=content, deltas=deltas)
    return LayerRef(before.name, before.kind, len(table), content, put_rows_object(table, store))


def compact_layer(layer: LayerRef, store: ObjectStore) -> LayerRef:
    """The same layer in one object."""
    if not layer.deltas:
        return layer
    return replace(layer, object=put_rows_object(read_layer(layer, store), store), deltas=())


def layer_content(kind: str, table: pa.Table) -> bytes:
    """Content digest of a layer's rows, 32 bytes, however they are stored."""
    return content_digest(table, content_domain(kind), content_columns(kind))


def content_columns(kind: str) -> list[str]:
    """Columns that the content digest covers; nested ones are in the row's own digest."""
    return ["path", *compared_columns(layer_schema(kind))]


def annotations_fit(kind: str, table: pa.Table) -> bool:
    """Whether what rows say of their nested columns is so; looks into all of them."""
    return kind != OBJECTS_KIND or bool(
        pc.all(pc.equal(table[CONTENT], row_contents(table)), min_count=0).as_py()
    )


def content_domain(kind: str) -> bytes:
    """The beginning of the content digest's input, for a kind of layer."""
    return f"atom-layer/1 {kind}\n".encode()


def _checked(kind: str, table: pa.Table) -> pa.Table:
    schema = layer_schema(kind)
    if table.column_names != schema.names:
        raise LayerKindError(
            Sentence(
                "layers.columns_differ",
                "A {kind} layer has the columns {expected}, not {columns}.",
                kind=kind,
                expected=schema.names,
                columns=table.column_names,
            )
        )
    check_order(table)
    return table.cast(schema).combine_chunks()


def put_rows_object(table: pa.Table, store: ObjectStore) -> bytes:
    """Store the rows of a layer or of a delta over one; returns the object's digest."""
    sink = io.BytesIO()
    write_rows([table], table.schema, sink)
    data = sink.getvalue()
    digest = digest_of(data)
    store.put(layer_key(digest), data)
    return digest


def read_layer(layer: LayerRef, store: ObjectStore) -> pa.Table:
    """Read and check a layer. Raises ObjectNotFoundError, ManifestCorruptError, LayerKindError."""
    schema = layer_schema(layer.kind)
    table = _read(layer.object, schema, layer.kind, store)
    for delta in layer.deltas:
        table = lay_over_layer(table, _read(delta, delta_schema(schema), layer.kind, store))
    if layer.deltas and layer_content(layer.kind, table) != layer.content:
        raise ManifestCorruptError(layer_key(layer.deltas[-1]), "it does not fit what it lies over")
    return table


def read_values(layer: LayerRef, column: str, store: ObjectStore) -> pa.Table:
    """Read `path`, `digest` and one column of a layer. Raises what `read_layer` raises."""
    schema = layer_schema(layer.kind)
    names = ["path", "digest", column]
    if layer.deltas:
        return read_layer(layer, store).select(names)
    return _read(layer.object, pa.schema(map(schema.field, names)), layer.kind, store)


def read_differing(
    before: LayerRef, after: LayerRef, store: ObjectStore
) -> tuple[pa.Table, pa.Table]:
    """Rows of two states of a layer, of which those that are left out are in both.

    Where they share an object, rows at paths that no delta names are left out.
    """
    if (before.kind, before.object) != (after.kind, after.object):
        return read_layer(before, store), read_layer(after, store)
    schema = layer_schema(before.kind)
    sides = [
        [_read(delta, delta_schema(schema), before.kind, store) for delta in layer.deltas]
        for layer in (before, after)
    ]
    paths = pc.unique(pa.chunked_array([c for d in chain(*sides) for c in d["path"].chunks]))
    base = _read(before.object, schema, before.kind, store)
    base = base.filter(pc.is_in(base["path"], value_set=paths))
    old, new = (reduce(lay_over_layer, deltas, base) for deltas in sides)
    return old, new


def _read(digest: bytes, schema: pa.Schema, kind: str, store: ObjectStore) -> pa.Table:
    key = layer_key(digest)
    data = get_verified(store, key, digest)
    try:
        table = pq.ParquetFile(pa.BufferReader(data)).read(columns=stored_names(schema))
        return table.select(schema.names).cast(schema).combine_chunks()
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise ManifestCorruptError(key, f"it is not a Parquet file of a {kind} layer") from error


def merge_layer(table: pa.Table, upserts: pa.Table, deletes: Iterable[str] = ()) -> pa.Table:
    """Layer table with rows replaced, added and removed by path."""
    return put_rows(table, upserts.cast(table.schema), pa.array(list(deletes), pa.string()))


def current_rows(layer: pa.Table, entries: pa.Table) -> pa.Table:
    """The layer's values for each entry, in the entries' order.

    A row is null where the layer has no row with the entry's path and digest.
    """
    found = pc.index_in(entries.column("path"), value_set=layer.column("path").combine_chunks())
    rows = layer.take(found)
    same = pc.fill_null(pc.equal(rows.column("digest"), entries.column("digest")), False)
    columns = [pc.if_else(same, rows.column(name), None) for name in layer.column_names]
    return pa.table(dict(zip(layer.column_names, columns, strict=True)))
