"""Arithmetic of boxes: overlaps, and the choice of one box among those that overlap.

A box is (left, top, right, bottom) in pixels; the right and the bottom edge are outside.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]


def areas_of(boxes: Floats) -> Floats:
    """Return the areas, shape (boxes,), of boxes of shape (boxes, 4)."""
    areas: Floats = (boxes[:, 2] - boxes[:, 0]) * (boxes[:, 3] - boxes[:, 1])
    return areas


def intersections(first: Floats, second: Floats) -> Floats:
    """Return the common areas of each pair, shape (first, second)."""
    low = np.maximum(first[:, None, :2], second[None, :, :2])
    high = np.minimum(first[:, None, 2:], second[None, :, 2:])
    sides = np.clip(high - low, 0, None)
    common: Floats = sides[..., 0] * sides[..., 1]
    return common


def overlaps(detected: Floats, true: Floats, is_region: NDArray[np.bool_]) -> Floats:
    """Return the intersection over union of each pair, shape (detected, true).

    For a region, which may hold many objects, it is the share of the detected box inside it.
    """
    common = intersections(detected, true)
    own = areas_of(detected)[:, None]
    union = np.where(is_region[None], own, own + areas_of(true)[None] - common)
    shares: Floats = np.divide(common, union, out=np.zeros_like(common), where=union > 0)
    return shares


def keep_best(
    boxes: Floats, scores: Floats, codes: NDArray[np.int64], overlap: float, most: int
) -> NDArray[np.int64]:
    """Return the numbers of boxes that no better one of their class covers, best first.

    A box is covered by an intersection over union of more than `overlap`; at most `most` are kept.
    """
    order = np.argsort(-scores, kind="stable")
    kept: list[int] = []
    is_free = np.ones(len(boxes), bool)
    no_region = np.zeros(len(boxes), bool)
    for number in order.tolist():
        if not is_free[number]:
            continue
        kept.append(number)
        if len(kept) == most:
            break
        same = is_free & (codes == codes[number])
        places = np.flatnonzero(same)
        shares = overlaps(boxes[number : number + 1], boxes[places], no_region[places])[0]
        is_free[places[shares > overlap]] = False
    return np.array(kept, np.int64)
