"""Objects in a picture (boxes, polygons) as attributes of its file.

A version has one label a file; what is in a picture is many. It is kept as

    {"objects": [{"label": "cat", "box": [x, y, width, height], "polygons": [[x1, y1, …]]}],
     "object_counts": {"cat": 1}, "box_unit": "pixel"}

so that `attributes.object_counts.cat > 0` finds the pictures with cats. `box_unit` is "pixel", or
"relative" to width and height. Numbers have two decimals in pixels, six when relative.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.client.push.attributes import MAX_ATTRIBUTE_BYTES, canonical_attributes

PIXEL, RELATIVE = "pixel", "relative"
_DECIMALS = {PIXEL: 2, RELATIVE: 6}


class ObjectRefusedError(ValueError):
    """An annotation that is no object; the text says why in a few words."""


@dataclass(frozen=True, slots=True)
class DroppedGeometry:
    """A geometry that is read and not kept: its kind as a singular noun, and the reason."""

    kind: str
    reason: str = ""
    count: int = 1


@dataclass(frozen=True, slots=True)
class AnnotatedObject:
    """One object: its class, x, y, width, height, and polygons of x, y pairs.

    `left_out` are geometries of which the box alone is kept.
    """

    label: str
    box: tuple[float, float, float, float]
    polygons: tuple[tuple[float, ...], ...] = ()
    flags: dict[str, bool] = field(default_factory=dict)
    left_out: tuple[DroppedGeometry, ...] = ()

    def as_json(self, unit: str, *, with_polygons: bool) -> dict[str, Any]:
        """Return plain values."""
        decimals = _DECIMALS[unit]
        found: dict[str, Any] = {"label": self.label, "box": _rounded(self.box, decimals)}
        if self.polygons and with_polygons:
            found["polygons"] = [_rounded(polygon, decimals) for polygon in self.polygons]
        return found | self.flags


def checked_box(numbers: Sequence[Any]) -> tuple[float, float, float, float]:
    """Return x, y, width, height. Raises ObjectRefusedError."""
    if len(numbers) != 4:
        raise ObjectRefusedError("a box has not four numbers")
    x, y, width, height = (checked_number(number) for number in numbers)
    if width <= 0 or height <= 0:
        raise ObjectRefusedError("a box has no area")
    return x, y, width, height


def checked_number(value: Any) -> float:
    """Return a finite number. Raises ObjectRefusedError."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ObjectRefusedError("a coordinate is no number") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ObjectRefusedError("a coordinate is no number")
    return number


def checked_label(name: str) -> str:
    """Return the name of a class. Raises ObjectRefusedError for half a character in it."""
    try:
        name.encode()
    except UnicodeEncodeError:
        raise ObjectRefusedError("the name of its class is no Unicode text") from None
    return name


def checked_polygon(numbers: Any) -> tuple[float, ...]:
    """Return x, y pairs of at least three points. Raises ObjectRefusedError."""
    if not isinstance(numbers, (list, tuple)):
        raise ObjectRefusedError("a polygon is no list of numbers")
    if len(numbers) < 6 or len(numbers) % 2:
        raise ObjectRefusedError("a polygon has not three points or more")
    return tuple(checked_number(number) for number in numbers)


def box_around(polygon: Sequence[float]) -> tuple[float, float, float, float]:
    """Return the smallest box around x, y pairs. Raises ObjectRefusedError without an area."""
    xs, ys = polygon[0::2], polygon[1::2]
    return checked_box((min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)))


WHOLE, BOXES, COUNTS, NOTHING = "all", "the boxes", "counts", "the picture"


def as_attributes(objects: Sequence[AnnotatedObject], unit: str) -> tuple[dict[str, Any], str]:
    """Return the attributes, and how much of the objects is in them: WHOLE to NOTHING.

    A file's attributes have 16 KiB at most: first the polygons go, then all objects; their counts
    stay.
    """
    counts = {"object_counts": dict(sorted(Counter(one.label for one in objects).items()))}
    for extent in (WHOLE, BOXES, COUNTS):
        values: dict[str, Any] = counts
        if extent != COUNTS:
            rows = [one.as_json(unit, with_polygons=extent == WHOLE) for one in objects]
            values = {"objects": rows, **counts, "box_unit": unit}
        # Room for width, height and what else is known of the file.
        if len((canonical_attributes(values) or "").encode()) < MAX_ATTRIBUTE_BYTES - 512:
            return values, extent
    return {}, NOTHING


def _rounded(numbers: Sequence[float], decimals: int) -> list[float]:
    rounded = (round(number, decimals) for number in numbers)
    return [int(number) if number == int(number) else number for number in rounded]
