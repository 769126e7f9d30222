"""Reads the fields of a request: JSON as protobuf writes it, or the query of a GET.

Protobuf's JSON writes 64-bit numbers as text or number, and NaN as `"NaN"`; both are read.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from atom.mlflow_api.engines.fields import check_fields, invalid, missing
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

    def check(self, endpoint: str) -> None:
        """Check the types of all fields of a request to `METHOD route`."""
        check_fields(endpoint, self._fields)

    def has(self, name: str) -> bool:
        """Return whether the field was given."""
        return self._fields.get(name) is not None

    def text(
        self, name: str, default: str | None = None, *, most: int = 5000, title: str = ""
    ) -> str:
        """Return a text; without a default the field is required, and not empty.

        `title` names the field where MLflow's sentence about its length does not use its path.
        """
        value = self._fields.get(name)
        if not isinstance(value, str | None):
            raise self._wrong(name, value)
        if value is None or (value == "" and default is None):
            if default is None:
                raise missing(f"{self._place}{name}")
            return default
        if len(value) > most:
            shown = title or f"{self._place}{name}"
            raise BadParameter(f"'{shown}' exceeds the maximum length of {most} characters")
        if "\0" in value:
            raise BadParameter(f"'{self._place}{name}' holds a NUL character.")
        return value

    def word(self, name: str, default: str | None = None) -> str:
        """Return a value of an enumeration: its name, or its number as a text."""
        value = self._fields.get(name)
        if isinstance(value, int) and not isinstance(value, bool):
            return str(value)
        return self.text(name, default)

    def whole(self, name: str, default: int | None = None) -> int:
        """Return a whole number of 64 bits; without a default the field is required."""
        found = self._fields.get(name)
        if found is None:
            if default is None:
                raise missing(f"{self._place}{name}")
            return default
        try:
            if isinstance(found, bool) or (isinstance(found, float) and found != int(found)):
                raise ValueError
            number = int(found)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(name, found) from None
        if not -_INT64 <= number < _INT64:
            raise self._wrong(name, found)
        return number

    def limit(self, name: str, default: int, most: int) -> int:
        """Return how many results are asked for, from 1 to `most`."""
        number = self.whole(name, default)
        shown = f"Invalid value {number} for parameter '{name}' supplied."
        if number <= 0:
            raise BadParameter(f"{shown} It must be a positive integer")
        if number > most:
            raise BadParameter(f"{shown} It must be at most {most}, but got value {number}")
        return number

    def value(self, name: str) -> float:
        """Return a metric's value, which may be NaN or infinite."""
        found = self._fields.get(name)
        if found is None or found == "":
            raise missing(f"{self._place}{name}")
        if isinstance(found, bool):
            raise self._wrong(name, found)
        try:
            return _WORDS[found] if isinstance(found, str) and found in _WORDS else float(found)
        except (TypeError, ValueError, OverflowError):
            raise self._wrong(name, found) from None

    def flag(self, name: str) -> bool:
        """Return a boolean field; False if it is missing."""
        found = self._fields.get(name, False)
        if isinstance(found, str) and found.lower() in {"true", "false"}:
            return found.lower() == "true"
        if not isinstance(found, bool | None):
            raise self._wrong(name, found)
        return bool(found)

    def values(self, name: str) -> Sequence[Any]:
        """Return a list; one that is missing is empty."""
        found = self._fields.get(name)
        if found is None:
            return []
        if not isinstance(found, list):
            raise self._wrong(name, found)
        return found

    def texts(self, name: str, *, most: int = 1000) -> list[str]:
        """Return a list of texts."""
        values = self.values(name)
        if len(values) > most:
            raise BadParameter(f"'{self._place}{name}' has more than {most} values.")
        if not all(isinstance(value, str) and "\0" not in value for value in values):
            raise self._wrong(name, values)
        return list(values)

    def message(self, name: str) -> Message:
        """Return a message within this one; it is required."""
        return Message(self._fields.get(name), f"{self._place}{name}")

    def messages(self, name: str, *, most: int = 1000) -> list[Message]:
        """Return a list of messages."""
        values = self.values(name)
        check_batch_limit(name, len(values), most)
        if not all(isinstance(value, Mapping) for value in values):
            raise self._wrong(name, values)
        return [Message(one, f"{self._place}{name}[{at}]") for at, one in enumerate(values)]

    def _wrong(self, name: str, value: object) -> BadParameter:
        return invalid(f"{self._place}{name}", value)


def check_batch_limit(name: str, count: int, most: int) -> None:
    """Raise BadParameter in MLflow's words for more entries than a request may have."""
    if count > most:
        raise BadParameter(
            f"A batch logging request can contain at most {most} {name}. Got {count} {name}. "
            f"Please split up {name} across multiple requests and try again."
        )


def number_as_json(value: float | None) -> float | str:
    """Return a value as protobuf's JSON has it: NaN and infinity are words."""
    return number(math.nan if value is None else value)
