"""Values of tables as JSON values of attributes.

Times are ISO 8601 text, durations seconds, decimals numbers where a float holds them exactly and
text otherwise. Numbers that JSON cannot write are null. Bytes have no place in an attribute.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from datetime import date, time, timedelta
from decimal import Decimal
from typing import Any
from uuid import UUID

from atom_sdk.client.push.attributes import MAX_ATTRIBUTE_BYTES, canonical_attributes


class ValueRefusedError(ValueError):
    """A value that no attribute can hold; the text says why in a few words."""


def json_value(value: Any) -> Any:
    """Return a value as JSON has it. Raises ValueRefusedError, RecursionError."""
    if value is None:
        return None
    for kinds, convert in _CONVERTERS:
        if isinstance(value, kinds):
            return convert(value)
    raise ValueRefusedError(f"its values are of the type {type(value).__name__}")


def _refused(_value: Any) -> Any:
    raise ValueRefusedError("its values are bytes, which no attribute holds")


def _decimal(value: Decimal) -> Any:
    if not value.is_finite():
        return None
    if value == value.to_integral_value():
        return int(value)
    number = float(value)
    return number if Decimal(repr(number)) == value else str(value)


_CONVERTERS: tuple[tuple[tuple[type, ...], Callable[[Any], Any]], ...] = (
    ((bool, int, str), lambda value: value),
    ((float,), lambda value: value if math.isfinite(value) else None),
    ((Decimal,), _decimal),
    ((date, time), lambda value: value.isoformat()),
    ((timedelta,), timedelta.total_seconds),
    ((Mapping,), lambda value: {str(key): json_value(one) for key, one in value.items()}),
    ((list, tuple), lambda value: [json_value(one) for one in value]),
    ((UUID,), str),
    ((bytes, bytearray), _refused),
)


def drop_largest(values: Mapping[str, Any]) -> tuple[dict[str, Any], list[str]]:
    """Return the attributes that fit into 16 KiB, and the names of those that do not.

    The largest go first. Raises TypeError, ValueError, RecursionError.
    """
    fitting, dropped = dict(values), []
    if attributes_bytes(fitting) > MAX_ATTRIBUTE_BYTES:
        sizes = {name: attributes_bytes({name: value}) for name, value in values.items()}
        order = sorted(sizes, key=lambda name: (sizes[name], name))
        while order and attributes_bytes(fitting) > MAX_ATTRIBUTE_BYTES:
            dropped.append(order.pop())
            del fitting[dropped[-1]]
    return fitting, dropped


def attributes_bytes(values: Mapping[str, Any]) -> int:
    """Return the size of attributes as they are kept. Raises as `drop_largest` does."""
    return len((canonical_attributes(values) or "").encode())
