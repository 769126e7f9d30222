"""Masks as COCO's run lengths: columns come first, zeros begin.

Compressed lengths are text, six bits a character; each length from the fourth on stands as its
difference from the one two before. All results equal those of `common/maskApi.c` of cocoapi.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.annotations.problems import DocumentError, refusal
from atom_sdk.sentences import Sentence

Runs = NDArray[np.int64]
_OFFSET, _BITS, _MORE, _SIGN = 48, 5, 0x20, 0x10
# Lengths have 32 bits, so that a character carries their last bits at the latest.
_MAX_CHARACTERS = 8
# A border is drawn five times finer than pixels; so many points at once bound the memory.
_SCALE = 5.0
_POINTS_AT_ONCE = 1 << 21


def encode(mask: NDArray[Any]) -> str:
    """Return the compressed run lengths of a mask of shape (height, width)."""
    return to_text(runs_of_mask(mask))


def decode(counts: str, height: int, width: int) -> NDArray[np.bool_]:
    """Return the mask, shape (height, width). Raises DocumentError for unreadable lengths."""
    return mask_of_runs(checked_runs(counts, height, width), height, width)


def area(counts: str) -> int:
    """Return the number of pixels of a mask. Raises DocumentError for unreadable lengths."""
    return int(from_text(counts)[1::2].sum())


def bounds(counts: str, height: int, width: int) -> tuple[float, float, float, float]:
    """Return x, y, width, height around the pixels, all zero without a pixel."""
    return bounds_of_runs(checked_runs(counts, height, width), height)


def from_polygon(parts: Iterable[Sequence[Sequence[float]]], height: int, width: int) -> str:
    """Return the mask of a polygon's parts: the union of outer borders, without their holes."""
    covered: Runs | None = None
    for outer, *holes in parts:
        part = _ring_runs(outer, height, width)
        for hole in holes:
            part = _combined(part, _ring_runs(hole, height, width), keep_second=False)
        covered = part if covered is None else _combined(covered, part, keep_second=True)
    return to_text(np.array([height * width]) if covered is None else covered)


def runs_of_mask(mask: NDArray[Any]) -> Runs:
    """Return the lengths of runs, zeros first, of a mask of shape (height, width)."""
    flat = np.asarray(mask).astype(bool, copy=False).ravel(order="F")
    ends = np.flatnonzero(flat[1:] != flat[:-1]) + 1
    borders = np.concatenate([[0] if flat.size and flat[0] else [], ends, [flat.size]])
    return np.diff(borders, prepend=0).astype(np.int64)


def mask_of_runs(runs: Runs, height: int, width: int) -> NDArray[np.bool_]:
    """Return the mask of lengths that fill it, shape (height, width)."""
    values = np.zeros(len(runs), bool)
    values[1::2] = True
    return np.repeat(values, runs).reshape(width, height).T


def bounds_of_runs(runs: Runs, height: int) -> tuple[float, float, float, float]:
    """Return x, y, width, height around the pixels, all zero without a pixel."""
    ends = np.cumsum(runs)[1::2]
    lengths = runs[1::2]
    starts, ends = (ends - lengths)[lengths > 0], ends[lengths > 0]
    if not len(starts):
        return 0.0, 0.0, 0.0, 0.0
    left, right = int(starts[0]) // height, (int(ends[-1]) - 1) // height + 1
    # A run that goes on in the next column covers the bottom of one and the top of the other.
    if (starts // height != (ends - 1) // height).any():
        top, bottom = 0, height
    else:
        top, bottom = int((starts % height).min()), int(((ends - 1) % height).max()) + 1
    return float(left), float(top), float(right - left), float(bottom - top)


def to_text(runs: Runs) -> str:
    """Return lengths as compressed text."""
    values = np.array(runs, np.int64)
    values[3:] -= np.asarray(runs, np.int64)[1:-2]
    planes, kept = [], []
    is_open = np.ones(len(values), bool)
    while is_open.any():
        bits = values & 0x1F
        values >>= _BITS
        goes_on = values != np.where(bits & _SIGN, -1, 0)
        planes.append(bits + _MORE * goes_on + _OFFSET)
        kept.append(is_open)
        is_open = is_open & goes_on
    if not planes:
        return ""
    characters = np.stack(planes, axis=1)[np.stack(kept, axis=1)]
    return str(characters.astype(np.uint8).tobytes(), "ascii")


def from_text(text: str) -> Runs:
    """Return the lengths that compressed text stands for. Raises DocumentError."""
    try:
        bits = np.frombuffer(text.encode("ascii"), np.uint8).astype(np.int64) - _OFFSET
    except UnicodeEncodeError:
        raise _unreadable() from None
    if not len(bits):
        return np.empty(0, np.int64)
    ends = np.flatnonzero((bits & _MORE) == 0)
    if bits.min() < 0 or bits.max() > 0x3F or not len(ends) or ends[-1] != len(bits) - 1:
        raise _unreadable()
    starts = np.concatenate([[0], ends[:-1] + 1])
    sizes = ends - starts + 1
    if sizes.max() > _MAX_CHARACTERS:
        raise _unreadable()
    places = np.arange(len(bits)) - np.repeat(starts, sizes)
    values = np.add.reduceat((bits & 0x1F) << (_BITS * places), starts)
    values -= np.where(bits[ends] & _SIGN, 1, 0) << (_BITS * sizes)
    values[1::2] = np.cumsum(values[1::2])
    values[2::2] = np.cumsum(values[2::2])
    return values


def checked_runs(counts: str, height: int, width: int) -> Runs:
    """Return the lengths of a mask of this size. Raises DocumentError if they do not fill it."""
    runs = from_text(counts)
    if len(runs) and runs.min() < 0:
        raise _unreadable()
    total = int(runs.sum())
    if total != height * width:
        sizes = {"width": width, "height": height, "expected": height * width}
        raise refusal(
            "rle",
            Sentence(
                "annotations.rle_size_differs",
                "The run lengths cover {total} pixels; {width} × {height} pixels are {expected}.",
                total=total,
                **sizes,
            ),
        )
    return runs


def _unreadable() -> DocumentError:
    return refusal(
        "rle/counts",
        Sentence(
            "annotations.rle_unreadable",
            "The run lengths cannot be read. Use COCO's compressed text.",
        ),
    )


def _combined(first: Runs, second: Runs, *, keep_second: bool) -> Runs:
    """Return the union of two masks, or the first without the second."""
    total = int(first.sum())
    # Each border of a run switches its mask on or off.
    places = np.concatenate([np.cumsum(first)[:-1], np.cumsum(second)[:-1]])
    steps = (
        np.concatenate([_switches(len(first) - 1), np.zeros(len(second) - 1, np.int64)]),
        np.concatenate([np.zeros(len(first) - 1, np.int64), _switches(len(second) - 1)]),
    )
    order = np.argsort(places, kind="stable")
    in_first, in_second = (np.cumsum(step[order]) > 0 for step in steps)
    inside = in_first | in_second if keep_second else in_first & ~in_second
    places = places[order]
    is_last = np.append(places[1:] != places[:-1], True) if len(places) else np.empty(0, bool)
    places, inside = places[is_last], inside[is_last]
    changes = inside != np.concatenate([[False], inside[:-1]])
    return _runs_of_borders(places[changes], total)


def _switches(count: int) -> Runs:
    return np.where(np.arange(count) % 2, -1, 1).astype(np.int64)


def _runs_of_borders(borders: NDArray[np.int64], total: int) -> Runs:
    if not len(borders) or borders[-1] != total:
        borders = np.append(borders, total)
    return np.diff(borders, prepend=0)


def _ring_runs(ring: Sequence[float], height: int, width: int) -> Runs:
    """Return the mask inside of a ring: `rleFrPoly` of maskApi.c."""
    points = np.asarray(ring, np.float64).reshape(-1, 2)
    fine = np.trunc(_SCALE * points + 0.5).astype(np.int64)
    starts, ends = fine, np.roll(fine, -1, axis=0)
    sizes = np.abs(ends - starts).max(axis=1) + 1
    borders = []
    last = starts[:0]
    for first, stop in _batches(sizes):
        drawn = _drawn(starts[first:stop], ends[first:stop], sizes[first:stop])
        borders.append(_column_borders(np.concatenate([last, drawn]), height, width))
        last = drawn[-1:]
    places, times = np.unique(np.concatenate(borders), return_counts=True)
    # A place that is crossed twice begins and ends a run without pixels.
    return _runs_of_borders(places[times % 2 == 1], height * width)


def _batches(sizes: NDArray[np.int64]) -> list[tuple[int, int]]:
    number = np.cumsum(sizes) // _POINTS_AT_ONCE
    cuts = [0, *(np.flatnonzero(np.diff(number)) + 1).tolist(), len(sizes)]
    return list(pairwise(cuts))


def _drawn(
    starts: NDArray[np.int64], ends: NDArray[np.int64], sizes: NDArray[np.int64]
) -> NDArray[np.int64]:
    """Return the points of all edges, drawn densely, shape (points, 2)."""
    delta = np.abs(ends - starts)
    main = np.where(delta[:, 0] >= delta[:, 1], 0, 1)
    edges = np.arange(len(starts))
    flip = starts[edges, main] > ends[edges, main]
    low = np.where(flip[:, None], ends, starts)
    high = np.where(flip[:, None], starts, ends)
    length = delta[edges, main]
    rise = high[edges, 1 - main] - low[edges, 1 - main]
    slope = np.where(length > 0, rise / np.maximum(length, 1), 0.0)
    step = np.arange(int(sizes.sum())) - np.repeat(np.cumsum(sizes) - sizes, sizes)
    edge = np.repeat(edges, sizes)
    step = np.where(flip[edge], length[edge] - step, step)
    along = step + low[edge, main[edge]]
    across = low[edge, 1 - main[edge]] + slope[edge] * step + 0.5
    points = np.stack([along, np.trunc(across).astype(np.int64)], axis=1)
    return np.where(main[edge][:, None] == 0, points, points[:, ::-1])


def _column_borders(points: NDArray[np.int64], height: int, width: int) -> NDArray[np.int64]:
    """Return the pixels, counted down the columns, at which the line enters another column."""
    before, after = points[:-1], points[1:]
    moves = before[:, 0] != after[:, 0]
    before, after = before[moves], after[moves]
    left = np.where(after[:, 0] < before[:, 0], after[:, 0], after[:, 0] - 1)
    x = (left + 0.5) / _SCALE - 0.5
    kept = (np.floor(x) == x) & (x >= 0) & (x <= width - 1)
    y = (np.minimum(after[kept, 1], before[kept, 1]) + 0.5) / _SCALE - 0.5
    y = np.ceil(np.clip(y, 0, height))
    borders: Runs = x[kept].astype(np.int64) * height + y.astype(np.int64)
    return borders
