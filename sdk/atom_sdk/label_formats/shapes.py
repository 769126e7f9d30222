"""Plane geometry that formats need: corners, rectangles around points, cuts at a border.

Coordinates are as in the SDK's annotations: x right, y down, angles clockwise on the screen.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

XY = tuple[float, float]
Ring = tuple[float, ...]
Rotated = tuple[float, float, float, float, float]
"""Centre x, centre y, width, height, angle in degrees from 0 to 360."""


_QUARTERS: dict[float, XY] = {
    0: (1.0, 0.0),
    90: (0.0, 1.0),
    180: (-1.0, 0.0),
    270: (0.0, -1.0),
}


def corners(rotated: Rotated) -> Ring:
    """Return the corners: top left of the box as it is before it turns, then clockwise."""
    cx, cy, width, height, angle = rotated
    cosine, sine = _turn(angle)
    ring: list[float] = []
    for x, y in ((-1, -1), (1, -1), (1, 1), (-1, 1)):
        dx, dy = x * width / 2, y * height / 2
        ring += (cx + dx * cosine - dy * sine, cy + dx * sine + dy * cosine)
    return tuple(ring)


def _turn(angle: float) -> XY:
    """Cosine and sine, exact for quarters of a turn."""
    radians = math.radians(angle)
    return _QUARTERS.get(angle) or (math.cos(radians), math.sin(radians))


def rectangle_of(ring: Sequence[float], tolerance: float) -> Rotated | None:
    """Return the rotated box whose corners these are, None if they are no rectangle.

    `tolerance` is the distance by which a corner may be off.
    """
    points = pairs(ring)
    if len(points) != 4:
        return None
    (x0, y0), (x1, y1), (x2, y2), (x3, y3) = points
    width = (math.hypot(x1 - x0, y1 - y0) + math.hypot(x2 - x3, y2 - y3)) / 2
    height = (math.hypot(x3 - x0, y3 - y0) + math.hypot(x2 - x1, y2 - y1)) / 2
    if width <= 0 or height <= 0:
        return None
    angle = _angle(x1 - x0 + x2 - x3, y1 - y0 + y2 - y3)
    rotated = ((x0 + x1 + x2 + x3) / 4, (y0 + y1 + y2 + y3) / 4, width, height, angle)
    if _is_near(points, pairs(corners(rotated)), tolerance):
        return rotated
    if signed_area(ring) < 0:
        return rectangle_of(flat([points[0], *points[:0:-1]]), tolerance)
    return None


def _is_near(points: Sequence[XY], others: Sequence[XY], tolerance: float) -> bool:
    return all(
        math.dist(point, other) <= tolerance for point, other in zip(points, others, strict=True)
    )


def _angle(dx: float, dy: float) -> float:
    angle = math.degrees(math.atan2(dy, dx)) % 360
    return 0.0 if angle >= 360 else angle


def smallest_rectangle(ring: Sequence[float]) -> Rotated | None:
    """Return the rotated box of the smallest area around points, None if they lie in a line."""
    hull = convex_hull(pairs(ring))
    if len(hull) < 3:
        return None
    best: Rotated | None = None
    for (x0, y0), (x1, y1) in zip(hull, hull[1:] + hull[:1], strict=True):
        rotated = _along(hull, math.atan2(y1 - y0, x1 - x0))
        if best is None or rotated[2] * rotated[3] < best[2] * best[3]:
            best = rotated
    return best if best and best[2] > 0 and best[3] > 0 else None


def _along(hull: Sequence[XY], radians: float) -> Rotated:
    """The box around points whose first side has a direction."""
    cosine, sine = math.cos(radians), math.sin(radians)
    us = [x * cosine + y * sine for x, y in hull]
    vs = [y * cosine - x * sine for x, y in hull]
    u, v = (min(us) + max(us)) / 2, (min(vs) + max(vs)) / 2
    centre = (u * cosine - v * sine, u * sine + v * cosine)
    return (*centre, max(us) - min(us), max(vs) - min(vs), _angle(cosine, sine))


def convex_hull(points: Iterable[XY]) -> list[XY]:
    """Return the corners of the hull in order; fewer than three for points in a line."""
    ordered = sorted(set(points))
    if len(ordered) < 3:
        return ordered
    lower, upper = _half(ordered), _half(ordered[::-1])
    return lower[:-1] + upper[:-1]


def _half(points: Sequence[XY]) -> list[XY]:
    half: list[XY] = []
    for point in points:
        while len(half) >= 2 and _cross(half[-2], half[-1], point) <= 0:
            half.pop()
        half.append(point)
    return half


def _cross(origin: XY, first: XY, second: XY) -> float:
    return (first[0] - origin[0]) * (second[1] - origin[1]) - (first[1] - origin[1]) * (
        second[0] - origin[0]
    )


def ellipse(cx: float, cy: float, radius_x: float, radius_y: float, angle: float) -> Ring:
    """Return 72 points of an ellipse."""
    cosine, sine = _turn(angle % 360)
    ring: list[float] = []
    for step in range(72):
        radians = math.radians(step * 5)
        dx, dy = radius_x * math.cos(radians), radius_y * math.sin(radians)
        ring += (cx + dx * cosine - dy * sine, cy + dx * sine + dy * cosine)
    return tuple(ring)


def cut_box(box: Sequence[float], width: float, height: float) -> tuple[float, ...] | None:
    """Return the part of x, y, width, height in a picture, None if there is none."""
    x, y, wide, high = box
    left, top = max(x, 0.0), max(y, 0.0)
    right, bottom = min(x + wide, width), min(y + high, height)
    if (left, top, right, bottom) == (x, y, x + wide, y + high):
        return (x, y, wide, high)
    return (left, top, right - left, bottom - top) if right > left and bottom > top else None


def cut_ring(ring: Ring, width: float, height: float) -> Ring | None:
    """Return the part of a ring in a picture (Sutherland and Hodgman), None if there is none."""
    points = pairs(ring)
    for axis, limit, sign in ((0, 0.0, 1), (0, width, -1), (1, 0.0, 1), (1, height, -1)):
        points = _cut(points, axis, limit, sign)
        if len(points) < 3:
            return None
    cut = flat(points)
    return cut if signed_area(cut) else None


def _cut(points: list[XY], axis: int, limit: float, sign: int) -> list[XY]:
    kept: list[XY] = []
    for before, point in zip(points[-1:] + points[:-1], points, strict=True):
        was, is_in = (sign * (each[axis] - limit) >= 0 for each in (before, point))
        if was != is_in:
            kept.append(_crossing(before, point, axis, limit))
        if is_in:
            kept.append(point)
    return [point for place, point in enumerate(kept) if point != kept[place - 1]]


def _crossing(first: XY, second: XY, axis: int, limit: float) -> XY:
    share = (limit - first[axis]) / (second[axis] - first[axis])
    other = first[1 - axis] + share * (second[1 - axis] - first[1 - axis])
    return (limit, other) if axis == 0 else (other, limit)


def pairs(ring: Sequence[float]) -> list[XY]:
    """Return points of a flat list."""
    return list(zip(ring[0::2], ring[1::2], strict=True))


def flat(points: Iterable[XY]) -> Ring:
    """Return a flat list of points."""
    return tuple(number for point in points for number in point)


def bounds(ring: Sequence[float]) -> tuple[float, float, float, float]:
    """Return x, y, width, height around points."""
    xs, ys = ring[0::2], ring[1::2]
    return min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)


def signed_area(ring: Sequence[float]) -> float:
    """Return the area, positive where the ring runs clockwise on the screen."""
    xs, ys = ring[0::2], ring[1::2]
    x0, y0 = xs[0], ys[0]
    return (
        sum(
            (xs[i - 1] - x0) * (ys[i] - y0) - (xs[i] - x0) * (ys[i - 1] - y0)
            for i in range(len(xs))
        )
        / 2
    )
