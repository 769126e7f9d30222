"""Scalars of a TensorBoard event file, read without TensorBoard.

The file is a sequence of TFRecords (length u64, checksum u32, bytes, checksum u32), each an `Event`
message: wall time (1, double), step (2, varint), summary (5) with values (1) of tag (1) and
simple_value (2, float) or tensor (8) of dtype (1), tensor_content (4), float_val (5), double_val
(6). Whatever else there is, is skipped by its length.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Final

MAX_TAGS: Final = 200
MAX_POINTS: Final = 200_000
_MAX_TAG_CHARS: Final = 250
_LENGTH: Final = struct.Struct("<Q")
_VARINT, _FIXED64, _BYTES, _FIXED32 = 0, 1, 2, 5
_DT_FLOAT, _DT_DOUBLE = 1, 2
# tensor_content and the lists of numbers, packed or not.
_NUMBERS: Final = frozenset({(4, _BYTES), (5, _BYTES), (6, _BYTES), (5, _FIXED32), (6, _FIXED64)})
_MAX_STEP: Final = (1 << 63) - 1
_MAX_VARINT: Final = (1 << 64) - 1


class NotEventsError(ValueError):
    """The bytes are not a message of the format."""


@dataclass(slots=True)
class Scalars:
    """One curve."""

    steps: list[int] = field(default_factory=list)
    ts_ms: list[int] = field(default_factory=list)
    values: list[float] = field(default_factory=list)


@dataclass(slots=True)
class Events:
    """The curves of a file by tag; `others` counts values that are no scalars."""

    scalars: dict[str, Scalars] = field(default_factory=dict)
    others: int = 0
    truncated: bool = False


def read_events(data: bytes, *, whole: bool) -> Events:
    """Return what the records say up to where they end or break; a live file ends in a part."""
    found = Events(truncated=not whole)
    points = 0
    for record in _records(data):
        try:
            points += _add(found, record)
        except (NotEventsError, struct.error, ValueError, OverflowError):
            found.truncated = True
            break
        if points >= MAX_POINTS:
            found.truncated = True
            break
    return found


def _records(data: bytes) -> Iterator[memoryview]:
    view = memoryview(data)
    position = 0
    while position + 12 <= len(view):
        (length,) = _LENGTH.unpack_from(view, position)
        start = position + 12
        if length > len(view) - start - 4:
            return
        yield view[start : start + length]
        position = start + length + 4


def _add(found: Events, record: memoryview) -> int:
    time_s, step, values = 0.0, 0, []
    for number, kind, value in _fields(record):
        if (number, kind) == (1, _FIXED64):
            (time_s,) = struct.unpack("<d", value)
        elif (number, kind) == (2, _VARINT):
            step = value if value <= _MAX_STEP else value - (1 << 64)
        elif (number, kind) == (5, _BYTES):
            values = [one for n, k, one in _fields(value) if (n, k) == (1, _BYTES)]
    added = 0
    for value in values:
        tag, scalar = _value_of(value)
        if scalar is None:
            found.others += 1
            continue
        if tag not in found.scalars and len(found.scalars) >= MAX_TAGS:
            found.truncated = True
            continue
        curve = found.scalars.setdefault(tag, Scalars())
        curve.steps.append(step)
        curve.ts_ms.append(int(time_s * 1000) if abs(time_s) < 1e12 else 0)
        curve.values.append(scalar)
        added += 1
    return added


def _value_of(data: memoryview) -> tuple[str, float | None]:
    tag, scalar = "", None
    for number, kind, value in _fields(data):
        if (number, kind) == (1, _BYTES):
            tag = bytes(value[: 4 * _MAX_TAG_CHARS]).decode("utf-8", "replace")[:_MAX_TAG_CHARS]
        elif (number, kind) == (2, _FIXED32):
            (scalar,) = struct.unpack("<f", value)
        elif (number, kind) == (8, _BYTES):
            scalar = _scalar_of(value)
    return tag, scalar


def _scalar_of(tensor: memoryview) -> float | None:
    """Return the only number of a tensor, None if it is more than one or none."""
    dtype, found = 0, None
    for number, kind, value in _fields(tensor):
        if (number, kind) == (1, _VARINT):
            dtype = value
        elif (number, kind) == (2, _BYTES) and any(n == 2 for n, _, _ in _fields(value)):
            return None
        elif (kind == _BYTES and number in (4, 5, 6)) or (number, kind) in {
            (5, _FIXED32),
            (6, _FIXED64),
        }:
            found = value
    layout = {_DT_FLOAT: "<f", _DT_DOUBLE: "<d"}.get(dtype)
    if layout is None or found is None or len(found) != struct.calcsize(layout):
        return None
    (scalar,) = struct.unpack(layout, found)
    return float(scalar)


def _fields(data: memoryview) -> Iterator[tuple[int, int, Any]]:
    """Yield (field number, wire type, value) of a message: an int for varints, else its bytes."""
    position = 0
    while position < len(data):
        key, position = _varint(data, position)
        kind = key & 7
        if kind == _VARINT:
            value, position = _varint(data, position)
            yield key >> 3, kind, value
            continue
        if kind == _BYTES:
            size, position = _varint(data, position)
        else:
            size = {_FIXED64: 8, _FIXED32: 4}.get(kind, -1)
        if size < 0 or position + size > len(data):
            raise NotEventsError("A field goes beyond its message.")
        yield key >> 3, kind, data[position : position + size]
        position += size


def _varint(data: memoryview, position: int) -> tuple[int, int]:
    value = shift = 0
    while shift < 70:
        if position >= len(data):
            raise NotEventsError("A number is cut off.")
        byte = data[position]
        position += 1
        value |= (byte & 127) << shift
        if byte < 128:
            # Ten bytes hold 70 bits; a number has the lower 64 of them, as in every other reader.
            return value & _MAX_VARINT, position
        shift += 7
    raise NotEventsError("A number is too long.")
