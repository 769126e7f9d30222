"""Classes that a layer of objects shows, with counts, read without most of its geometry."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Final

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.annotations.ontology import CLASSIFICATION
from atom_sdk.label_formats.ontology_notes import AttributeNote, OntologyNotes
from atom_sdk.manifests.layers.object_labels import objects_schema_of
from atom_sdk.manifests.layers.object_rows import OBJECTS_SCHEMA, RELATION_TYPE
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import LayerRef

MAX_OBJECTS: Final = 5_000_000
# Distinct texts of attributes that are read: plates and names have one for each object.
_MAX_TEXTS = 20_000
_POINT_BYTES, _BOX_BYTES = 24, 32
_KEYPOINTS: Final = "keypoints"


@dataclass
class SeenClasses:
    """Notes of classes, objects of each class, and pictures that have a row.

    `is_complete` is False where the layer has more objects than were read.
    """

    notes: OntologyNotes = field(default_factory=OntologyNotes)
    objects: Counter[str] = field(default_factory=Counter)
    pictures: int = 0
    is_complete: bool = True


def see_classes(
    layer: LayerRef, store: ObjectStore, scratch: Path, max_objects: int = MAX_OBJECTS
) -> SeenClasses:
    """Return the classes of a layer's objects and pictures. Raises what `layer_pieces` raises."""
    seen = SeenClasses()
    texts: set[tuple[str, str]] = set()
    for table in layer_pieces(layer, store, scratch, _schema()):
        if seen.objects.total() >= max_objects:
            seen.is_complete = False
            break
        seen.pictures += len(table)
        _see_objects(table, seen, texts)
        _see_pictures(table, seen, texts)
    labels = {name for name, note in seen.notes.labels.items() if _KEYPOINTS in note.kinds}
    for name, count in _point_counts(layer, store, scratch, labels).items():
        seen.notes.label(name).points = [f"point {number}" for number in range(1, count + 1)]
    return seen


def _schema() -> pa.Schema:
    objects = objects_schema_of(["label", "kind", "attributes"])
    relations = pa.field("relations", pa.list_(pa.struct([RELATION_TYPE.field("name")])))
    more = [OBJECTS_SCHEMA.field(name) for name in ("labels", "attributes")]
    return pa.schema([*objects, *more, relations])


def _see_objects(table: pa.Table, seen: SeenClasses, texts: set[tuple[str, str]]) -> None:
    objects = _flat(table, "objects")
    names = ("label", "kind", "attributes")
    columns = pa.table({name: pc.struct_field(objects, name) for name in names})
    for row in columns.group_by(list(names)).aggregate([([], "count_all")]).to_pylist():
        name, text = row["label"], row["attributes"]
        note = seen.notes.label(name)
        note.kinds[row["kind"]] = None
        seen.objects[name] += row["count_all"]
        if text and _is_new((name, text), texts):
            _learn(note.attributes, text)


def _see_pictures(table: pa.Table, seen: SeenClasses, texts: set[tuple[str, str]]) -> None:
    for name in pc.unique(_flat(table, "labels")).to_pylist():
        seen.notes.label(name).kinds[CLASSIFICATION] = None
    counts = pc.fill_null(pc.list_value_length(table["labels"]), 0)
    seen.notes.multiple |= (pc.max(counts).as_py() or 0) > 1
    for text in pc.unique(table["attributes"]).to_pylist():
        if text and _is_new(("", text), texts):
            _learn(seen.notes.picture_attributes, text)
    for name in pc.unique(pc.struct_field(_flat(table, "relations"), "name")).to_pylist():
        seen.notes.relations[name] = None


def _flat(table: pa.Table, name: str) -> pa.Array:
    return table[name].combine_chunks().flatten()


def _is_new(text: tuple[str, str], texts: set[tuple[str, str]]) -> bool:
    if text in texts or len(texts) >= _MAX_TEXTS:
        return False
    texts.add(text)
    return True


def _learn(notes: dict[str, AttributeNote], text: str) -> None:
    values: dict[str, Any] = json.loads(text)
    for name, value in values.items():
        notes.setdefault(name, AttributeNote()).show(value)


def _point_counts(
    layer: LayerRef, store: ObjectStore, scratch: Path, labels: set[str]
) -> dict[str, int]:
    """Return the points of each label's skeletons, the most that a piece shows."""
    counts: dict[str, int] = {}
    schema = objects_schema_of(["label", "kind", "geometry"])
    pieces = layer_pieces(layer, store, scratch, schema) if labels else ()
    for table in pieces:
        objects = _flat(table, "objects")
        drawn = objects.filter(pc.equal(pc.struct_field(objects, "kind"), _KEYPOINTS))
        sizes = pc.binary_length(pc.struct_field(drawn, "geometry"))
        rows = pa.table({"label": pc.struct_field(drawn, "label"), "size": sizes})
        for row in _distinct(rows):
            has_box = row["size"] % _POINT_BYTES
            points = (row["size"] - (_BOX_BYTES if has_box else 0)) // _POINT_BYTES
            counts[row["label"]] = max(points, counts.get(row["label"], 0))
        if counts.keys() >= labels:
            break
    return counts


def _distinct(rows: pa.Table) -> Sequence[dict[str, Any]]:
    found: list[dict[str, Any]] = rows.group_by(rows.column_names).aggregate([]).to_pylist()
    return found
