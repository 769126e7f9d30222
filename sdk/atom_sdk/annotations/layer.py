"""The layer `objects`: documents as rows of Arrow columns, and back.

Rows hold names in place of ids. Coordinates are float64 bytes, so that they come back to the bit.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.annotations.attributes import read_attributes, value_as_json
from atom_sdk.annotations.box_columns import BoxColumns, BoxDocument
from atom_sdk.annotations.documents import Document, document_from_json
from atom_sdk.annotations.layer_reading import documents_of
from atom_sdk.annotations.naming import NamedDocument, named_attributes, to_named
from atom_sdk.annotations.object_columns import ObjectColumns
from atom_sdk.annotations.ontology_model import Attribute, Ontology
from atom_sdk.manifests.layers.object_rows import (
    CONTENT,
    OBJECTS_SCHEMA,
    RELATION_TYPE,
    row_contents,
)

__all__ = ["PictureRow", "documents_of", "objects_schema", "row_batches", "rows_table"]

_BATCH_ROWS = 4096
# A batch ends after so many coordinates (64 MiB), so that memory stays flat.
_BATCH_NUMBERS = 8 << 20
_KEPT_TEXTS = 10_000


@dataclass(frozen=True, slots=True)
class PictureRow:
    """A picture's annotations and where they come from.

    `document` is a document, its JSON as it was checked and stored (the fast way) or boxes alone
    (the fastest): these need their `ontology`; a NamedDocument needs none. `digest` are the 32
    bytes of the picture's entry.
    `width` and `height` stand for those of a document of version 1, which names none.
    """

    path: str
    digest: bytes
    document: Document | NamedDocument | BoxDocument | Mapping[str, Any]
    ontology: Ontology | None = None
    source: str = "human"
    source_model: str | None = None
    revision: int | None = None
    annotator: str | None = None
    agreement: float | None = None
    audit_state: str | None = None
    width: int = 0
    height: int = 0


def objects_schema() -> pa.Schema:
    """Return the columns of the layer."""
    return OBJECTS_SCHEMA


def rows_table(rows: Iterable[PictureRow]) -> pa.Table:
    """Return the layer of rows, sorted by path in UTF-8 order.

    Rows that come in that order are not sorted again. Raises DocumentError for a document that does
    not fit its ontology.
    """
    table = pa.Table.from_batches(row_batches(rows), OBJECTS_SCHEMA)
    paths = table.column("path")
    if len(table) > 1 and not pc.all(pc.less_equal(paths[:-1], paths[1:])).as_py():
        return table.sort_by("path")
    return table


def row_batches(
    rows: Iterable[PictureRow],
    *,
    max_rows: int = _BATCH_ROWS,
    max_numbers: int = _BATCH_NUMBERS,
) -> Iterator[pa.RecordBatch]:
    """Yield the rows in their order, in batches that bound the memory.

    A batch ends with the row that brings it to `max_rows` pictures or `max_numbers` coordinates.
    """
    batch = _Batch()
    names: dict[int, tuple[Ontology, _Names]] = {}
    for row in rows:
        if row.ontology is None:
            batch.add_named(row)
        else:
            # By identity: comparing ontologies costs more than a picture. The entry keeps it alive.
            if id(row.ontology) not in names:
                names[id(row.ontology)] = row.ontology, _Names(row.ontology)
            batch.add(row, names[id(row.ontology)][1])
        if len(batch) >= max_rows or batch.numbers >= max_numbers:
            yield batch.record_batch()
            batch = _Batch()
    if len(batch):
        yield batch.record_batch()


class _Names:
    """Names of an ontology's ids, as the columns take them."""

    def __init__(self, ontology: Ontology) -> None:
        self.ontology = ontology
        self.labels = {label.id: label.name for label in ontology.labels}
        self.ignored = frozenset(label.id for label in ontology.labels if label.ignore)
        self.relations = {kind.id: kind.name for kind in ontology.relations}
        self._texts: dict[tuple[int | None, str], str | None] = {}

    def attributes(self, values: Mapping[str, Any] | None, label: int | None) -> str | None:
        """Return the text of attributes by names, of a label's object or of the picture."""
        if not values:
            return None
        key = label, repr(values)
        if key not in self._texts:
            if len(self._texts) > _KEPT_TEXTS:
                self._texts.clear()
            scope: tuple[Attribute, ...] = self.ontology.attributes
            if label is not None:
                scope = self.ontology.attributes_of(label)
            self._texts[key] = _attributes_text(named_attributes(read_attributes(values), scope))
        return self._texts[key]


class _Batch:
    """Rows that become one record batch."""

    def __init__(self) -> None:
        self._rows: list[PictureRow] = []
        self._sizes: list[tuple[int, int]] = []
        self._objects = ObjectColumns()
        self._boxes = BoxColumns()
        self._only_boxes: list[bool] = []
        self._object_ends = [0]
        self._labels: list[list[str]] = []
        self._attributes: list[str | None] = []
        self._relations: list[dict[str, Any]] = []
        self._relation_ends = [0]

    def __len__(self) -> int:
        return len(self._rows)

    @property
    def numbers(self) -> int:
        """Coordinates of all rows."""
        return self._objects.numbers + self._boxes.numbers

    def add(self, row: PictureRow, names: _Names) -> None:
        value = row.document
        if isinstance(value, Document):
            value = value.as_json()
        if isinstance(value, NamedDocument):
            raise TypeError("a NamedDocument has no ontology")
        if not isinstance(value, BoxDocument) and "version" not in value:
            value = document_from_json(value, width=row.width, height=row.height).as_json()
        try:
            if isinstance(value, BoxDocument):
                self._take_boxes(row, value, names)
            else:
                self._take(row, value, names)
        except (KeyError, TypeError, ValueError, AttributeError):
            _explain(row)
            raise

    def _take_boxes(self, row: PictureRow, value: BoxDocument, names: _Names) -> None:
        labels = [names.labels[number] for number in value.labels]
        self._boxes.extend(value, labels, [number in names.ignored for number in value.labels])
        self._end(row, value.width, value.height, [], None)

    def _take(self, row: PictureRow, value: Mapping[str, Any], names: _Names) -> None:
        attributes = names.attributes(value.get("attributes"), None)
        labels = [names.labels[number] for number in value.get("labels", ())]
        items = value.get("objects", ())
        self._objects.extend(
            items,
            [names.labels[it["label"]] for it in items],
            [names.attributes(it.get("attributes"), it["label"]) for it in items],
            [it.get("ignore", False) or it["label"] in names.ignored for it in items],
        )
        for item in value.get("relations", ()):
            name = names.relations[item["relation"]]
            self._relate(item["id"], name, item["from"], item["to"])
        self._end(row, value["width"], value["height"], labels, attributes)

    def add_named(self, row: PictureRow) -> None:
        named = row.document
        if not isinstance(named, NamedDocument):
            raise TypeError("a document by ids needs its ontology")
        self._objects.extend(
            [
                {"id": it.id, "text": it.text, "track": it.track, **it.geometry.as_json()}
                for it in named.objects
            ],
            [it.label for it in named.objects],
            [_attributes_text(it.attributes) for it in named.objects],
            [it.ignore for it in named.objects],
        )
        for relation in named.relations:
            self._relate(relation.id, relation.name, relation.subject, relation.object)
        text = _attributes_text(named.attributes)
        self._end(row, named.width, named.height, list(named.labels), text)

    def _relate(self, number: str, name: str, subject: str, item: str) -> None:
        ends = {"subject": bytes.fromhex(subject), "object": bytes.fromhex(item)}
        self._relations.append({"id": bytes.fromhex(number), "name": name, **ends})

    def _end(
        self, row: PictureRow, width: int, height: int, labels: list[str], attributes: str | None
    ) -> None:
        self._rows.append(row)
        self._sizes.append((width or row.width, height or row.height))
        self._labels.append(labels)
        self._attributes.append(attributes)
        self._only_boxes.append(isinstance(row.document, BoxDocument))
        self._object_ends.append(len(self._objects) + len(self._boxes))
        self._relation_ends.append(len(self._relations))

    def record_batch(self) -> pa.RecordBatch:
        try:
            return self._record_batch()
        except (TypeError, ValueError, OverflowError):
            for row in self._rows:
                _explain(row)
            raise

    def _record_batch(self) -> pa.RecordBatch:
        rows = self._rows
        relations = pa.array(self._relations, RELATION_TYPE)
        columns: dict[str, Any] = {
            "width": [width for width, _ in self._sizes],
            "height": [height for _, height in self._sizes],
            "objects": _lists(self._object_ends, self._object_array()),
            "labels": self._labels,
            "attributes": self._attributes,
            "relations": _lists(self._relation_ends, relations),
            CONTENT: [bytes(OBJECTS_SCHEMA.field(CONTENT).type.byte_width)] * len(rows),
        }
        arrays = []
        for field in OBJECTS_SCHEMA:
            values = columns.get(field.name)
            if values is None:
                values = [getattr(row, field.name) for row in rows]
            is_array = isinstance(values, pa.Array)
            arrays.append(values if is_array else pa.array(values, field.type))
        contents = row_contents(pa.Table.from_arrays(arrays, schema=OBJECTS_SCHEMA))
        arrays[OBJECTS_SCHEMA.get_field_index(CONTENT)] = contents
        return pa.RecordBatch.from_arrays(arrays, schema=OBJECTS_SCHEMA)

    def _object_array(self) -> pa.StructArray:
        """Return the objects of all rows, those that came as boxes in their places."""
        if not len(self._boxes):
            return self._objects.array()
        if not len(self._objects):
            return self._boxes.array()
        is_box = np.repeat(self._only_boxes, np.diff(self._object_ends))
        places = np.where(is_box, len(self._objects) + np.cumsum(is_box), np.cumsum(~is_box)) - 1
        return pa.concat_arrays([self._objects.array(), self._boxes.array()]).take(pa.array(places))


def _explain(row: PictureRow) -> None:
    """Raise DocumentError with the faults of a document that columns did not take."""
    value = row.document
    if row.ontology is not None and not isinstance(value, NamedDocument):
        plain = value.as_json() if isinstance(value, Document | BoxDocument) else value
        to_named(document_from_json(plain), row.ontology)


def _lists(ends: list[int], values: pa.Array) -> pa.ListArray:
    return pa.ListArray.from_arrays(pa.array(ends, pa.int32()), values)


def _attributes_text(values: Mapping[str, Any]) -> str | None:
    if not values:
        return None
    plain = {name: value_as_json(value) for name, value in values.items()}
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
