"""Areas and bounds equal those of shapely."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import assume, given
from hypothesis import strategies as st

from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    Point,
    Polygon,
    Polyline,
    Ring,
    RotatedBox,
)
from tests.sdk.annotations import strategies as some


def ring_of(shape: Ring) -> list[tuple[float, float]]:
    return list(zip(shape[0::2], shape[1::2], strict=True))


def close(first: Any, second: Any) -> None:
    np.testing.assert_allclose(first, second, rtol=1e-9, atol=1e-9)


def as_box(bounds: tuple[float, ...]) -> tuple[float, ...]:
    left, top, right, bottom = bounds
    return left, top, right - left, bottom - top


@given(some.polygons)
def test_a_polygon(parts: list[tuple[Ring, ...]]) -> None:
    polygon = Polygon(tuple(parts))
    rings = [shapely.Polygon(ring_of(part[0]), [*map(ring_of, part[1:])]) for part in parts]
    outer = sum(shapely.Polygon(ring_of(part[0])).area for part in parts)
    holes = sum(shapely.Polygon(ring_of(ring)).area for part in parts for ring in part[1:])
    close(polygon.area, outer - holes)
    close(polygon.bounds, as_box(shapely.MultiPolygon(rings).bounds))


@given(
    st.builds(RotatedBox, some.x_values, some.y_values, some.sides, some.sides, st.floats(0, 359))
)
def test_a_rotated_box(box: RotatedBox) -> None:
    plain = shapely.box(-box.width / 2, -box.height / 2, box.width / 2, box.height / 2)
    # y grows down, so that a positive angle of shapely turns clockwise on the screen.
    turned = shapely.affinity.rotate(plain, box.angle, origin=(0, 0))
    moved = shapely.affinity.translate(turned, box.cx, box.cy)
    close(box.area, moved.area)
    close(box.bounds, as_box(moved.bounds))
    assert shapely.Polygon(ring_of(box.corners)).symmetric_difference(moved).area < 1e-6


def test_a_turn_is_clockwise_on_the_screen() -> None:
    # The top edge of a wide box becomes its right edge.
    close(RotatedBox(0, 0, 4, 2, 90).corners[:4], (1, -2, 1, 2))


@given(some.pairs(2))
def test_a_polyline(points: tuple[float, ...]) -> None:
    close(Polyline(points).bounds, as_box(shapely.LineString(ring_of(points)).bounds))
    assert Polyline(points).area == 0


@given(some.masks())
def test_a_mask(mask: Mask) -> None:
    assume(mask.area)
    _, _, width, height = mask.bounds
    assert 0 < mask.area <= width * height


def test_keypoints_have_the_box_or_the_points_that_are_there() -> None:
    points = ((0.0, 0.0, 0.0), (3.0, 4.0, 1.0), (5.0, 9.0, 2.0))
    assert Keypoints(points).bounds == (3, 4, 2, 5)
    assert Keypoints(points).area == 10
    assert Keypoints(points, Box(1, 1, 8, 9)).area == 72
    assert Keypoints(((0.0, 0.0, 0.0),)).bounds == (0, 0, 0, 0)


def test_a_box_and_a_point() -> None:
    assert (Box(1, 2, 3, 4).bounds, Box(1, 2, 3, 4).area) == ((1, 2, 3, 4), 12)
    assert (Point(1, 2).bounds, Point(1, 2).area) == ((1, 2, 0, 0), 0)


def test_a_small_ring_far_from_the_origin_keeps_its_area() -> None:
    ring = (1e7, 1e7, 1e7 + 0.5, 1e7, 1e7 + 0.5, 1e7 + 0.5)
    assert Polygon(((ring,),)).area == pytest.approx(0.125, rel=1e-12)
    assert math.isfinite(Polygon(()).area)
