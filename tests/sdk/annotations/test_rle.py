"""Run lengths equal those of pycocotools byte for byte."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from numpy.typing import NDArray
from pycocotools import mask as coco

from atom_sdk.annotations import rle
from atom_sdk.annotations.problems import DocumentError

sizes = st.tuples(st.integers(1, 40), st.integers(1, 40))


@st.composite
def pixel_masks(draw: st.DrawFn) -> NDArray[np.bool_]:
    size = draw(sizes)
    seed, share = draw(st.integers(0, 2**32 - 1)), draw(st.floats(0, 1))
    return np.random.default_rng(seed).random(size) < share


def coco_rle(mask: NDArray[np.bool_]) -> dict[str, object]:
    encoded: dict[str, object] = coco.encode(np.asfortranarray(mask.astype(np.uint8)))
    return encoded


@given(pixel_masks())
def test_a_mask_is_written_and_read_as_by_coco(mask: NDArray[np.bool_]) -> None:
    height, width = mask.shape
    expected = coco_rle(mask)
    text = rle.encode(mask)
    assert text.encode() == expected["counts"]
    assert (rle.decode(text, height, width) == mask).all()
    assert rle.area(text) == coco.area(expected) == mask.sum()
    assert rle.bounds(text, height, width) == tuple(coco.toBbox(expected))


@pytest.mark.parametrize("size", [(1, 1), (7, 300), (2000, 3000)])
@pytest.mark.parametrize("value", [False, True])
def test_a_mask_of_one_value(size: tuple[int, int], *, value: bool) -> None:
    mask = np.full(size, value)
    assert rle.encode(mask).encode() == coco_rle(mask)["counts"]
    assert (rle.decode(rle.encode(mask), *size) == mask).all()


# Beyond the picture, on and between its pixels, and in places that fall together.
coordinates = st.one_of(
    st.floats(-5, 50), st.integers(-3, 45).map(float), st.integers(-9, 400).map(lambda it: it / 10)
)
rings = st.lists(coordinates, min_size=6, max_size=16).map(lambda it: it[: len(it) // 2 * 2])


@given(rings, sizes)
def test_a_ring_is_filled_as_by_coco(ring: list[float], size: tuple[int, int]) -> None:
    # Below zero, cocoapi's casts of doubles to unsigned integers depend on the processor.
    inside = [max(number, 0.0) for number in ring]
    expected = coco.frPyObjects([inside], *size)[0]
    assert rle.from_polygon([[inside]], *size).encode() == expected["counts"]


@given(st.lists(rings, min_size=2, max_size=4), sizes)
def test_parts_are_merged_as_by_coco(parts: list[list[float]], size: tuple[int, int]) -> None:
    inside = [[max(number, 0.0) for number in ring] for ring in parts]
    expected = coco.merge(coco.frPyObjects(inside, *size))
    assert rle.from_polygon([[ring] for ring in inside], *size).encode() == expected["counts"]


@given(rings, rings, sizes)
def test_a_hole_is_left_out(outer: list[float], hole: list[float], size: tuple[int, int]) -> None:
    both = [rle.decode(rle.from_polygon([[ring]], *size), *size) for ring in (outer, hole)]
    mask = rle.decode(rle.from_polygon([[outer, hole]], *size), *size)
    assert (mask == (both[0] & ~both[1])).all()


def test_a_long_border_is_drawn_in_batches(monkeypatch: pytest.MonkeyPatch) -> None:
    angles = np.linspace(0, 2 * np.pi, 400, endpoint=False)
    ring = (np.stack([np.cos(angles), np.sin(angles)], axis=1) * 90 + 100).ravel().tolist()
    whole = rle.from_polygon([[ring]], 200, 200)
    monkeypatch.setattr(rle, "_POINTS_AT_ONCE", 64)
    assert rle.from_polygon([[ring]], 200, 200) == whole


@pytest.mark.parametrize(
    "text",
    ["", "é", "~", "!", "P", "0P", "1" * 3, "o" * 40, "oooooooo0", "N1", "\ud800", "9" * 10_000],
)
def test_bad_text_is_refused(text: str) -> None:
    with pytest.raises(DocumentError):
        rle.decode(text, 4, 5)


def test_no_polygon_is_an_empty_mask() -> None:
    assert not rle.decode(rle.from_polygon([], 3, 4), 3, 4).any()
