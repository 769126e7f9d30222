"""Documents for property tests: any shape, exact coordinates, names in any script."""

from __future__ import annotations

from typing import Any

import numpy as np
from hypothesis import strategies as st

from atom_sdk.annotations import rle
from atom_sdk.annotations.documents import AnnotatedObject, Document, Relation
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

WIDTH, HEIGHT = 64, 48
floats = st.floats(allow_nan=False, allow_infinity=False)
x_values, y_values = st.floats(0, WIDTH), st.floats(0, HEIGHT)
sides = st.floats(0.01, 40)
ids = st.binary(min_size=8, max_size=8).map(bytes.hex)
texts = st.text(st.characters(codec="utf-8", exclude_characters="\0"), max_size=12)


def pairs(least: int, most: int = 6) -> st.SearchStrategy[tuple[float, ...]]:
    points = st.lists(st.tuples(x_values, y_values), min_size=least, max_size=most)
    return points.map(lambda it: tuple(number for point in it for number in point))


@st.composite
def masks(draw: st.DrawFn, height: int = HEIGHT, width: int = WIDTH) -> Mask:
    seed, share = draw(st.integers(0, 2**32 - 1)), draw(st.floats(0, 1))
    pixels = np.random.default_rng(seed).random((height, width)) < share
    return Mask(height, width, rle.encode(pixels))


boxes = st.builds(Box, x_values, y_values, sides, sides)
polygons = st.lists(st.lists(pairs(3), min_size=1, max_size=3).map(tuple), min_size=1, max_size=3)
keypoints = st.builds(
    Keypoints,
    st.lists(st.tuples(x_values, y_values, st.sampled_from([0.0, 1.0, 2.0])), max_size=5).map(
        tuple
    ),
    st.none() | boxes,
)
shapes: st.SearchStrategy[PictureGeometry] = st.one_of(
    boxes,
    st.builds(RotatedBox, x_values, y_values, sides, sides, st.floats(0, 360, exclude_max=True)),
    polygons.map(lambda parts: Polygon(tuple(parts))),
    st.builds(Polyline, pairs(2)),
    st.builds(Point, x_values, y_values),
    keypoints,
    masks(),
)
values: st.SearchStrategy[Any] = st.one_of(
    st.booleans(),
    st.integers(0, 99),
    floats.filter(lambda it: not it.is_integer()),
    texts,
    st.lists(st.integers(0, 9), max_size=3).map(tuple),
)
attributes = st.dictionaries(st.integers(0, 99), values, max_size=3).map(
    lambda it: dict(sorted(it.items()))
)
objects = st.builds(
    AnnotatedObject,
    ids,
    st.integers(0, 999),
    shapes,
    attributes,
    st.booleans(),
    st.none() | texts,
    st.none() | ids,
)
relations = st.builds(Relation, ids, st.integers(0, 9), ids, ids)
documents = st.builds(
    Document,
    st.just(WIDTH),
    st.just(HEIGHT),
    st.lists(st.integers(0, 999), max_size=3).map(tuple),
    attributes,
    st.lists(objects, max_size=4).map(tuple),
    st.lists(relations, max_size=2).map(tuple),
)
# Whatever JSON can hold, nested.
json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=6),
    lambda inner: (
        st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4)
    ),
    max_leaves=12,
)
