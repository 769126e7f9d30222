"""Annotation documents, version 2: all that people say about one picture.

Empty is not skipped: a document without objects says that somebody looked and saw none.
"""

from __future__ import annotations

import json
import secrets
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from atom_sdk.annotations.attributes import AttributeValue, attributes_as_json, read_attributes
from atom_sdk.annotations.json_values import (
    as_flag,
    as_id,
    as_integer,
    as_list,
    as_mapping,
    as_text,
    check_fields,
    read_all,
)
from atom_sdk.annotations.json_values import field as required
from atom_sdk.annotations.problems import DocumentError, Problem, refusal
from atom_sdk.annotations.tracks import KIND_FIELDS, Geometry, geometry_from_json
from atom_sdk.sentences import Sentence

VERSION = 2
_ID_BYTES = 8
_FIELDS = frozenset({"version", "width", "height", "labels", "attributes", "objects", "relations"})
_OBJECT_FIELDS = frozenset({"id", "label", "kind", "attributes", "ignore", "text", "track"})
_RELATION_FIELDS = frozenset({"id", "relation", "from", "to"})


@dataclass(frozen=True, slots=True)
class AnnotatedObject:
    """One object: `label` is the id of its class; `id` stays for the object's life."""

    id: str
    label: int
    geometry: Geometry
    attributes: Mapping[int, AttributeValue] = field(default_factory=dict)
    ignore: bool = False
    text: str | None = None
    track: str | None = None

    def as_json(self) -> dict[str, Any]:
        """Return the canonical form: fields that hold their default are left out."""
        value: dict[str, Any] = {"id": self.id, "label": self.label, **self.geometry.as_json()}
        if self.attributes:
            value["attributes"] = attributes_as_json(self.attributes)
        if self.ignore:
            value["ignore"] = True
        if self.text is not None:
            value["text"] = self.text
        if self.track is not None:
            value["track"] = self.track
        return value


@dataclass(frozen=True, slots=True)
class Relation:
    """A relation of a kind (`relation` is its id) from one object to another, by their ids."""

    id: str
    relation: int
    subject: str
    object: str

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        ends = {"from": self.subject, "to": self.object}
        return {"id": self.id, "relation": self.relation, **ends}


@dataclass(frozen=True, slots=True)
class Document:
    """All that is in a picture of `width` × `height` pixels; the last object is on top.

    A document of version 1 knows no size: both are 0.
    """

    width: int
    height: int
    labels: tuple[int, ...] = ()
    attributes: Mapping[int, AttributeValue] = field(default_factory=dict)
    objects: tuple[AnnotatedObject, ...] = ()
    relations: tuple[Relation, ...] = ()

    def as_json(self) -> dict[str, Any]:
        """Return the canonical form: fields that hold their default are left out."""
        value: dict[str, Any] = {"version": VERSION, "width": self.width, "height": self.height}
        if self.labels:
            value["labels"] = list(self.labels)
        if self.attributes:
            value["attributes"] = attributes_as_json(self.attributes)
        if self.objects:
            value["objects"] = [it.as_json() for it in self.objects]
        if self.relations:
            value["relations"] = [it.as_json() for it in self.relations]
        return value


def new_object_id() -> str:
    """Return a new id of an object, a relation or a track: 8 random bytes in hexadecimal."""
    return secrets.token_hex(_ID_BYTES)


def document_from_json(value: Any, *, width: int = 0, height: int = 0) -> Document:
    """Return the document of a JSON value, of version 2 or 1.

    `width` and `height` are for version 1, which does not name them. Types, fields and finite
    numbers are checked here, all else by `problems_of`. Raises DocumentError with each fault.
    """
    fields = as_mapping(value, "")
    if "version" not in fields and "label_id" in fields:
        return from_version_1(fields, width, height)
    version = required(fields, "version")
    if type(version) is not int or version != VERSION:
        raise refusal(
            "version",
            Sentence(
                "annotations.version_unknown",
                "This version of a document is unknown. Known: 1 and 2.",
            ),
        )
    return _read_document(fields)


def from_version_1(value: Any, width: int = 0, height: int = 0) -> Document:
    """Return the document of `{"label_id": 3}`: one class of the whole picture."""
    fields = as_mapping(value, "")
    check_fields(fields, frozenset({"label_id"}))
    return Document(width, height, labels=(as_integer(required(fields, "label_id"), "label_id"),))


def canonical_json(value: Document | Mapping[str, Any]) -> bytes:
    """Return the bytes that digests and limits count: sorted keys, no spaces, UTF-8."""
    plain = value.as_json() if isinstance(value, Document) else value
    return json.dumps(plain, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()


def _read_document(fields: Mapping[str, Any]) -> Document:
    problems: list[Problem] = []

    def read(name: str, reader: Callable[[Any], Any]) -> Any:
        try:
            return reader(fields[name]) if name in fields else None
        except DocumentError as error:
            problems.extend(error.problems)
            return None

    try:
        check_fields(fields, _FIELDS)
        for name in ("width", "height"):
            required(fields, name)
    except DocumentError as error:
        problems.extend(error.problems)
    width, height = (read(name, partial(as_integer, pointer=name)) for name in ("width", "height"))
    labels = read("labels", partial(_each, "labels", partial(as_integer, pointer="")))
    attributes = read("attributes", read_attributes)
    objects = read("objects", partial(_each, "objects", _read_object))
    relations = read("relations", partial(_each, "relations", _read_relation))
    if problems:
        raise DocumentError(problems)
    rest = tuple(labels or ()), attributes or {}, tuple(objects or ()), tuple(relations or ())
    return Document(width, height, *rest)


def _each(pointer: str, reader: Callable[[Any], Any], value: Any) -> list[Any]:
    return read_all(as_list(value, pointer), pointer, reader)


def _read_object(value: Any) -> AnnotatedObject:
    fields = as_mapping(value, "")
    geometry = geometry_from_json(fields)
    check_fields(fields, _OBJECT_FIELDS | KIND_FIELDS[geometry.kind])
    text, track = fields.get("text"), fields.get("track")
    return AnnotatedObject(
        as_id(required(fields, "id"), "id"),
        as_integer(required(fields, "label"), "label"),
        geometry,
        read_attributes(fields.get("attributes", {})),
        as_flag(fields.get("ignore", False), "ignore"),
        None if text is None else as_text(text, "text"),
        None if track is None else as_id(track, "track"),
    )


def _read_relation(value: Any) -> Relation:
    fields = as_mapping(value, "")
    check_fields(fields, _RELATION_FIELDS)
    return Relation(
        as_id(required(fields, "id"), "id"),
        as_integer(required(fields, "relation"), "relation"),
        as_id(required(fields, "from"), "from"),
        as_id(required(fields, "to"), "to"),
    )
