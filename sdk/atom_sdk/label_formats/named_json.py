"""Documents by names as JSON: version 2 of a document, with names in the place of ids."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom_sdk.annotations.geometry import geometry_from_json
from atom_sdk.annotations.json_values import (
    as_flag,
    as_id,
    as_integer,
    as_list,
    as_mapping,
    as_number,
    as_text,
    check_fields,
    field,
    plain_number,
    read_all,
)
from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation, NamedValue
from atom_sdk.annotations.tracks import KIND_FIELDS

VERSION = 2
_FIELDS = frozenset({"version", "width", "height", "labels", "attributes", "objects", "relations"})
_OBJECT_FIELDS = frozenset({"id", "label", "kind", "attributes", "ignore", "text", "track"})
_RELATION_FIELDS = frozenset({"id", "relation", "from", "to"})


def document_json(document: NamedDocument) -> dict[str, Any]:
    """Return the canonical form: fields that hold their default are left out."""
    value: dict[str, Any] = {
        "version": VERSION,
        "width": document.width,
        "height": document.height,
    }
    if document.labels:
        value["labels"] = list(document.labels)
    if document.attributes:
        value["attributes"] = _attributes_json(document.attributes)
    if document.objects:
        value["objects"] = [_object_json(each) for each in document.objects]
    if document.relations:
        value["relations"] = [
            {"id": each.id, "relation": each.name, "from": each.subject, "to": each.object}
            for each in document.relations
        ]
    return value


def _object_json(each: NamedObject) -> dict[str, Any]:
    value: dict[str, Any] = {"id": each.id, "label": each.label, **each.geometry.as_json()}
    if each.attributes:
        value["attributes"] = _attributes_json(each.attributes)
    if each.ignore:
        value["ignore"] = True
    if each.text is not None:
        value["text"] = each.text
    if each.track is not None:
        value["track"] = each.track
    return value


def _attributes_json(attributes: Mapping[str, NamedValue]) -> dict[str, Any]:
    return {name: _value_json(value) for name, value in attributes.items()}


def _value_json(value: NamedValue) -> Any:
    if isinstance(value, tuple):
        return list(value)
    return plain_number(value) if isinstance(value, float) else value


def document_from_json(value: Any) -> NamedDocument:
    """Return the document of a JSON value. Raises DocumentError with each fault."""
    fields = as_mapping(value, "")
    check_fields(fields, _FIELDS)
    return NamedDocument(
        as_integer(field(fields, "width"), "width"),
        as_integer(field(fields, "height"), "height"),
        tuple(as_text(each, "labels") for each in as_list(fields.get("labels", ()), "labels")),
        _attributes(fields.get("attributes", {})),
        tuple(read_all(as_list(fields.get("objects", ()), "objects"), "objects", _object)),
        tuple(read_all(as_list(fields.get("relations", ()), "relations"), "relations", _relation)),
    )


def _object(value: Any) -> NamedObject:
    fields = as_mapping(value, "")
    geometry = geometry_from_json(fields)
    check_fields(fields, _OBJECT_FIELDS | KIND_FIELDS[geometry.kind])
    text, track = fields.get("text"), fields.get("track")
    return NamedObject(
        as_id(field(fields, "id"), "id"),
        as_text(field(fields, "label"), "label"),
        geometry,
        _attributes(fields.get("attributes", {})),
        as_flag(fields.get("ignore", False), "ignore"),
        None if text is None else as_text(text, "text"),
        None if track is None else as_id(track, "track"),
    )


def _relation(value: Any) -> NamedRelation:
    fields = as_mapping(value, "")
    check_fields(fields, _RELATION_FIELDS)
    return NamedRelation(
        as_id(field(fields, "id"), "id"),
        as_text(field(fields, "relation"), "relation"),
        as_id(field(fields, "from"), "from"),
        as_id(field(fields, "to"), "to"),
    )


def _attributes(value: Any) -> dict[str, NamedValue]:
    fields = as_mapping(value, "attributes")
    return {name: _value(each, f"attributes/{name}") for name, each in fields.items()}


def _value(value: Any, pointer: str) -> NamedValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        number = as_number(value, pointer)
        return int(number) if number.is_integer() and isinstance(value, int) else number
    if isinstance(value, list):
        return tuple(as_text(each, pointer) for each in value)
    return as_text(value, pointer)
