"""Labels of a stored picture lie on the same pixels once the picture is turned as EXIF says."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from PIL import Image

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    Point,
    Polygon,
    Polyline,
    RotatedBox,
)
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.turning import turned_document
from atom_sdk.readers.pixels import upright

WIDTH, HEIGHT = 9, 6
CORNER = ((1.0, 2.0), (4.0, 2.0), (4.0, 3.0), (2.0, 3.0), (2.0, 5.0), (1.0, 5.0))
ORIENTATIONS = (5, 6, 7, 8)


def turned(shape: Any, orientation: int) -> Any:
    """Return the shape of a document that is turned."""
    each = NamedObject("0" * 16, "car", shape, {})
    document = NamedDocument(WIDTH, HEIGHT, objects=(each,))
    result = turned_document(document, orientation)
    assert (result.width, result.height) == (HEIGHT, WIDTH)
    return result.objects[0].geometry


def pixels(points: Any, orientation: int) -> Any:
    """Return the pixels of a polygon of the stored picture, turned as a reader turns pictures."""
    stored = rle.decode(rle.from_polygon([[points]], HEIGHT, WIDTH), HEIGHT, WIDTH)
    return np.asarray(upright(Image.fromarray(stored), orientation))


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_masks_and_polygons_cover_the_pixels_that_a_reader_shows(orientation: int) -> None:
    flat = tuple(value for point in CORNER for value in point)
    expected = pixels(flat, orientation)
    assert expected.any()
    polygon = turned(Polygon(((flat,),)), orientation)
    drawn = rle.from_polygon(polygon.parts, WIDTH, HEIGHT)
    np.testing.assert_array_equal(rle.decode(drawn, WIDTH, HEIGHT), expected)
    mask = turned(Mask(HEIGHT, WIDTH, rle.from_polygon([[flat]], HEIGHT, WIDTH)), orientation)
    np.testing.assert_array_equal(rle.decode(mask.counts, mask.height, mask.width), expected)


@pytest.mark.parametrize("orientation", ORIENTATIONS)
def test_boxes_lines_and_points_go_where_their_corners_go(orientation: int) -> None:
    box = turned(Box(1.25, 2, 4, 1.5), orientation)
    around = turned(Polygon((((1.25, 2, 5.25, 2, 5.25, 3.5, 1.25, 3.5),),)), orientation)
    assert box.bounds == pytest.approx(around.bounds)
    line = turned(Polyline((1, 2, 4, 5)), orientation)
    ends = [turned(Point(1, 2), orientation), turned(Point(4, 5), orientation)]
    assert line.points == tuple(value for end in ends for value in (end.x, end.y))
    points = turned(Keypoints(((1, 2, 2), (0, 0, 0)), Box(1.25, 2, 4, 1.5)), orientation)
    assert points.points == ((ends[0].x, ends[0].y, 2), (0, 0, 0))
    assert points.box == box


@pytest.mark.parametrize("orientation", ORIENTATIONS)
@pytest.mark.parametrize("angle", [0.0, 30.0, 200.0])
def test_a_rotated_box_has_the_corners_of_the_stored_box(orientation: int, angle: float) -> None:
    stored = RotatedBox(4, 3, 3, 1, angle)
    box = turned(stored, orientation)
    assert 0 <= box.angle < 360
    expected = turned(Polygon(((flat_corners(stored),),)), orientation).parts[0][0]
    assert sorted_points(flat_corners(box)) == pytest.approx(sorted_points(expected))


def flat_corners(box: RotatedBox) -> tuple[float, ...]:
    """Return the corners of a box, by its angle clockwise on the screen."""
    turn = np.radians(box.angle)
    along = np.array([np.cos(turn), np.sin(turn)]) * box.width / 2
    across = np.array([-np.sin(turn), np.cos(turn)]) * box.height / 2
    centre = np.array([box.cx, box.cy])
    signs = ((1, 1), (1, -1), (-1, -1), (-1, 1))
    return tuple(float(v) for a, b in signs for v in centre + a * along + b * across)


def sorted_points(flat: tuple[float, ...]) -> Any:
    """Return the points in an order that does not depend on the first one."""
    rounded = np.round(np.array(flat).reshape(-1, 2), 9)
    return rounded[np.lexsort(rounded.T)]
