"""The rows of a layer of objects at some paths, without reading what lies between them."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.layers.deltas import delta_schema
from atom_sdk.manifests.layers.layers import annotations_fit, layer_schema, merge_layer
from atom_sdk.manifests.layers.stored_rows import stored_names
from atom_sdk.manifests.objects import layer_key
from atom_sdk.manifests.ranges.deltas import REMOVED
from atom_sdk.manifests.roots.roots import LayerRef

# Opens an object by its key, such that a part of it can be read.
Opens = Callable[[str], Any]


def pick_rows(layer: LayerRef, paths: Sequence[str], opens: Opens) -> pa.Table:
    """Return the rows at paths, which are in order; paths without a row are left out.

    Objects are not read whole, so their digests prove nothing: each row's own content does.
    Raises ManifestCorruptError and what `opens` raises.
    """
    schema = layer_schema(layer.kind)
    table = _picked(layer.object, paths, schema, opens)
    for delta in layer.deltas:
        rows = _picked(delta, paths, delta_schema(schema), opens)
        is_gone = pc.equal(rows["change"], REMOVED)
        puts = rows.filter(pc.invert(is_gone)).select(schema.names)
        table = merge_layer(table, puts, rows["path"].filter(is_gone).to_pylist())
    if not annotations_fit(layer.kind, table):
        raise ManifestCorruptError(layer_key(layer.object), "a row's digest is of other objects")
    return table


def _picked(digest: bytes, paths: Sequence[str], schema: pa.Schema, opens: Opens) -> pa.Table:
    key = layer_key(digest)
    wanted = pa.array(paths, pa.string())
    try:
        with pq.ParquetFile(opens(key), buffer_size=0, pre_buffer=True) as file:
            groups = list(_groups_of(file.metadata, paths))
            table = schema.empty_table()
            if groups:
                rows = file.read_row_groups(groups, columns=stored_names(schema))
                table = rows.select(schema.names).cast(schema)
    except (pa.ArrowException, OSError, ValueError, KeyError) as error:
        raise ManifestCorruptError(key, "it is not a Parquet file of a layer") from error
    return table.filter(pc.is_in(table["path"], value_set=wanted)).combine_chunks()


def _groups_of(metadata: pq.FileMetaData, paths: Sequence[str]) -> Iterator[int]:
    """Yield the row groups that may have one of the paths; `path` is the first column."""
    for number in range(metadata.num_row_groups):
        known = metadata.row_group(number).column(0).statistics
        if (
            known is None
            or not known.has_min_max
            or bisect_right(paths, known.max) > bisect_left(paths, known.min)
        ):
            yield number
