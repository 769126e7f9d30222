"""The value of an hour by the priority of a run, as a setting spells it: `0=1,10=30`."""

from __future__ import annotations

import re
from typing import Annotated

from pydantic import BeforeValidator
from pydantic_settings import NoDecode

_PAIR = re.compile(r"\s*(-?\d{1,9})\s*=\s*(\d{1,9}(?:\.\d{1,6})?)\s*")

HourValues = tuple[tuple[int, float], ...]


def parse_hour_values(text: object) -> HourValues:
    """Read pairs of a priority and the value of an hour, lowest priority first.

    The values are in the currency of the prices. Raises ValueError.
    """
    if isinstance(text, tuple):
        return text
    pairs = [_PAIR.fullmatch(part) for part in str(text).split(",")]
    values = {int(pair[1]): float(pair[2]) for pair in pairs if pair}
    if len(values) != len(pairs):
        raise ValueError(f"{text!r}: write each priority once, with its value: 0=1,10=30.")
    return tuple(sorted(values.items()))


def value_at(values: HourValues, priority: int) -> float:
    """Return the value of the highest priority that is not above; below all, of the lowest."""
    reached = [value for level, value in values if level <= priority]
    return reached[-1] if reached else values[0][1]


# Not JSON, as pydantic would read a tuple from the environment.
HourValuesSetting = Annotated[HourValues, NoDecode, BeforeValidator(parse_hour_values)]
