"""Bodies of requests: JSON of limited depth, without unknown fields."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import IO, Any

from rest_framework import parsers, serializers
from rest_framework.exceptions import ErrorDetail

from atom.core.errors import Invalid, MalformedBody
from atom.core.field_errors import flatten_errors
from atom_sdk.sentences import Sentence

# Deeper than any settings of a person; what is stored must be readable by every JSON library.
MAX_DEPTH = 64


class JSONParser(parsers.JSONParser):
    """DRF's parser, which fails on deep nesting in ways of its own."""

    def parse(
        self,
        stream: IO[Any],
        media_type: str | None = None,
        parser_context: Mapping[str, Any] | None = None,
    ) -> Any:
        """Return the parsed body. Raises MalformedBody, also for what cannot be stored."""
        try:
            found = super().parse(stream, media_type, parser_context)
        except RecursionError:
            raise _too_deep() from None
        if is_deeper_than(found, MAX_DEPTH):
            raise _too_deep()
        _check_values(found)
        return found


def check(body: serializers.BaseSerializer[Any]) -> None:
    """Validate a body. Raises Invalid, which also names fields that do not exist."""
    unknown = {name: [said] for name, said in _unknown(body, body.initial_data, "")}
    if body.is_valid():
        wrong: dict[str, list[str]] = {}
    else:
        wrong = flatten_errors(body.errors)
    if errors := {**unknown, **wrong}:
        raise Invalid(errors=errors)


def _unknown(field: Any, data: Any, prefix: str) -> Iterator[tuple[str, str]]:
    if isinstance(field, serializers.ListSerializer) and isinstance(data, list):
        for index, row in enumerate(data):
            yield from _unknown(field.child, row, f"{prefix}{index}.")
    if not isinstance(field, serializers.Serializer) or not isinstance(data, Mapping):
        return
    known = {name: child for name, child in field.fields.items() if not child.read_only}
    for name, value in data.items():
        if name in known:
            yield from _unknown(known[name], value, f"{prefix}{name}.")
        else:
            said = f"There is no such field. Known are: {', '.join(known)}."
            yield f"{prefix}{name}", ErrorDetail(said, code="unknown_field")


def is_deeper_than(found: Any, depth: int) -> bool:
    """Return whether lists and objects of parsed JSON lie deeper in each other than that."""
    level = [found] if isinstance(found, dict | list) else []
    for _ in range(depth):
        level = [
            inner
            for outer in level
            for inner in (outer.values() if isinstance(outer, dict) else outer)
            if isinstance(inner, dict | list)
        ]
        if not level:
            return False
    return True


def _check_values(found: Any) -> None:
    r"""Raise MalformedBody for values that cannot be stored or answered.

    These are half of a surrogate pair (`"\ud800"`), and numbers such as 1e999, which are read as
    infinite.
    """
    try:
        json.dumps(found, ensure_ascii=False, allow_nan=False).encode()
    except UnicodeEncodeError as error:
        half = error.object[error.start].encode(errors="backslashreplace").decode()
        detail = Sentence(
            "core.half_character",
            "A text in the JSON holds {half}, which is half of a character.",
            half=half,
        )
        raise MalformedBody(detail) from None
    except ValueError:
        raise MalformedBody(
            Sentence("core.json_number_too_large", "A number in the JSON is too large.")
        ) from None


def _too_deep() -> MalformedBody:
    return MalformedBody(
        Sentence(
            "core.json_too_deep",
            "The body is nested more than {levels} levels deep.",
            levels=MAX_DEPTH,
        )
    )
