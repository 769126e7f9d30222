"""Values of foreign files, checked: each function returns its type or raises ValueRefusedError."""

from __future__ import annotations

import hashlib
import math
import re
from collections.abc import Iterable, Sequence
from typing import Any

import shapely

from atom_sdk.annotations.geometry import Box, Keypoints, Mask, PictureGeometry, Polygon, RotatedBox
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.label_formats.fitting import mask_of
from atom_sdk.label_formats.report import LabelReport

_HEX_ID = re.compile(r"[0-9a-f]{16}")
_NUMBER = re.compile(r"\s*[-+]?(\d+\.?\d*|\.\d+)([eE][-+]?\d+)?\s*")
Ring = tuple[float, ...]
_REASONS = {
    "number_wrong": "a coordinate is no number",
    "outside_left_out": "it lies outside of its picture",
    "class_unknown": "its class has no name",
}


class ValueRefusedError(ValueError):
    """A value that is no part of an object: the code of the loss, and the reason in a few words."""

    def __init__(self, code: str, reason: str = "") -> None:
        super().__init__(code)
        self.code = code
        self.reason = reason or _REASONS.get(code, "its shape cannot be read")


def number(value: Any) -> float:
    """Return a finite number of a JSON number or of a text."""
    if isinstance(value, str):
        if not _NUMBER.fullmatch(value):
            raise ValueRefusedError("number_wrong")
    elif isinstance(value, bool) or not isinstance(value, int | float):
        raise ValueRefusedError("number_wrong")
    try:
        result = float(value)
    except OverflowError:
        raise ValueRefusedError("number_wrong") from None
    if not math.isfinite(result):
        raise ValueRefusedError("number_wrong")
    return result


def numbers(values: Any) -> Ring:
    """Return a list of finite numbers."""
    if not isinstance(values, list | tuple):
        raise ValueRefusedError("shape_wrong")
    return tuple(number(value) for value in values)


def box(values: Any) -> Box:
    """Return a box of x, y, width, height."""
    if not isinstance(values, list | tuple) or len(values) != 4:
        raise ValueRefusedError("shape_wrong", "a box has not four numbers")
    four = numbers(values)
    if four[2] <= 0 or four[3] <= 0:
        raise ValueRefusedError("shape_wrong", "a box has no area")
    return Box(*four)


def ring(values: Any) -> Ring:
    """Return a ring of at least three points; a repeated first point at its end is left out."""
    if not isinstance(values, list | tuple):
        raise ValueRefusedError("shape_wrong", "a polygon is no list of numbers")
    flat = numbers(values)
    if len(flat) > 6 and flat[:2] == flat[-2:]:
        flat = flat[:-2]
    if len(flat) < 6 or len(flat) % 2:
        raise ValueRefusedError("shape_wrong", "a polygon has not three points or more")
    return flat


def polygon(
    parts: Iterable[Sequence[Ring]], width: int, height: int, report: LabelReport, subject: str
) -> Polygon | Mask:
    """Return a polygon, as a mask where its sides cross or its parts overlap.

    A document refuses such a polygon; its pixels are what its own format makes of it.
    """
    shape = Polygon(tuple(tuple(part) for part in parts))
    if is_valid(shape):
        return shape
    report.count("crossing_polygons", subject)
    mask = mask_of(shape, width, height)
    if not mask.area:
        raise ValueRefusedError("shape_wrong")
    return mask


def is_valid(shape: Polygon) -> bool:
    """Whether no sides cross, holes lie inside, and parts lie apart."""
    parts = [
        shapely.Polygon(_points(part[0]), [_points(hole) for hole in part[1:]])
        for part in shape.parts
    ]
    whole = parts[0] if len(parts) == 1 else shapely.MultiPolygon(parts)
    return bool(shapely.is_valid(whole)) and whole.area > 0


def _points(flat: Ring) -> list[tuple[float, float]]:
    return list(zip(flat[0::2], flat[1::2], strict=True))


def picture_shape(each: NamedObject) -> PictureGeometry:
    """Return the shape of an object, which a fitter has made one of a picture."""
    assert isinstance(each.geometry, PictureGeometry)
    return each.geometry


def placed(shape: PictureGeometry, width: int, height: int) -> PictureGeometry:
    """Return a shape that touches its picture and is not far outside; others are refused."""
    x, y, wide, high = shape.bounds
    touches = x <= width and y <= height and x + wide >= 0 and y + high >= 0
    is_near = x >= -width and y >= -height and x + wide <= 2 * width and y + high <= 2 * height
    if not (touches and is_near):
        raise ValueRefusedError("outside_left_out")
    return shape


def keypoints(values: Sequence[float], count: int, around: Box | None) -> Keypoints:
    """Return points of x, y, visibility; `count` is how many there must be, 0 for any number."""
    if len(values) % 3 or not values or (count and len(values) != 3 * count):
        raise ValueRefusedError("shape_wrong", "its keypoints are not as many as its class has")
    if any(v not in (0, 1, 2) for v in values[2::3]):
        raise ValueRefusedError("shape_wrong")
    points = tuple(
        (x, y, int(v)) if v else (0.0, 0.0, 0)
        for x, y, v in zip(values[0::3], values[1::3], values[2::3], strict=True)
    )
    if around is None and not any(v for _, _, v in points):
        raise ValueRefusedError("shape_wrong")
    return Keypoints(points, around)


def rotated_box(values: Sequence[float]) -> RotatedBox:
    """Return a rotated box of centre, sides and degrees."""
    cx, cy, width, height, angle = values
    if width <= 0 or height <= 0:
        raise ValueRefusedError("shape_wrong")
    angle %= 360
    return RotatedBox(cx, cy, width, height, 0.0 if angle >= 360 else angle)


def side(value: Any) -> int:
    """Return a width or height in whole pixels, 0 for none that is one."""
    try:
        pixels = number(value)
    except ValueRefusedError:
        return 0
    return int(pixels) if 0 < pixels < 1 << 31 and pixels == int(pixels) else 0


def object_id(value: Any, *origin: object) -> str:
    """Return an id that a file carries, else one that is the same at every reading of it."""
    if isinstance(value, str) and _HEX_ID.fullmatch(value):
        return value
    text = "\0".join(map(str, origin))
    return hashlib.blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).hexdigest()


def class_name(value: Any) -> str:
    """Return the name of a class: printable text of at most 255 bytes."""
    text = value.strip() if isinstance(value, str) else ""
    try:
        size = len(text.encode())
    except UnicodeEncodeError:
        size = 0
    if not 0 < size <= 255 or not text.isprintable():
        raise ValueRefusedError("class_unknown")
    return text
