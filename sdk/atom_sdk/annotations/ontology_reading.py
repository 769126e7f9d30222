"""Reads ontologies of JSON: types and fields here, all else by `Ontology.problems`."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import partial
from typing import Any, TypeVar

from atom_sdk.annotations.json_values import (
    as_flag,
    as_integer,
    as_list,
    as_mapping,
    as_number,
    as_text,
    check_fields,
    field,
    read_all,
)
from atom_sdk.annotations.ontology_model import (
    CLASSIFICATION,
    Attribute,
    Choice,
    Condition,
    Label,
    Ontology,
    RelationKind,
    Skeleton,
)
from atom_sdk.annotations.problems import DocumentError, refusal
from atom_sdk.sentences import Sentence

T = TypeVar("T")
_LABEL_FIELDS = frozenset(Label.__slots__)
_ATTRIBUTE_FIELDS = frozenset(Attribute.__slots__)
_SCHEMA_FIELDS = frozenset({"multiple", "attributes", "relations"})


def ontology_from_json(labels: Any, schema: Any = None) -> Ontology:
    """Return the ontology of a version's `labels` and `schema`; labels may be of the old form.

    Raises DocumentError for wrong types and unknown fields.
    """
    fields = as_mapping({} if schema is None else schema, "schema")
    check_fields(fields, _SCHEMA_FIELDS, "schema")
    try:
        attributes = _each(fields, "attributes", _read_attribute)
        relations = _each(fields, "relations", _read_relation)
        multiple = as_flag(_or(fields, "multiple", False), "multiple")
    except DocumentError as error:
        raise DocumentError(it.below("schema") for it in error.problems) from None
    read = read_all(as_list(labels, "labels"), "labels", _read_label)
    return Ontology(tuple(read), multiple, attributes, relations)


def _read_label(value: Any) -> Label:
    fields = as_mapping(value, "")
    check_fields(fields, _LABEL_FIELDS)
    return Label(
        as_integer(field(fields, "id"), "id"),
        as_text(field(fields, "name"), "name"),
        as_text(_or(fields, "color", ""), "color"),
        as_text(_or(fields, "hotkey", ""), "hotkey"),
        _optional(fields, "parent", as_integer),
        _each(fields, "tools", partial(as_text, pointer=""), (CLASSIFICATION,)),
        _each(fields, "attributes", _read_attribute),
        _optional(fields, "skeleton", _read_skeleton),
        as_flag(_or(fields, "ignore", False), "ignore"),
    )


def _read_attribute(value: Any) -> Attribute:
    fields = as_mapping(value, "")
    check_fields(fields, _ATTRIBUTE_FIELDS)
    return Attribute(
        as_integer(field(fields, "id"), "id"),
        as_text(field(fields, "name"), "name"),
        as_text(field(fields, "kind"), "kind"),
        as_flag(_or(fields, "required", False), "required"),
        _optional(fields, "default", _read_default),
        _each(fields, "choices", _read_choice),
        as_flag(_or(fields, "multiple", False), "multiple"),
        _optional(fields, "min", as_number),
        _optional(fields, "max", as_number),
        _optional(fields, "step", as_number),
        _optional(fields, "pattern", as_text),
        _optional(fields, "max_length", as_integer),
        as_flag(_or(fields, "per_frame", False), "per_frame"),
        _optional(fields, "when", _read_condition),
    )


def _read_choice(value: Any) -> Choice:
    fields = as_mapping(value, "")
    check_fields(fields, frozenset(Choice.__slots__))
    return Choice(as_integer(field(fields, "id"), "id"), as_text(field(fields, "name"), "name"))


def _read_default(value: Any, pointer: str) -> Any:
    if isinstance(value, bool):
        return value
    if isinstance(value, int | float):
        number = as_number(value, pointer)
        return as_integer(number, pointer) if number.is_integer() else number
    if isinstance(value, list | tuple):
        return tuple(as_integer(it, pointer) for it in value)
    return as_text(value, pointer)


def _read_condition(value: Any, pointer: str) -> Condition:
    fields = as_mapping(value, pointer)
    check_fields(fields, frozenset({"attribute", "is"}), pointer)
    values = as_list(field(fields, "is"), f"{pointer}/is")
    return Condition(
        as_integer(field(fields, "attribute"), f"{pointer}/attribute"),
        tuple(it if isinstance(it, bool) else as_integer(it, f"{pointer}/is") for it in values),
    )


def _read_skeleton(value: Any, pointer: str) -> Skeleton:
    fields = as_mapping(value, pointer)
    check_fields(fields, frozenset(Skeleton.__slots__), pointer)
    try:
        sigmas = _each(fields, "sigmas", partial(as_number, pointer=""))
        return Skeleton(
            _each(fields, "points", _read_point_name),
            _each(fields, "edges", _read_pair),
            _each(fields, "flips", _read_pair),
            None if fields.get("sigmas") is None else sigmas,
        )
    except DocumentError as error:
        raise DocumentError(it.below(pointer) for it in error.problems) from None


def _read_point_name(value: Any) -> str:
    fields = as_mapping(value, "")
    check_fields(fields, frozenset({"name"}))
    return as_text(field(fields, "name"), "name")


def _read_pair(value: Any) -> tuple[int, int]:
    numbers = as_list(value, "")
    if len(numbers) != 2:
        raise refusal(
            "",
            Sentence("annotations.pair_not_two", "Expected two numbers of points, such as [0, 1]."),
        )
    return as_integer(numbers[0], "0"), as_integer(numbers[1], "1")


def _read_relation(value: Any) -> RelationKind:
    fields = as_mapping(value, "")
    check_fields(fields, frozenset({"id", "name", "from", "to"}))
    return RelationKind(
        as_integer(field(fields, "id"), "id"),
        as_text(field(fields, "name"), "name"),
        _optional(fields, "from", _read_ids),
        _optional(fields, "to", _read_ids),
    )


def _read_ids(value: Any, pointer: str) -> tuple[int, ...]:
    return tuple(as_integer(it, pointer) for it in as_list(value, pointer))


def _or(fields: Mapping[str, Any], name: str, default: Any) -> Any:
    value = fields.get(name)
    return default if value is None else value


def _optional(fields: Mapping[str, Any], name: str, read: Callable[[Any, str], T]) -> T | None:
    value = fields.get(name)
    return None if value is None else read(value, name)


def _each(
    fields: Mapping[str, Any], name: str, read: Callable[[Any], T], default: tuple[T, ...] = ()
) -> tuple[T, ...]:
    value = fields.get(name)
    return default if value is None else tuple(read_all(as_list(value, name), name, read))
