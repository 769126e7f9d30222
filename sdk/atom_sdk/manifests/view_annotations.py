"""Annotations of the pictures of a view: its last column, beside path, label and split."""

from __future__ import annotations

from typing import Final

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.joined import part_between
from atom_sdk.manifests.layers.layers import read_layer
from atom_sdk.manifests.layers.object_rows import (
    OBJECTS_KIND,
    OBJECTS_LAYER,
    OBJECTS_SCHEMA,
)
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root

_COLUMNS: Final = ("width", "height", "objects", "labels", "attributes", "relations")


def _roomy(kind: pa.DataType) -> pa.DataType:
    """Return the type with offsets of 64 bits: a view is one batch, of any number of objects."""
    if pa.types.is_string(kind):
        return pa.large_string()
    if kind == pa.binary():
        return pa.large_binary()
    if pa.types.is_list(kind):
        field = kind.value_field
        return pa.large_list(field.with_type(_roomy(field.type)))
    if pa.types.is_struct(kind):
        return pa.struct([field.with_type(_roomy(field.type)) for field in kind])
    return kind


_FIELDS: Final = [
    OBJECTS_SCHEMA.field(name).with_type(_roomy(OBJECTS_SCHEMA.field(name).type))
    for name in _COLUMNS
]
ANNOTATIONS_FIELD: Final = pa.field("annotations", pa.struct(_FIELDS))


def read_annotations(root: Root, store: ObjectStore) -> pa.Table | None:
    """Return path, digest and annotations of a version's layer of objects; None without one."""
    for layer in root.layers:
        if layer.name == OBJECTS_LAYER and layer.kind == OBJECTS_KIND:
            return read_layer(layer, store).select(["path", "digest", *_COLUMNS])
    return None


def with_annotations(rows: pa.Table, layer: pa.Table) -> pa.Table:
    """Return the rows, in path order, with the column `annotations`.

    It is null where nobody has looked at a picture, and where its bytes are others now.
    """
    part = part_between(layer, rows).combine_chunks()
    places = pc.index_in(rows["path"], value_set=part["path"].combine_chunks())
    is_same = pc.equal(part["digest"].take(places), rows["digest"])
    places = pc.if_else(pc.fill_null(is_same, False), places, None).combine_chunks()
    taken = part.take(places)
    arrays = [taken[field.name].combine_chunks().cast(field.type) for field in _FIELDS]
    column = pa.StructArray.from_arrays(arrays, fields=_FIELDS, mask=pc.is_null(places))
    return rows.append_column(ANNOTATIONS_FIELD, column)
