"""Annotations of a COCO file as objects: ids, flags and attributes beside the shape."""

from __future__ import annotations

from collections.abc import Container, Mapping
from typing import Any

from atom_sdk.annotations.geometry import PictureGeometry
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.label_formats import values
from atom_sdk.label_formats.report import LabelReport

_HIGHEST = 1 << 63
Row = Mapping[str, Any]


def object_of(
    row: Row, label: str, shape: PictureGeometry, own: str, report: LabelReport, subject: str
) -> NamedObject:
    """Return the object of an annotation with the id `own`; a crowd is an ignore region."""
    attributes, text = row.get("attributes"), row.get("utf8_string")
    return NamedObject(
        own,
        label,
        shape,
        plain_attributes(attributes, report, subject) if isinstance(attributes, dict) else {},
        bool(row.get("iscrowd")),
        text if isinstance(text, str) else None,
    )


def plain_attributes(attributes: Row, report: LabelReport, subject: str) -> dict[str, Any]:
    """Return the attributes that are a number, a text, a flag or names; others are counted."""
    kept = {str(key): _tupled(v) for key, v in attributes.items() if _is_plain(v)}
    report.count("value_wrong", subject, len(attributes) - len(kept))
    return kept


def id_key(value: Any) -> str:
    """Return an id so that 1, 1.0 and "1" are the same."""
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)[:200]


def own_id(row: Row, taken: Container[str]) -> str:
    """The id that Atom wrote, or COCO's number as an id; "" for none.

    `person_keypoints_…` gives its objects the numbers that `instances_…` gives them: of a number
    that is taken already, the highest bit is set.
    """
    own = row.get("atom_id")
    if isinstance(own, str) and values.object_id(own) == own:
        return own
    number = row.get("id")
    if type(number) is not int or not 0 < number < _HIGHEST:
        return ""
    plain = f"{number:016x}"
    return plain if plain not in taken else f"{number | _HIGHEST:016x}"


def _tupled(value: Any) -> Any:
    return tuple(value) if isinstance(value, list) else value


def _is_plain(value: Any) -> bool:
    if isinstance(value, list):
        return all(isinstance(each, str) for each in value)
    if isinstance(value, float):
        return value == value and abs(value) != float("inf")
    return isinstance(value, str | bool | int)
