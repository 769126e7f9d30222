"""Values of attributes: a choice's id, several of them, a number, a text or a flag."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from atom_sdk.annotations.json_values import (
    as_integer,
    as_list,
    as_mapping,
    as_number,
    as_text,
    plain_number,
    shown,
)
from atom_sdk.annotations.problems import MAX_PROBLEMS, DocumentError, Problem, refusal
from atom_sdk.sentences import Sentence

AttributeValue = int | float | str | bool | tuple[int, ...]
_ID = re.compile(r"0|[1-9][0-9]{0,9}")


def read_attributes(value: Any, pointer: str = "attributes") -> dict[int, AttributeValue]:
    """Return values by attribute id, in the order of ids. Raises DocumentError."""
    attributes: dict[int, AttributeValue] = {}
    problems: list[Problem] = []
    for key, item in as_mapping(value, pointer).items():
        try:
            attributes[_attribute_id(key, pointer)] = _value(item, f"{pointer}/{key}")
        except DocumentError as error:
            problems += error.problems
            if len(problems) >= MAX_PROBLEMS:
                break
    if problems:
        raise DocumentError(problems)
    return dict(sorted(attributes.items()))


def attributes_as_json(attributes: Mapping[int, AttributeValue]) -> dict[str, Any]:
    """Return values by attribute id as text."""
    return {str(key): value_as_json(value) for key, value in attributes.items()}


def value_as_json(value: Any) -> Any:
    """Return one value as JSON shows it."""
    if isinstance(value, tuple):
        return list(value)
    return plain_number(value) if isinstance(value, float) else value


def _attribute_id(key: Any, pointer: str) -> int:
    if not isinstance(key, str) or not _ID.fullmatch(key):
        raise refusal(
            pointer,
            Sentence(
                "annotations.attribute_no_id",
                "The key of an attribute is its id, such as 4; not {value}.",
                value=shown(key),
            ),
        )
    return int(key)


def _value(value: Any, pointer: str) -> AttributeValue:
    if isinstance(value, bool):
        return value
    if isinstance(value, str):
        return as_text(value, pointer)
    if isinstance(value, int | float):
        number = as_number(value, pointer)
        plain = plain_number(number)
        # 3 and 3.0 are the same value of JSON, so that they become the same value here.
        return plain if isinstance(plain, int) else number
    if isinstance(value, list | tuple):
        return tuple(as_integer(item, pointer) for item in as_list(value, pointer))
    raise refusal(
        pointer,
        Sentence(
            "annotations.attribute_no_value",
            "A value of an attribute is a choice, a list of choices, a number, a text or a flag.",
        ),
    )
