"""Reads the fields of a request: JSON as protobuf writes it, or the query of a GET.

Protobuf's JSON writes 64-bit numbers as text or number, and NaN as `"NaN"`; both are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from atom.mlflow_api.errors import BadParameter
from atom_sdk.runner.metric_rows import NOT_FINITE, number

_INT64 = 1 << 63
_WORDS = {word: float(word) for word in NOT_FINITE}


class Message:
    """The fields of one message; a missing one reads as its default. All raise BadParameter."""

    def __init__(self, fields: object, place: str = "") -> None:
        if not isinstance(fields, Mapping):
            raise BadParameter(f"Expected an object{' at ' + place if place else ''}.")
        self._fields = fields
        self._place = f"{place}." if place else ""

    def has(self, name: str) -> bool:
        """Return whether the field was given."""
        return self._fields.get(name) is not None

    def text(self, name: str, default: str | None = None, *, most: int = 5000) -> str:
        """Return a text; without a default the field is required, and not empty."""
        found = self._fields.get(name)
        if isinstance(found, bool) or not isinstance(found, str | int | float | None):
            raise self._wrong(name, "a string", found)
        if found is None or (found == "" and default is None):
            if default is None:
                raise BadParameter(
                    f"Missing value for required parameter '{self._place}{name}'. "
                    "See the API docs for more information about request parameters."
                )
            return default
        text = str(found)
        if len(text) > most:
            raise BadParameter(
                f"'{self._place}{name}' exceeds the maximum length of {most} characters: "
                f"it has {len(text)}."
            )
        if "\0" in text:
            raise BadParameter(f"'{self._place}{name}' holds a NUL character.")
        return text

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number of 64 bits; without a default the field is required."""
        found = self._fields.get(name)
        if found is None:
            if default is None:
                raise BadParameter(f"Missing value for required parameter '{self._place}{name}'.")
            return default
        try:
            if isinstance(found, bool) or (isinstance(found, float) and found != int(found)):
                raise ValueError
            number = int(found)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(name, "a whole number", found) from None
        if not -_INT64 <= number < _INT64:
            raise self._wrong(name, "a number of 64 bits", found)
        return number

    def limit(self, name: str, default: int, most: int) -> int:
        """Return how many results are asked for, from 1 to `most`."""
        number = self.whole(name, default)
        if not 0 < number <= most:
            raise BadParameter(
                f"Invalid value for request parameter {name}. It must be at most {most} and at "
                f"least 1, but got value {number}."
            )
        return number

    def value(self, name: str) -> float:
        """Return a metric's value, which may be NaN or infinite."""
        found = self._fields.get(name)
        if isinstance(found, bool) or found is None:
            raise self._wrong(name, "a number", found)
        try:
            return _WORDS[found] if isinstance(found, str) and found in _WORDS else float(found)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(name, "a number", found) from None

    def flag(self, name: str) -> bool:
        """Return whether it was said to be so."""
        found = self._fields.get(name, False)
        if isinstance(found, str) and found.lower() in {"true", "false"}:
            return found.lower() == "true"
        if not isinstance(found, bool | None):
            raise self._wrong(name, "true or false", found)
        return bool(found)

    def values(self, name: str) -> Sequence[Any]:
        """Return a list; one that is missing is empty."""
        found = self._fields.get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self._wrong(name, "a list", found)
        return found

    def texts(self, name: str, *, most: int = 1000) -> list[str]:
        """Return a list of texts."""
        found = self.values(name)
        if len(found) > most:
            raise BadParameter(f"'{self._place}{name}' has more than {most} values.")
        return [Message({"it": one}, f"{self._place}{name}").text("it", "") for one in found]

    def message(self, name: str) -> Message:
        """Return a message within this one; it is required."""
        return Message(self._fields.get(name), f"{self._place}{name}")

    def messages(self, name: str, *, most: int = 1000) -> list[Message]:
        """Return a list of messages."""
        found = self.values(name)
        if len(found) > most:
            raise BadParameter(
                f"A batch logging request can contain at most {most} {name}. "
                f"Got {len(found)} {name}. Please split up {name} across multiple requests "
                "and try again."
            )
        return [Message(one, f"{self._place}{name}[{at}]") for at, one in enumerate(found)]

    def _wrong(self, name: str, wanted: str, found: object) -> BadParameter:
        shown = repr(found)[:100]
        return BadParameter(
            f"Invalid value {shown} for parameter '{self._place}{name}' supplied: "
            f"expected {wanted}."
        )


def number_as_json(value: float | None) -> float | str:
    """Return a value as protobuf's JSON has it: NaN and infinity are words."""
    return number(math.nan if value is None else value)
