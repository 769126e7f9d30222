"""Shapes in a picture: origin at the outer corner of the top-left pixel, x right, y down.

Coordinates are float64 in the picture after EXIF orientation; nothing is rounded. Shapes carry the
values that they get; `checking.py` judges them. `area` is in square pixels.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import partial
from typing import Any, ClassVar

import numpy as np

from atom_sdk.annotations import rle
from atom_sdk.annotations.json_values import (
    as_integer,
    as_list,
    as_mapping,
    as_text,
    check_fields,
    field,
    numbers_of,
    plain_numbers,
    read_all,
    shown,
)
from atom_sdk.annotations.problems import DocumentError, refusal
from atom_sdk.sentences import Sentence

Bounds = tuple[float, float, float, float]
# x1, y1, x2, y2, … of a closed line; the first point is not repeated.
Ring = tuple[float, ...]
NOWHERE: Bounds = (0.0, 0.0, 0.0, 0.0)


@dataclass(frozen=True, slots=True)
class Box:
    """An axis-parallel box; x and y are its top-left corner."""

    x: float
    y: float
    width: float
    height: float

    kind: ClassVar[str] = "box"

    @property
    def bounds(self) -> Bounds:
        """x, y, width, height."""
        return self.x, self.y, self.width, self.height

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        return {"kind": self.kind, "box": plain_numbers(self.bounds)}


@dataclass(frozen=True, slots=True)
class RotatedBox:
    """A box around (cx, cy), turned clockwise on the screen by `angle` degrees."""

    cx: float
    cy: float
    width: float
    height: float
    angle: float

    kind: ClassVar[str] = "rotated_box"

    @property
    def corners(self) -> Ring:
        """The four corners: top-left first (before the turn), clockwise."""
        radians = math.radians(self.angle)
        cos, sin = math.cos(radians), math.sin(radians)
        along = self.width / 2 * cos, self.width / 2 * sin
        down = -self.height / 2 * sin, self.height / 2 * cos
        signs = ((-1, -1), (1, -1), (1, 1), (-1, 1))
        return tuple(
            centre + a * along[axis] + d * down[axis]
            for a, d in signs
            for axis, centre in enumerate((self.cx, self.cy))
        )

    @property
    def bounds(self) -> Bounds:
        """x, y, width, height around the corners."""
        return bounds_of_points(self.corners)

    @property
    def area(self) -> float:
        """Width times height."""
        return self.width * self.height

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        box = plain_numbers((self.cx, self.cy, self.width, self.height))
        return {"kind": self.kind, "box": box, "angle": plain_numbers([self.angle])[0]}


@dataclass(frozen=True, slots=True)
class Polygon:
    """Parts of rings: the first ring of a part is its outer border, the others are holes."""

    parts: tuple[tuple[Ring, ...], ...]

    kind: ClassVar[str] = "polygon"

    @property
    def bounds(self) -> Bounds:
        """x, y, width, height around the outer borders."""
        return bounds_of_points([number for part in self.parts if part for number in part[0]])

    @property
    def area(self) -> float:
        """The area of the outer borders without their holes."""
        return math.fsum(
            (-1 if index else 1) * ring_area(ring)
            for part in self.parts
            for index, ring in enumerate(part)
        )

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        parts = [[plain_numbers(ring) for ring in part] for part in self.parts]
        return {"kind": self.kind, "parts": parts}


@dataclass(frozen=True, slots=True)
class Polyline:
    """An open line; `points` are x1, y1, x2, y2 and so on."""

    points: tuple[float, ...]

    kind: ClassVar[str] = "polyline"
    area: ClassVar[float] = 0.0

    @property
    def bounds(self) -> Bounds:
        """x, y, width, height around the points."""
        return bounds_of_points(self.points)

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        return {"kind": self.kind, "points": plain_numbers(self.points)}


@dataclass(frozen=True, slots=True)
class Point:
    """One place."""

    x: float
    y: float

    kind: ClassVar[str] = "point"
    area: ClassVar[float] = 0.0

    @property
    def bounds(self) -> Bounds:
        """x, y, 0, 0."""
        return self.x, self.y, 0.0, 0.0

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        return {"kind": self.kind, "points": plain_numbers((self.x, self.y))}


@dataclass(frozen=True, slots=True)
class Keypoints:
    """Points (x, y, v) in the skeleton's order: v is 0 absent, 1 hidden, 2 visible."""

    points: tuple[tuple[float, float, float], ...]
    box: Box | None = None

    kind: ClassVar[str] = "keypoints"

    @property
    def bounds(self) -> Bounds:
        """The box; without one, x, y, width, height around the points that are not absent."""
        if self.box is not None:
            return self.box.bounds
        return bounds_of_points([number for x, y, v in self.points if v for number in (x, y)])

    @property
    def area(self) -> float:
        """The area of the bounds."""
        _, _, width, height = self.bounds
        return width * height

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        points = plain_numbers(number for point in self.points for number in point)
        value: dict[str, Any] = {"kind": self.kind, "points": points}
        if self.box is not None:
            value["box"] = plain_numbers(self.box.bounds)
        return value


@dataclass(frozen=True, slots=True)
class Mask:
    """Pixels of the whole picture, as COCO's compressed run lengths (column-major)."""

    height: int
    width: int
    counts: str

    kind: ClassVar[str] = "mask"

    @property
    def bounds(self) -> Bounds:
        """x, y, width, height around the pixels. Raises DocumentError for unreadable lengths."""
        return rle.bounds(self.counts, self.height, self.width)

    @property
    def area(self) -> float:
        """The number of pixels. Raises DocumentError for unreadable lengths."""
        return float(rle.area(self.counts))

    def as_json(self) -> dict[str, Any]:
        """Return the fields of the document."""
        return {
            "kind": self.kind,
            "rle": {"size": [self.height, self.width], "counts": self.counts},
        }


PictureGeometry = Box | RotatedBox | Polygon | Polyline | Point | Keypoints | Mask


def bounds_of_points(points: Any) -> Bounds:
    """Return x, y, width, height around flat x, y pairs; all zero without points."""
    if not len(points):
        return NOWHERE
    xs, ys = points[0::2], points[1::2]
    left, top = min(xs), min(ys)
    return left, top, max(xs) - left, max(ys) - top


def ring_area(ring: Ring) -> float:
    """Return the area inside of a ring, in either direction (the shoelace formula)."""
    points = np.array(ring, np.float64).reshape(-1, 2)
    if not len(points):
        return 0.0
    # Far from the origin, products of whole coordinates would lose the digits that matter.
    points -= points[0]
    x, y = points.T
    return abs(float(x @ np.roll(y, -1) - y @ np.roll(x, -1))) / 2


def read_box(value: Mapping[str, Any]) -> Box:
    """Return the box of a document's object."""
    return Box(*_four(field(value, "box")))


def _read_rotated_box(value: Mapping[str, Any]) -> RotatedBox:
    angle = numbers_of([field(value, "angle")], "angle")[0]
    cx, cy, width, height = _four(field(value, "box"))
    return RotatedBox(cx, cy, width, height, angle)


def _read_polygon(value: Mapping[str, Any]) -> Polygon:
    parts = as_list(field(value, "parts"), "parts")
    return Polygon(tuple(read_all(parts, "parts", _read_part)))


def _read_part(part: Any) -> tuple[Ring, ...]:
    rings = as_list(part, "")
    try:
        return tuple(read_all(rings, "", partial(pairs_of, pointer="")))
    except DocumentError as error:
        raise DocumentError(
            [it._replace(pointer=it.pointer.strip("/")) for it in error.problems]
        ) from None


def _read_polyline(value: Mapping[str, Any]) -> Polyline:
    return Polyline(pairs_of(field(value, "points"), "points"))


def _read_point(value: Mapping[str, Any]) -> Point:
    points = pairs_of(field(value, "points"), "points")
    if len(points) != 2:
        raise refusal(
            "points",
            Sentence("annotations.point_not_two_numbers", "A point has two numbers: x and y."),
        )
    return Point(*points)


def _read_keypoints(value: Mapping[str, Any]) -> Keypoints:
    numbers = numbers_of(field(value, "points"), "points")
    if len(numbers) % 3:
        raise refusal(
            "points",
            Sentence(
                "annotations.keypoints_not_threes",
                "Keypoints have three numbers each: x, y and 0, 1 or 2 for its visibility.",
            ),
        )
    points = tuple(zip(numbers[0::3], numbers[1::3], numbers[2::3], strict=True))
    return Keypoints(points, read_box(value) if value.get("box") is not None else None)


def _read_mask(value: Mapping[str, Any]) -> Mask:
    run_lengths = as_mapping(field(value, "rle"), "rle")
    check_fields(run_lengths, frozenset({"size", "counts"}), "rle")
    size = as_list(run_lengths.get("size"), "rle/size")
    if len(size) != 2:
        raise refusal(
            "rle/size",
            Sentence("annotations.size_not_two_numbers", "A size is [height, width] in pixels."),
        )
    height, width = (as_integer(side, "rle/size") for side in size)
    return Mask(height, width, as_text(run_lengths.get("counts"), "rle/counts"))


def pairs_of(values: Any, pointer: str) -> tuple[float, ...]:
    """Return flat x, y pairs."""
    numbers = numbers_of(values, pointer)
    if len(numbers) % 2:
        raise refusal(
            pointer,
            Sentence(
                "annotations.odd_numbers",
                "Points are pairs of x and y; this list has {count} numbers.",
                count=len(numbers),
            ),
        )
    return numbers


def _four(values: Any) -> tuple[float, ...]:
    numbers = numbers_of(values, "box")
    if len(numbers) != 4:
        raise refusal(
            "box",
            Sentence(
                "annotations.box_not_four_numbers",
                "A box has four numbers, not {count}.",
                count=len(numbers),
            ),
        )
    return numbers


# Kind → its fields, and how these become a shape.
READERS: dict[str, tuple[frozenset[str], Callable[[Mapping[str, Any]], Any]]] = {
    "box": (frozenset({"box"}), read_box),
    "rotated_box": (frozenset({"box", "angle"}), _read_rotated_box),
    "polygon": (frozenset({"parts"}), _read_polygon),
    "polyline": (frozenset({"points"}), _read_polyline),
    "point": (frozenset({"points"}), _read_point),
    "keypoints": (frozenset({"points", "box"}), _read_keypoints),
    "mask": (frozenset({"rle"}), _read_mask),
}
PICTURE_KINDS = tuple(READERS)


def picture_geometry(value: Mapping[str, Any], kind: str) -> PictureGeometry:
    """Return the shape of a kind. Raises DocumentError for an unknown kind and bad values."""
    if kind not in READERS:
        known = ", ".join(READERS)
        raise refusal(
            "kind",
            Sentence(
                "annotations.kind_unknown",
                "There is no kind {value}. Kinds: {kinds}.",
                value=shown(kind),
                kinds=known,
            ),
        )
    shape: PictureGeometry = READERS[kind][1](value)
    return shape
