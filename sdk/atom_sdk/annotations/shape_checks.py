"""Faults of shapes in a picture of a size: degenerate, outside, crossing themselves."""

from __future__ import annotations

import math
import re
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from atom_sdk.annotations import rle
from atom_sdk.annotations.problems import DocumentError, Problem
from atom_sdk.annotations.shapes import (
    Bounds,
    Box,
    Keypoints,
    Mask,
    Point,
    Polygon,
    Polyline,
    Ring,
    RotatedBox,
)
from atom_sdk.sentences import Sentence

if TYPE_CHECKING:
    import shapely

MAX_COORDINATES = 200_000
_MIN_RING = 6
_VISIBILITIES = (0, 1, 2)
_PLACE = re.compile(r"\[(\S+) (\S+)\]")
# Edges that lie over one another cost time quadratic in their number: as many pairs take a second.
MAX_EDGE_PAIRS = 30_000_000
_DRAWN_EDGES = 48


def problems_of_shape(shape: Any, width: int, height: int) -> list[Problem]:
    """Return the faults of a shape in a picture; its first ones only, since others follow."""
    check = _CHECKS.get(type(shape))
    if check is None:
        return [
            Problem(
                "kind",
                Sentence(
                    "annotations.kind_not_of_pictures",
                    "A picture has no objects of the kind {kind}.",
                    kind=shape.kind,
                ),
            )
        ]
    return list(check(shape, width, height))


def _box(shape: Box, width: int, height: int) -> Iterator[Problem]:
    if not _finite(shape.bounds):
        yield _not_finite("box")
    elif shape.width <= 0 or shape.height <= 0:
        yield _no_area("box", shape.x, shape.y)
    else:
        yield from _reach("box", shape.bounds, width, height)


def _rotated_box(shape: RotatedBox, width: int, height: int) -> Iterator[Problem]:
    if not _finite((shape.cx, shape.cy, shape.width, shape.height)):
        yield _not_finite("box")
    elif not (math.isfinite(shape.angle) and 0 <= shape.angle < 360):
        yield Problem(
            "angle",
            Sentence(
                "annotations.angle_out_of_range",
                "An angle is at least 0 and less than 360 degrees.",
            ),
        )
    elif shape.width <= 0 or shape.height <= 0:
        yield _no_area("box", shape.cx, shape.cy)
    else:
        yield from _reach("box", shape.bounds, width, height, shape.corners)


def _polyline(shape: Polyline, width: int, height: int) -> Iterator[Problem]:
    if len(shape.points) < 4:
        yield Problem(
            "points", Sentence("annotations.line_too_short", "A line has two points or more.")
        )
    else:
        yield from _points("points", shape.points, width, height)


def _point(shape: Point, width: int, height: int) -> Iterator[Problem]:
    yield from _points("points", (shape.x, shape.y), width, height)


def _keypoints(shape: Keypoints, width: int, height: int) -> Iterator[Problem]:
    if shape.box is not None:
        yield from _box(shape.box, width, height)
    if not _finite([number for point in shape.points for number in point]):
        yield _not_finite("points")
        return
    for x, y, visibility in shape.points:
        if visibility not in _VISIBILITIES:
            yield Problem(
                "points",
                Sentence(
                    "annotations.visibility_unknown",
                    "A visibility is 0 for absent, 1 for hidden or 2 for visible.",
                ),
                (x, y),
            )
        elif not visibility and (x or y):
            yield Problem(
                "points",
                Sentence(
                    "annotations.absent_point_placed", "The place of an absent point is 0, 0."
                ),
                (x, y),
            )
    seen = [number for x, y, v in shape.points if v for number in (x, y)]
    if seen:
        yield from _points("points", seen, width, height)
    elif shape.box is None:
        yield Problem(
            "points",
            Sentence(
                "annotations.all_points_absent", "All points are absent. Place one or draw a box."
            ),
        )


def _mask(shape: Mask, width: int, height: int) -> Iterator[Problem]:
    if (shape.height, shape.width) != (height, width):
        mask: dict[str, Any] = {"mask_width": shape.width, "mask_height": shape.height}
        sizes: dict[str, Any] = {"width": width, "height": height}
        yield Problem(
            "rle/size",
            Sentence(
                "annotations.mask_size_differs",
                "The mask has {mask_width} × {mask_height} pixels, the picture {width} × {height}.",
                **mask,
                **sizes,
            ),
        )
        return
    try:
        runs = rle.checked_runs(shape.counts, height, width)
    except DocumentError as error:
        yield from error.problems
        return
    if not runs[1::2].any():
        yield Problem(
            "rle",
            Sentence(
                "annotations.mask_empty", "The mask has no pixel. Paint one or delete the object."
            ),
        )


def _polygon(shape: Polygon, width: int, height: int) -> Iterator[Problem]:
    rings = [ring for part in shape.parts for ring in part]
    if not shape.parts or not all(shape.parts):
        yield Problem(
            "parts",
            Sentence("annotations.polygon_without_rings", "A part of a polygon has its border."),
        )
        return
    total = sum(map(len, rings))
    if total > MAX_COORDINATES:
        yield _too_many("parts", total)
        return
    for pointer, ring in _named_rings(shape):
        if len(ring) < _MIN_RING:
            at = (ring[0], ring[1]) if len(ring) >= 2 else None
            yield Problem(
                pointer,
                Sentence("annotations.ring_too_short", "A border has three points or more."),
                at,
            )
            return
        if not _finite(ring):
            yield _not_finite(pointer)
            return
    if _edge_pairs(rings) > MAX_EDGE_PAIRS:
        yield Problem(
            "parts",
            Sentence(
                "annotations.polygon_too_dense",
                "The border has too many long edges over one another. Simplify the polygon.",
            ),
            (rings[0][0], rings[0][1]),
        )
        return
    yield from _topology(shape)
    outline = [number for part in shape.parts for number in part[0]]
    for problem in _reach("parts", shape.bounds, width, height):
        yield problem._replace(at=(outline[0], outline[1]))


def _topology(shape: Polygon) -> Iterator[Problem]:
    import shapely

    parts = [_shapely_part(part) for part in shape.parts]
    whole = parts[0] if len(parts) == 1 else shapely.multipolygons(parts)
    if shapely.is_valid(whole):
        return
    # Look for the smallest piece with the fault: a ring, a part, the parts together.
    for pointer, ring in _named_rings(shape):
        reason = shapely.is_valid_reason(_shapely_part([ring]))
        if reason != _VALID:
            yield _at(
                pointer,
                Sentence(
                    "annotations.ring_crosses_itself", "The border crosses or touches itself."
                ),
                reason,
            )
            return
    for index, part in enumerate(parts):
        reason = shapely.is_valid_reason(part)
        if reason != _VALID:
            yield _at(
                f"parts/{index}",
                Sentence(
                    "annotations.hole_out_of_border",
                    "A hole is outside of its border, or crosses it or another hole.",
                ),
                reason,
            )
            return
    reason = shapely.is_valid_reason(whole)
    yield _at(
        "parts", Sentence("annotations.parts_overlap", "Parts of the polygon overlap."), reason
    )


_VALID = "Valid Geometry"


def _shapely_part(rings: Sequence[Ring]) -> shapely.Polygon:
    import shapely

    outer, *holes = (
        shapely.linearrings(np.array(ring, np.float64).reshape(-1, 2)) for ring in rings
    )
    return shapely.polygons(outer, holes or None)


def _edge_pairs(rings: Sequence[Ring]) -> float:
    """Return about how many pairs of edges have bounds that overlap, from a fixed draw of edges."""
    points = [np.array(ring, np.float64).reshape(-1, 2) for ring in rings]
    count = sum(map(len, points))
    if count * count / 2 <= MAX_EDGE_PAIRS:
        return 0.0
    starts = np.concatenate(points)
    ends = np.concatenate([np.roll(ring, -1, axis=0) for ring in points])
    left, top = np.minimum(starts, ends).T.copy()
    right, bottom = np.maximum(starts, ends).T.copy()
    drawn = np.linspace(0, count - 1, _DRAWN_EDGES).astype(int)
    overlaps = sum(
        np.count_nonzero(
            (left <= right[it]) & (right >= left[it]) & (top <= bottom[it]) & (bottom >= top[it])
        )
        for it in drawn
    )
    return overlaps / len(drawn) * count / 2


def _named_rings(shape: Polygon) -> Iterator[tuple[str, Ring]]:
    for index, part in enumerate(shape.parts):
        for number, ring in enumerate(part):
            yield f"parts/{index}/{number}", ring


def _points(pointer: str, numbers: Sequence[float], width: int, height: int) -> Iterator[Problem]:
    if len(numbers) > MAX_COORDINATES:
        yield _too_many(pointer, len(numbers))
    elif not _finite(numbers):
        yield _not_finite(pointer)
    else:
        xs, ys = numbers[0::2], numbers[1::2]
        bounds = min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)
        yield from _reach(pointer, bounds, width, height)


def _reach(
    pointer: str, bounds: Bounds, width: int, height: int, corners: Ring = ()
) -> Iterator[Problem]:
    """Yield a problem for a shape that does not touch the picture, or leaves it by too much."""
    left, top, across, down = bounds
    right, bottom = left + across, top + down
    place = left + across / 2, top + down / 2
    if left >= 0 and top >= 0 and right <= width and bottom <= height:
        return
    if left > width or top > height or right < 0 or bottom < 0 or _misses(corners, width, height):
        yield Problem(
            pointer,
            Sentence(
                "annotations.shape_outside",
                "The shape lies outside of the picture. Move it into the picture or delete it.",
            ),
            place,
        )
    elif left < -width or top < -height or right > 2 * width or bottom > 2 * height:
        yield Problem(
            pointer,
            Sentence(
                "annotations.shape_too_far",
                "The shape leaves the picture by more than the picture's own size.",
            ),
            place,
        )


def _misses(corners: Ring, width: int, height: int) -> bool:
    if not corners:
        return False
    import shapely

    return not _shapely_part([corners]).intersects(shapely.box(0, 0, width, height))


def _finite(numbers: Sequence[float]) -> bool:
    return all(map(math.isfinite, numbers))


def _at(pointer: str, sentence: Sentence, reason: str) -> Problem:
    place = _PLACE.search(reason)
    return Problem(pointer, sentence, (float(place[1]), float(place[2])) if place else None)


def _not_finite(pointer: str) -> Problem:
    return Problem(
        pointer,
        Sentence(
            "annotations.not_finite", "A number is infinite or no number. Use finite numbers."
        ),
    )


def _no_area(pointer: str, x: float, y: float) -> Problem:
    return Problem(
        pointer,
        Sentence("annotations.box_no_area", "A box has a width and a height above 0."),
        (x, y),
    )


def _too_many(pointer: str, count: int) -> Problem:
    return Problem(
        pointer,
        Sentence(
            "annotations.too_many_coordinates",
            "A shape has at most {most} coordinates, not {count}.",
            most=MAX_COORDINATES,
            count=count,
        ),
    )


_CHECKS: dict[type, Callable[[Any, int, int], Iterator[Problem]]] = {
    Box: _box,
    RotatedBox: _rotated_box,
    Polygon: _polygon,
    Polyline: _polyline,
    Point: _point,
    Keypoints: _keypoints,
    Mask: _mask,
}
