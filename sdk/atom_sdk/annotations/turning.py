"""Shapes of a picture as it is stored, as shapes of the picture as EXIF turns it.

An orientation is EXIF's number, 5 to 8: those four swap width and height.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.annotations import rle
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.shapes import (
    Box,
    Keypoints,
    Mask,
    Point,
    Polygon,
    Polyline,
    Ring,
    RotatedBox,
)

_Place = Callable[[float, float, int, int], tuple[float, float]]
# By the stored x and y and the stored width and height.
_PLACES: Mapping[int, _Place] = {
    5: lambda x, y, width, height: (y, x),
    6: lambda x, y, width, height: (height - y, x),
    7: lambda x, y, width, height: (height - y, width - x),
    8: lambda x, y, width, height: (y, width - x),
}
_ANGLES: Mapping[int, Callable[[float], float]] = {
    5: lambda angle: 90 - angle,
    6: lambda angle: angle + 90,
    7: lambda angle: 270 - angle,
    8: lambda angle: angle - 90,
}
_MASKS: Mapping[int, Callable[[NDArray[np.bool_]], NDArray[np.bool_]]] = {
    5: lambda mask: mask.T,
    6: lambda mask: np.rot90(mask, -1),
    7: lambda mask: np.rot90(mask, 2).T,
    8: np.rot90,
}
SIDEWAYS = frozenset(_PLACES)


def turned_document(document: NamedDocument, orientation: int) -> NamedDocument:
    """Return a document about the stored picture as one about the picture that people see."""
    turn = _Turn(orientation, document.width, document.height)
    return replace(
        document,
        width=document.height,
        height=document.width,
        objects=tuple(turn.object(each) for each in document.objects),
    )


class _Turn:
    def __init__(self, orientation: int, width: int, height: int) -> None:
        self._orientation = orientation
        self._size = width, height

    def object(self, each: NamedObject) -> NamedObject:
        return replace(each, geometry=self._shape(each.geometry))

    def _shape(self, shape: Any) -> Any:
        match shape:
            case Box():
                return self._box(shape)
            case RotatedBox(cx, cy, width, height, angle):
                place = self._place(cx, cy)
                return RotatedBox(*place, width, height, _ANGLES[self._orientation](angle) % 360)
            case Polygon(parts):
                return Polygon(tuple(tuple(self._flat(ring) for ring in part) for part in parts))
            case Polyline(points):
                return Polyline(self._flat(points))
            case Point(x, y):
                return Point(*self._place(x, y))
            case Keypoints(points, box):
                # An absent point lies at 0, 0 in every picture.
                moved = tuple((*self._place(x, y), v) if v else (x, y, v) for x, y, v in points)
                return Keypoints(moved, None if box is None else self._box(box))
            case Mask(height, width, counts):
                pixels = _MASKS[self._orientation](rle.decode(counts, height, width))
                return Mask(width, height, rle.encode(pixels))
        # Segments and spans have no place in a picture.
        return shape

    def _box(self, box: Box) -> Box:
        left, top = self._place(box.x, box.y)
        right, bottom = self._place(box.x + box.width, box.y + box.height)
        return Box(min(left, right), min(top, bottom), box.height, box.width)

    def _flat(self, ring: Ring) -> Ring:
        pairs = zip(ring[::2], ring[1::2], strict=True)
        return tuple(value for x, y in pairs for value in self._place(x, y))

    def _place(self, x: float, y: float) -> tuple[float, float]:
        return _PLACES[self._orientation](x, y, *self._size)
