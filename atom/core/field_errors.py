"""Errors of fields for programs: a code, and the values that the sentence names.

Clients translate by these. The codes are those of Django REST framework, finer where it has one
for different things; its exceptions hold sentences only, so values are read back from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from functools import cache
from typing import Any

from rest_framework.exceptions import ErrorDetail

from atom_sdk.sentences import Sentence, SentenceCode

# An error repeats this many characters of an unknown choice.
_CHOICE_CHARS = 200
# Code of a sentence that has no code of its own.
UNCODED = "invalid"
# A validator's code would be part of every migration that names it.
SLUG_PATTERN = r"^[a-z0-9](?:[a-z0-9._-]{0,61}[a-z0-9])?$"
SLUG_RULE = "Use 1 to 63 lower-case letters, digits, dots, dashes and underscores."
# Finer codes for DRF's `invalid`, by the kind of field.
_KINDS = {
    "IntegerField": "not_an_integer",
    "BigIntegerField": "not_an_integer",
    "FloatField": "not_a_number",
    "BooleanField": "not_a_boolean",
    "CharField": "not_text",
    "UUIDField": "not_a_uuid",
    "URLField": "not_a_url",
    "EmailField": "not_an_email",
    "JSONField": "not_json",
    "RegexField": "wrong_pattern",
}
_OF_ITEMS = {"max_length": "max_items", "min_length": "min_items"}
_LIMITED: set[str] = {
    "max_length", "min_length", "max_value", "min_value", "password_too_short",
    "password_too_uniform", *_OF_ITEMS.values()
}  # fmt: skip
# Each has a sentence in every language of the portal; the others are told as they are.
FIELD_CODES = (
    _LIMITED
    | set(_KINDS.values())
    | {"slug", "required", "null", "blank", "empty", "unique", "does_not_exist", "incorrect_type"}
    | {"password_too_common", "password_entirely_numeric", "password_too_similar"}
    | {"invalid_choice", "not_a_list", "not_a_dict", "not_a_time", "max_string_length", "overflow"}
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_INPUT = re.compile(r'^"(.*)" is not', re.DOTALL)
_TIME = re.compile(r"^(Datetime|Date|Time) has wrong format")


def codes_of(errors: Mapping[str, Iterable[str]]) -> dict[str, list[dict[str, Any]]]:
    """Return `{"field": [{"code": …, "params": {…}}]}`, as many as there are sentences."""
    return {name: [_code_of(said) for said in sentences] for name, sentences in errors.items()}


def _code_of(said: str) -> dict[str, Any]:
    if isinstance(said, Sentence):
        return said.as_code()
    if isinstance(said, ErrorDetail) and isinstance(said.code, SentenceCode):
        return said.code.as_code()
    code = (said.code if isinstance(said, ErrorDetail) else "") or UNCODED
    if code == UNCODED:
        code = "not_a_time" if _TIME.match(said) else _finer().get(str(said), UNCODED)
    elif said.endswith(" elements."):
        code = _OF_ITEMS.get(code, code)
    return {"code": code, "params": _params_of(code, said)}


@cache
def _finer() -> dict[str, str]:
    # Imported late: the sentences are translated, which needs all apps.
    from rest_framework import serializers

    kinds = {getattr(serializers, name): code for name, code in _KINDS.items()}
    said = {str(kind.default_error_messages["invalid"]): code for kind, code in kinds.items()}
    return {**said, SLUG_RULE: "slug"}


def _params_of(code: str, said: str) -> dict[str, Any]:
    if code in _LIMITED and (number := _NUMBER.search(said)):
        text = number.group()
        return {"limit": float(text) if "." in text else int(text)}
    if code == "invalid_choice" and (given := _INPUT.match(said)):
        return {"input": given.group(1)}
    return {}


def flatten_errors(detail: Any, prefix: str = "") -> dict[str, list[str]]:
    """Return `{"field.0.name": [messages]}` for DRF's nested error detail, codes kept."""
    if isinstance(detail, Mapping):
        flat: dict[str, list[str]] = {}
        for key, value in detail.items():
            flat.update(flatten_errors(value, f"{prefix}.{key}" if prefix else str(key)))
        return flat
    if isinstance(detail, list) and any(isinstance(item, Mapping | list) for item in detail):
        flat = {}
        for index, item in enumerate(detail):
            if item:
                flat.update(flatten_errors(item, f"{prefix}.{index}" if prefix else str(index)))
        return flat
    messages = detail if isinstance(detail, list) else [detail]
    return {prefix or "non_field_errors": [_as_text(message) for message in messages]}


def _as_text(message: Any) -> str:
    given = _INPUT.match(message) if getattr(message, "code", "") == "invalid_choice" else None
    if given and len(given[1]) > _CHOICE_CHARS:
        # The sentence begins with the value that was sent, however long.
        rest = message[given.end(1) :]
        message = ErrorDetail(f'"{given[1][:_CHOICE_CHARS]}…{rest}', message.code)
    return message if isinstance(message, str) else str(message)


def encodable(value: Any) -> Any:
    r"""Return a JSON value that UTF-8 can hold: half of a surrogate pair becomes its escape.

    JSON lets a client write one (`"\ud800"`), and a problem repeats what it refuses.
    """
    if isinstance(value, str):
        return value.encode(errors="backslashreplace").decode()
    if isinstance(value, Mapping):
        return {encodable(key): encodable(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [encodable(item) for item in value]
    return value
