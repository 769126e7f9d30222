"""Regions of a Label Studio annotation: its results by id, as objects, classes and relations."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.annotations.geometry import PictureGeometry
from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation
from atom_sdk.label_formats import values
from atom_sdk.label_formats.interface import Reading
from atom_sdk.label_formats.studio_shapes import POINTS, ROLES, shape_of, skeleton_of
from atom_sdk.label_formats.values import ValueRefusedError

# Names that projects give to the control of transcriptions.
_TRANSCRIPTIONS = frozenset({"transcription", "text", "ocr"})
Row = Mapping[str, Any]


@dataclass
class _Region:
    """All results of one id."""

    shape: Row | None = None
    label: str = ""
    attributes: dict[str, Any] = field(default_factory=dict)
    text: str | None = None
    parent: str = ""
    meta: Row = field(default_factory=dict)


class Regions:
    """Reads the results of one annotation."""

    def __init__(
        self,
        results: Sequence[Row],
        size: tuple[int, int],
        reading: Reading,
        subject: str,
        path: str,
    ) -> None:
        self._results = results
        self._size = size
        self._reading = reading
        self._report = reading.report
        self._subject = subject
        self._path = path
        self._regions: dict[str, _Region] = {}
        self._labels: list[str] = []
        self._attributes: dict[str, Any] = {}

    def document(self) -> NamedDocument:
        """Return the picture's document."""
        shapes = {str(row.get("id")) for row in self._results if _is_shape(row)}
        for row in self._results:
            if row.get("type") != "relation":
                self._take(row, shapes)
        objects = self._objects()
        relations = tuple(self._relations(objects))
        return NamedDocument(
            *self._size,
            labels=tuple(dict.fromkeys(self._labels)),
            attributes=self._attributes,
            objects=tuple(objects.values()),
            relations=relations,
        )

    def _take(self, row: Row, shapes: set[str]) -> None:
        key, value = str(row.get("id")), row.get("value")
        if not isinstance(value, dict):
            self._report.count("record_wrong", self._subject)
            return
        if key not in shapes:
            self._take_whole(row, value)
            return
        region = self._regions.setdefault(key, _Region())
        if _is_shape(row):
            region.shape = row
            region.parent = str(row.get("parentID") or "")
            meta = row.get("meta")
            atom = meta.get("atom") if isinstance(meta, dict) else None
            region.meta = atom if isinstance(atom, dict) else {}
        self._describe(region, row, value)

    def _describe(self, region: _Region, row: Row, value: Row) -> None:
        """Take the class, the transcription or an attribute of a region."""
        kind, name = str(row.get("type")), str(row.get("from_name"))
        if kind.endswith("labels") and isinstance(value.get(kind), list) and value[kind]:
            region.label = str(value[kind][0])
        elif kind == "textarea":
            texts = value.get("text")
            text = "\n".join(map(str, texts)) if isinstance(texts, list) else str(texts or "")
            if name in _TRANSCRIPTIONS:
                region.text = text
            else:
                region.attributes[name] = text
        else:
            attribute = _attribute(kind, value)
            if attribute is not None:
                region.attributes[name] = attribute

    def _take_whole(self, row: Row, value: Row) -> None:
        """Take a result of the whole picture."""
        kind, name = str(row.get("type")), str(row.get("from_name"))
        attribute = _attribute(kind, value)
        if attribute is None:
            self._report.count("record_wrong", self._subject)
        elif kind == "choices" and name not in _of_atom(row):
            many = attribute if isinstance(attribute, tuple) else [attribute]
            self._labels += [str(each) for each in many]
        else:
            self._attributes[name] = attribute

    def _objects(self) -> dict[str, NamedObject]:
        children: dict[str, list[_Region]] = {}
        for region in self._regions.values():
            if region.parent in self._regions and _is_point(region):
                children.setdefault(region.parent, []).append(region)
        objects: dict[str, NamedObject] = {}
        for key, region in self._regions.items():
            if region.parent in children and _is_point(region):
                continue
            try:
                objects[key] = self._object(key, region, children.get(key, []))
            except ValueRefusedError as refused:
                self._report.count(refused.code, self._subject)
        return objects

    def _object(self, key: str, region: _Region, points: Sequence[_Region]) -> NamedObject:
        assert region.shape is not None
        label = values.class_name(region.label)
        if points or region.meta.get("points"):
            named = {point.label: (point.shape or {}, point.meta) for point in points}
            note = self._reading.notes.label(label)
            shape: PictureGeometry = skeleton_of(region.shape, region.meta, named, note, self._size)
        else:
            shape = shape_of(region.shape, region.meta, self._size, self._report, self._subject)
        own = values.object_id(key, self._path, key)
        track = region.meta.get("track")
        return NamedObject(
            own,
            label,
            values.placed(shape, *self._size),
            {**region.attributes, **_typed(region.meta)},
            region.meta.get("ignore") is True,
            region.text,
            track if isinstance(track, str) and values.object_id(track) == track else None,
        )

    def _relations(self, objects: Mapping[str, NamedObject]) -> Iterator[NamedRelation]:
        for number, row in enumerate(self._results):
            if row.get("type") != "relation":
                continue
            first, second = str(row.get("from_id")), str(row.get("to_id"))
            if first not in objects or second not in objects:
                self._report.count("relation_wrong", self._subject)
                continue
            if row.get("direction") == "left":
                first, second = second, first
            labels = row.get("labels")
            name = str(labels[0]) if isinstance(labels, list) and labels else "relation"
            own = values.object_id(row.get("id"), self._path, "relation", number)
            yield NamedRelation(own, name, objects[first].id, objects[second].id)


def _of_atom(row: Row) -> Sequence[str]:
    """Names of results of the whole picture that Atom marked as attributes."""
    meta = row.get("meta")
    return [str(row.get("from_name"))] if isinstance(meta, dict) and meta.get("atom") else []


def _typed(meta: Row) -> dict[str, Any]:
    """Attributes that Label Studio has no control for: flags and numbers."""
    attributes = meta.get("attributes")
    if not isinstance(attributes, dict):
        return {}
    kept = (bool, int, float, list)
    return {
        str(key): tuple(map(str, value)) if isinstance(value, list) else value
        for key, value in attributes.items()
        if isinstance(value, kept)
    }


def _is_shape(row: Row) -> bool:
    return row.get("type") in ROLES


def _is_point(region: _Region) -> bool:
    return region.shape is not None and region.shape.get("type") in POINTS


def _attribute(kind: str, value: Row) -> Any:
    """The value of a control: a choice, several, a number or a text."""
    if kind == "choices" and isinstance(value.get("choices"), list):
        names = [str(each) for each in value["choices"]]
        return names[0] if len(names) == 1 else tuple(names) or None
    if kind == "taxonomy" and isinstance(value.get("taxonomy"), list):
        paths = [each for each in value["taxonomy"] if isinstance(each, list) and each]
        names = [str(path[-1]) for path in paths]
        return names[0] if len(names) == 1 else tuple(names) or None
    if kind in ("number", "rating") and type(value.get(kind)) in (int, float):
        return value[kind]
    if kind == "textarea":
        texts = value.get("text")
        return "\n".join(map(str, texts)) if isinstance(texts, list) else str(texts or "")
    return None
