"""Shapes of Label Studio's results, both ways."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    PictureGeometry,
    Point,
    Polygon,
    Polyline,
    RotatedBox,
)
from atom_sdk.label_formats import shapes, values
from atom_sdk.label_formats.bit_runs import RunsRefusedError, read_brush, write_brush
from atom_sdk.label_formats.ontology_notes import LabelNote
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.values import ValueRefusedError

POINTS = frozenset({"keypointlabels", "keypoint"})
ROLES = POINTS | frozenset(
    {
        *("rectanglelabels", "rectangle", "polygonlabels", "polygon", "brushlabels", "brush"),
        *("ellipselabels", "ellipse", "vectorlabels", "vector"),
    }
)
Row = Mapping[str, Any]
Size = tuple[int, int]


def shape_of(row: Row, meta: Row, size: Size, report: LabelReport, subject: str) -> PictureGeometry:
    """Return the shape of a result. Raises ValueRefusedError."""
    kind = str(row.get("type")).removesuffix("labels")
    value: Row = row["value"]
    if kind == "rectangle":
        return _rectangle(value, size, is_rotated=meta.get("kind") == "rotated_box")
    if kind == "polygon":
        flat = values.ring(_pairs(value.get("points"), size))
        return values.polygon([(flat,)], *size, report, subject)
    if kind == "brush":
        return _brush(value, size)
    if kind == "keypoint":
        x, y = _scaled([values.number(value.get(name)) for name in ("x", "y")], size)
        return Point(x, y)
    if kind == "ellipse":
        report.count("ellipses_as_polygons", subject)
        return _ellipse(value, size)
    return _vector(value, size, report, subject)


def _scaled(percents: Sequence[float], size: Size) -> list[float]:
    return [number * size[place % 2] / 100 for place, number in enumerate(percents)]


def _pairs(points: Any, size: Size) -> list[float]:
    if not isinstance(points, list):
        raise ValueRefusedError("shape_wrong")
    flat: list[float] = []
    for point in points:
        pair = values.numbers(point)
        if len(pair) != 2:
            raise ValueRefusedError("shape_wrong")
        flat += pair
    return _scaled(flat, size)


def _rectangle(value: Row, size: Size, *, is_rotated: bool) -> PictureGeometry:
    names = ("x", "y", "width", "height")
    x, y, width, height = _scaled([values.number(value.get(name)) for name in names], size)
    angle = values.number(value.get("rotation", 0) or 0) % 360
    if not angle and not is_rotated:
        return values.box((x, y, width, height))
    radians = math.radians(angle)
    cosine, sine = math.cos(radians), math.sin(radians)
    cx = x + width / 2 * cosine - height / 2 * sine
    cy = y + width / 2 * sine + height / 2 * cosine
    return values.rotated_box((cx, cy, width, height, angle))


def _brush(value: Row, size: Size) -> Mask:
    width, height = size
    runs = value.get("rle")
    if value.get("format") != "rle" or not isinstance(runs, list):
        raise ValueRefusedError("shape_wrong")
    try:
        mask = read_brush(runs, width, height)
    except RunsRefusedError as error:
        raise ValueRefusedError("shape_wrong") from error
    if not mask.any():
        raise ValueRefusedError("shape_wrong")
    return Mask(height, width, rle.encode(mask))


def _ellipse(value: Row, size: Size) -> Polygon:
    names = ("x", "y", "radiusX", "radiusY")
    x, y, rx, ry = _scaled([values.number(value.get(name)) for name in names], size)
    if rx <= 0 or ry <= 0:
        raise ValueRefusedError("shape_wrong")
    angle = values.number(value.get("rotation", 0) or 0)
    return Polygon(((shapes.ellipse(x, y, rx, ry, angle),),))


def _vector(value: Row, size: Size, report: LabelReport, subject: str) -> PictureGeometry:
    vertices = value.get("vertices")
    if not isinstance(vertices, list) or not all(isinstance(each, dict) for each in vertices):
        raise ValueRefusedError("shape_wrong")
    flat = _pairs([[each.get("x"), each.get("y")] for each in vertices], size)
    if value.get("closed"):
        return values.polygon([(values.ring(flat),)], *size, report, subject)
    if len(flat) < 4:
        raise ValueRefusedError("shape_wrong")
    return Polyline(tuple(flat))


def skeleton_of(
    row: Row,
    meta: Row,
    points: Mapping[str, tuple[Row, Row]],
    note: LabelNote,
    size: Size,
) -> Keypoints:
    """Return the keypoints below a box, in the order that Atom wrote or that they come in."""
    names = [str(name) for name in meta.get("points") or note.points or points]
    names += [name for name in points if name not in names]
    note.points = names if len(names) > len(note.points) else note.points
    flat: list[float] = []
    for name in names:
        if name not in points:
            flat += (0.0, 0.0, 0)
            continue
        point, own = points[name]
        value: Row = point["value"]
        x, y = _scaled([values.number(value.get(key)) for key in ("x", "y")], size)
        flat += (x, y, 1 if own.get("hidden") else 2)
    around = None
    if meta.get("box", True):
        box = _rectangle(row["value"], size, is_rotated=False)
        around = Box(*box.bounds)
    return values.keypoints(flat, 0, around)


def value_of(shape: PictureGeometry, size: Size) -> tuple[str, dict[str, Any], dict[str, Any]]:
    """Return the kind of a result, its value, and the marks that Atom adds."""
    if isinstance(shape, Box | Keypoints):
        return "rectangle", {**_box_value(shape.bounds, size), "rotation": 0}, _marks(shape)
    if isinstance(shape, RotatedBox):
        box = (shape.cx, shape.cy, shape.width, shape.height, shape.angle)
        x, y = shapes.corners(box)[:2]
        value = _box_value((x, y, shape.width, shape.height), size)
        return "rectangle", {**value, "rotation": shape.angle}, {"kind": shape.kind}
    if isinstance(shape, Polygon):
        return "polygon", {"points": _points(shape.parts[0][0], size), "closed": True}, {}
    if isinstance(shape, Mask):
        mask = rle.decode(shape.counts, shape.height, shape.width)
        return "brush", {"format": "rle", "rle": write_brush(mask)}, {}
    if isinstance(shape, Point):
        return "keypoint", point_value(shape.x, shape.y, size), {}
    assert isinstance(shape, Polyline)
    vertices = [
        {"id": str(place), "x": x, "y": y, "isBezier": False}
        for place, (x, y) in enumerate(_points(shape.points, size))
    ]
    return "vector", {"vertices": vertices, "closed": False}, {}


def _marks(shape: Box | Keypoints) -> dict[str, Any]:
    return {"box": shape.box is not None} if isinstance(shape, Keypoints) else {}


def point_value(x: float, y: float, size: Size) -> dict[str, Any]:
    """Return the value of a point."""
    return {"x": x * 100 / size[0], "y": y * 100 / size[1], "width": 0.5}


def _box_value(box: Sequence[float], size: Size) -> dict[str, Any]:
    percents = [number * 100 / size[place % 2] for place, number in enumerate(box)]
    return dict(zip(("x", "y", "width", "height"), percents, strict=True))


def _points(flat: Sequence[float], size: Size) -> list[list[float]]:
    pairs = zip(flat[0::2], flat[1::2], strict=True)
    return [[x * 100 / size[0], y * 100 / size[1]] for x, y in pairs]
