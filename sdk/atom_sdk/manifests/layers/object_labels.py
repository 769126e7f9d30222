"""Classes of a layer's objects, counted without reading their geometry."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.layers.object_rows import OBJECT_TYPE, OBJECTS_SCHEMA
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import LayerRef


def objects_schema_of(fields: Sequence[str]) -> pa.Schema:
    """Return path, digest and these fields of objects as columns of the layer."""
    part = pa.struct([OBJECT_TYPE.field(name) for name in fields])
    key = [OBJECTS_SCHEMA.field(name) for name in ("path", "digest")]
    return pa.schema([*key, pa.field("objects", pa.list_(part))])


def count_object_labels(layer: LayerRef, store: ObjectStore, scratch: Path) -> dict[str, int]:
    """Return how many objects of each class there are. Raises what `layer_pieces` raises."""
    counts = Counter[str]()
    for table in layer_pieces(layer, store, scratch, objects_schema_of(["label"])):
        for chunk in table["objects"].chunks:
            labels = pc.struct_field(chunk.flatten(), "label")
            for each in pc.value_counts(labels).to_pylist():
                counts[each["values"]] += each["counts"]
    return dict(sorted(counts.items()))
