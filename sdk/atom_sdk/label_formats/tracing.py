"""Polygons around the pixels of a mask, along the edges of pixels: nothing is smoothed.

Pixels that touch only at a corner are apart, so no ring crosses or touches itself.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from atom_sdk.label_formats.shapes import Ring, bounds, flat, signed_area

Point = tuple[int, int]
Part = tuple[Ring, ...]
# To the right, down, to the left, up: one more is a turn to the right.
_STEPS = ((1, 0), (0, 1), (-1, 0), (0, -1))


def trace(mask: NDArray[np.bool_]) -> tuple[Part, ...]:
    """Return the parts of a mask: for each its outer border, clockwise, and its holes."""
    borders: list[Ring] = []
    holes: list[Ring] = []
    for ring in _rings(_edges(mask)):
        (borders if signed_area(ring) > 0 else holes).append(ring)
    inner: list[list[Ring]] = [[] for _ in borders]
    for hole in holes:
        inner[_owner(hole, borders)].append(hole)
    return tuple((border, *own) for border, own in zip(borders, inner, strict=True))


def _edges(mask: NDArray[np.bool_]) -> dict[Point, list[int]]:
    """Directions of the edges that begin at each corner; the mask lies to their right."""
    padded = np.pad(mask.astype(np.int8), 1)
    down, across = np.diff(padded, axis=0)[:, 1:-1], np.diff(padded, axis=1)[1:-1]
    edges: dict[Point, list[int]] = {}
    for found, dx, dy, direction in (
        (down == 1, 0, 0, 0),
        (across == -1, 0, 0, 1),
        (down == -1, 1, 0, 2),
        (across == 1, 0, 1, 3),
    ):
        ys, xs = np.nonzero(found)
        for x, y in zip((xs + dx).tolist(), (ys + dy).tolist(), strict=True):
            edges.setdefault((x, y), []).append(direction)
    return edges


def _rings(edges: dict[Point, list[int]]) -> Iterator[Ring]:
    while edges:
        start = next(iter(edges))
        yield from _simple(_walk(edges, start))


def _walk(edges: dict[Point, list[int]], start: Point) -> list[Point]:
    """The corners of a closed way, each edge of which is used up."""
    point, direction = start, edges[start][0]
    way: list[Point] = []
    while True:
        options = edges.get(point)
        if not options:
            return way
        # A turn to the right stays at the same pixel.
        turns = ((direction + 1) % 4, direction, (direction + 3) % 4)
        direction = next((turn for turn in turns if turn in options), options[0])
        options.remove(direction)
        if not options:
            del edges[point]
        way.append(point)
        point = (point[0] + _STEPS[direction][0], point[1] + _STEPS[direction][1])


def _simple(way: list[Point]) -> Iterator[Ring]:
    """Cut a way that comes back to a corner into rings that do not."""
    places: dict[Point, int] = {}
    open_way: list[Point] = []
    for point in way:
        if point in places:
            place = places[point]
            yield _straightened(open_way[place:])
            for each in open_way[place:]:
                del places[each]
            del open_way[place:]
        places[point] = len(open_way)
        open_way.append(point)
    if open_way:
        yield _straightened(open_way)


def _straightened(way: list[Point]) -> Ring:
    """Only the corners where the way turns."""
    kept = []
    for place, (x, y) in enumerate(way):
        (x0, y0), (x1, y1) = way[place - 1], way[(place + 1) % len(way)]
        if (x - x0) * (y1 - y) != (x1 - x) * (y - y0):
            kept.append((float(x), float(y)))
    return flat(kept)


def _owner(hole: Ring, borders: list[Ring]) -> int:
    """The smallest border around a hole."""
    around = [place for place, ring in enumerate(borders) if _is_in(_beside(hole), ring)]
    return min(around, key=lambda place: abs(signed_area(borders[place])))


def _beside(hole: Ring) -> tuple[float, float]:
    """A point in the hole's own mask: half a pixel to the right of its first edge."""
    x0, y0, x1, y1 = hole[:4]
    dx, dy = np.sign(x1 - x0), np.sign(y1 - y0)
    return float(x0 + dx / 2 - dy / 2), float(y0 + dy / 2 + dx / 2)


def _is_in(point: tuple[float, float], ring: Ring) -> bool:
    x, y = point
    left, top, width, height = bounds(ring)
    if not (left < x < left + width and top < y < top + height):
        return False
    is_in = False
    xs, ys = ring[0::2], ring[1::2]
    for place in range(len(xs)):
        above, below = ys[place - 1] > y, ys[place] > y
        if above != below and xs[place] > x:
            is_in = not is_in
    return is_in
