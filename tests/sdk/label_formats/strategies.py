"""Documents by names for properties: valid shapes, exact coordinates, names in any script."""

from __future__ import annotations

import math

import numpy as np
from hypothesis import strategies as st

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
from atom_sdk.annotations.naming import NamedDocument, NamedObject, NamedRelation, NamedValue
from atom_sdk.label_formats.interface import LabelledPicture

WIDTH, HEIGHT = 64, 48
SKELETON = ("nose", "left eye", "right eye")
xs, ys = st.floats(0, WIDTH), st.floats(0, HEIGHT)
sides = st.floats(0.5, 40)
ids = st.binary(min_size=8, max_size=8).map(bytes.hex)
names = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S")), min_size=1, max_size=8
)
texts = st.text(
    st.characters(codec="utf-8", exclude_categories=("Cc", "Cf", "Cs", "Co", "Cn")), max_size=12
)
LABELS = ("cat", "车 & <b>", 'a "b"', "person")


@st.composite
def rings(draw: st.DrawFn, cx: float = 32, cy: float = 24, most: float = 20) -> tuple[float, ...]:
    """A ring around a point, whose sides cannot cross."""
    count = draw(st.integers(3, 9))
    turn = draw(st.floats(0, 1))
    ring: list[float] = []
    for number in range(count):
        radius = draw(st.floats(most / 2, most))
        angle = 2 * math.pi * (number + turn) / count
        ring += (cx + radius * math.cos(angle), cy + radius * math.sin(angle))
    return tuple(ring)


@st.composite
def polygons(draw: st.DrawFn) -> Polygon:
    """A polygon with a hole, or of two parts, or neither."""
    kind = draw(st.sampled_from(["plain", "hole", "parts"]))
    if kind == "plain":
        return Polygon(((draw(rings()),),))
    if kind == "hole":
        # The nearest side of a triangle is at a quarter of its largest radius.
        return Polygon(((draw(rings(most=20)), draw(rings(most=3))),))
    return Polygon(((draw(rings(cx=12, most=8)),), (draw(rings(cx=50, most=8)),)))


@st.composite
def masks(draw: st.DrawFn) -> Mask:
    seed, share = draw(st.integers(0, 2**32 - 1)), draw(st.floats(0.05, 1))
    pixels = np.random.default_rng(seed).random((HEIGHT, WIDTH)) < share
    pixels[draw(st.integers(0, HEIGHT - 1)), draw(st.integers(0, WIDTH - 1))] = True
    return Mask(HEIGHT, WIDTH, rle.encode(pixels))


boxes = st.builds(Box, xs, ys, sides, sides).filter(lambda box: box.x < WIDTH and box.y < HEIGHT)
points = st.tuples(xs, ys, st.sampled_from([0, 1, 2])).map(
    lambda point: point if point[2] else (0.0, 0.0, 0)
)
keypoints = st.builds(
    Keypoints, st.tuples(points, points, st.tuples(xs, ys, st.just(2))), st.none() | boxes
)
shapes = st.one_of(
    boxes,
    st.builds(RotatedBox, xs, ys, sides, sides, st.floats(0, 360, exclude_max=True)),
    polygons(),
    st.builds(
        Polyline,
        st.lists(st.tuples(xs, ys), min_size=2, max_size=5).map(
            lambda pairs: tuple(number for pair in pairs for number in pair)
        ),
    ),
    st.builds(Point, xs, ys),
    keypoints,
    masks(),
)
# One type for each name, as an ontology has it.
attributes: st.SearchStrategy[dict[str, NamedValue]] = st.fixed_dictionaries(
    {},
    optional={
        "colour": st.sampled_from(["red", "深红", "a < b"]),
        "doors": st.integers(-99, 99),
        "length": st.floats(-1e6, 1e6).filter(lambda number: not number.is_integer()),
        "moving": st.booleans(),
        "occluded": st.booleans(),
        "tags": st.just(("x", "y")),
    },
)


@st.composite
def objects(draw: st.DrawFn) -> NamedObject:
    shape = draw(shapes)
    label = "person" if isinstance(shape, Keypoints) else draw(st.sampled_from(LABELS[:3]))
    return NamedObject(
        draw(ids),
        label,
        shape,
        draw(attributes),
        draw(st.booleans()),
        draw(st.none() | texts),
        draw(st.none() | ids),
    )


@st.composite
def documents(draw: st.DrawFn) -> NamedDocument:
    drawn = draw(st.lists(objects(), max_size=5, unique_by=lambda each: each.id))
    relations = []
    if len(drawn) > 1:
        count = draw(st.integers(0, 1))
        relations = [NamedRelation(draw(ids), "on", drawn[0].id, drawn[1].id)] * count
    return NamedDocument(
        WIDTH,
        HEIGHT,
        tuple(draw(st.lists(st.sampled_from(["indoor", "雨"]), max_size=2, unique=True))),
        draw(st.fixed_dictionaries({}, optional={"weather": st.sampled_from(["rain", "sun"])})),
        tuple(drawn),
        tuple(relations),
    )


@st.composite
def pictures(draw: st.DrawFn) -> list[LabelledPicture]:
    paths = ["a.png", "deep/猫 b.png", "deep/c.png"]
    return [
        LabelledPicture(path, draw(documents()), draw(st.sampled_from([None, "train", "val"])))
        for path in paths[: draw(st.integers(1, 3))]
    ]
