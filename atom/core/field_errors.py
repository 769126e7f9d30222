"""What is wrong with a field, for programs: a code, and the values that its sentence names.

Clients translate by these. The codes are those of Django REST framework, finer where it has one
for different things; its exceptions hold sentences only, so values are read back from them.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from typing import Any

from rest_framework import serializers
from rest_framework.exceptions import ErrorDetail

# What a sentence is that has no code of its own.
UNCODED = "invalid"
# A validator's code would be part of every migration that names it.
SLUG_RULE = "Use 1 to 63 lower-case letters, digits, dots, dashes and underscores."
_KINDS: tuple[tuple[str, type[serializers.Field[Any, Any, Any, Any]]], ...] = (
    ("not_an_integer", serializers.IntegerField),
    ("not_an_integer", serializers.BigIntegerField),
    ("not_a_number", serializers.FloatField),
    ("not_a_boolean", serializers.BooleanField),
    ("not_text", serializers.CharField),
    ("not_a_uuid", serializers.UUIDField),
    ("not_a_url", serializers.URLField),
    ("not_an_email", serializers.EmailField),
    ("not_json", serializers.JSONField),
    ("wrong_pattern", serializers.RegexField),
)
_FINER = {
    **{str(kind.default_error_messages["invalid"]): code for code, kind in _KINDS},
    SLUG_RULE: "slug",
}
_OF_ITEMS = {"max_length": "max_items", "min_length": "min_items"}
_LIMITED: set[str] = {"max_length", "min_length", "max_value", "min_value", *_OF_ITEMS.values()}
# Each has a sentence in every language of the portal; the others are told as they are.
FIELD_CODES = (
    _LIMITED
    | set(_FINER.values())
    | {"required", "null", "blank", "empty", "unique", "does_not_exist", "incorrect_type"}
    | {"invalid_choice", "not_a_list", "not_a_dict", "not_a_time", "max_string_length", "overflow"}
)
_NUMBER = re.compile(r"-?\d+(?:\.\d+)?")
_INPUT = re.compile(r'^"(.*)" is not', re.DOTALL)
_TIME = re.compile(r"^(Datetime|Date|Time) has wrong format")


def codes_of(errors: Mapping[str, Iterable[str]]) -> dict[str, list[dict[str, Any]]]:
    """Return `{"field": [{"code": …, "params": {…}}]}`, as many as there are sentences."""
    return {name: [_code_of(said) for said in sentences] for name, sentences in errors.items()}


def _code_of(said: str) -> dict[str, Any]:
    code = (said.code if isinstance(said, ErrorDetail) else "") or UNCODED
    if code == UNCODED:
        code = "not_a_time" if _TIME.match(said) else _FINER.get(str(said), UNCODED)
    elif said.endswith(" elements."):
        code = _OF_ITEMS.get(code, code)
    return {"code": code, "params": _params_of(code, said)}


def _params_of(code: str, said: str) -> dict[str, Any]:
    if code in _LIMITED and (number := _NUMBER.search(said)):
        text = number.group()
        return {"limit": float(text) if "." in text else int(text)}
    if code == "invalid_choice" and (given := _INPUT.match(said)):
        return {"input": given.group(1)}
    return {}
