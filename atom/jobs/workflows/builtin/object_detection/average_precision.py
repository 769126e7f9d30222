"""Average precision as the COCO evaluation defines it, by NumPy alone.

Precision is read at 101 recalls, for ten overlaps from 0.5 to 0.95, for objects of any area, of
less than 32², up to 96² and above, and for 1, 10 and 100 detections a picture. Regions to ignore
count neither for nor against a detector. The numbers equal those of pycocotools.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from boxes import Floats, areas_of, overlaps  # type: ignore[import-not-found]
from numpy.typing import NDArray

Flags = NDArray[np.bool_]

OVERLAPS: Floats = np.linspace(0.5, 0.95, 10)
RECALLS: Floats = np.linspace(0.0, 1.0, 101)
AREAS = {
    "all": (0.0, 1e10),
    "small": (0.0, 32.0**2),
    "medium": (32.0**2, 96.0**2),
    "large": (96.0**2, 1e10),
}
MOST_DETECTIONS = (1, 10, 100)
_EXACT = 1 - 1e-10


@dataclass(frozen=True)
class PictureResult:
    """Objects of one picture and what a detector says of it; boxes of shape (n, 4) in pixels.

    `true_ignored` are regions; `true_areas` in square pixels, else those of the boxes.
    `size` is the upright picture's width and height in pixels, None if nothing is to be drawn.
    """

    true_boxes: Floats
    true_codes: NDArray[np.int64]
    true_ignored: Flags
    boxes: Floats
    codes: NDArray[np.int64]
    scores: Floats
    true_areas: Floats | None = None
    size: tuple[int, int] | None = None


@dataclass(frozen=True)
class PrecisionTable:
    """Values of -1 have no object to count, as in pycocotools.

    precision: (overlaps, recalls, classes, areas, numbers of detections); recall without recalls.
    `scores`: that of the last detection of each recall, in precision's shape.
    """

    precision: Floats
    recall: Floats
    scores: Floats

    def mean_precision(
        self, overlap: float | None = None, area: str = "all", code: int | None = None
    ) -> float:
        """Return the average precision with 100 detections; -1 without an object."""
        chosen = self.precision[_places(overlap), :, :, list(AREAS).index(area), -1]
        return _mean(chosen if code is None else chosen[:, :, code])

    def mean_recall(self, detections: int = 100, area: str = "all") -> float:
        """Return the average of the highest recalls; -1 without an object."""
        place = MOST_DETECTIONS.index(detections)
        return _mean(self.recall[:, :, list(AREAS).index(area), place])

    def summary(self) -> dict[str, float]:
        """Return the twelve numbers of COCO, in its order."""
        numbers = {"map": self.mean_precision()}
        numbers |= {"map_50": self.mean_precision(0.5), "map_75": self.mean_precision(0.75)}
        sizes = ("small", "medium", "large")
        numbers |= {f"map_{area}": self.mean_precision(area=area) for area in sizes}
        numbers |= {f"recall_{most}": self.mean_recall(most) for most in MOST_DETECTIONS}
        numbers |= {f"recall_{area}": self.mean_recall(area=area) for area in sizes}
        return numbers


def measure_precision(
    results: Sequence[PictureResult], classes: int, areas: Sequence[str] = tuple(AREAS)
) -> PrecisionTable:
    """Return precision and recall of a detector on pictures with objects of so many classes.

    Values of areas that are not asked for stay -1.
    """
    shape = (len(OVERLAPS), len(RECALLS), classes, len(AREAS), len(MOST_DETECTIONS))
    precision, scores = np.full(shape, -1.0), np.full(shape, -1.0)
    recall = np.full((shape[0], *shape[2:]), -1.0)
    for code in range(classes):
        pictures = [found for one in results if (found := _of_class(one, code)) is not None]
        for area in areas:
            number = list(AREAS).index(area)
            matched = [_match(one, AREAS[area]) for one in pictures]
            for place, most in enumerate(MOST_DETECTIONS):
                curve = _curve(matched, most)
                if curve is not None:
                    at = (slice(None), slice(None), code, number, place)
                    precision[at], scores[at] = curve.precision, curve.scores
                    recall[:, code, number, place] = curve.recall
    return PrecisionTable(precision, recall, scores)


@dataclass(frozen=True)
class _OfClass:
    """Objects and detections of one class in a picture; detections are the best first."""

    shares: Floats
    true_areas: Floats
    true_ignored: Flags
    areas: Floats
    scores: Floats


@dataclass(frozen=True)
class _Matched:
    """Which detections match an object, both of shape (overlaps, detections)."""

    is_right: Flags
    is_ignored: Flags
    scores: Floats
    objects: int


@dataclass(frozen=True)
class _Curve:
    """Precision and scores of shape (overlaps, recalls), recall of shape (overlaps,)."""

    precision: Floats
    scores: Floats
    recall: Floats


def _of_class(result: PictureResult, code: int) -> _OfClass | None:
    true, own = result.true_codes == code, np.flatnonzero(result.codes == code)
    if not true.any() and not len(own):
        return None
    own = own[np.argsort(-result.scores[own], kind="stable")][: MOST_DETECTIONS[-1]]
    boxes, true_boxes = result.boxes[own], result.true_boxes[true]
    ignored = result.true_ignored[true]
    areas = areas_of(true_boxes) if result.true_areas is None else result.true_areas[true]
    shares = overlaps(boxes, true_boxes, ignored)
    return _OfClass(shares, areas, ignored, areas_of(boxes), result.scores[own])


def _match(picture: _OfClass, limits: tuple[float, float]) -> _Matched:
    """Give each detection, the best first, the object that it overlaps most and that is free."""
    low, high = limits
    is_beyond = (picture.true_areas < low) | (picture.true_areas > high)
    is_ignored = picture.true_ignored | is_beyond
    shape = (len(OVERLAPS), len(picture.scores))
    is_right, does_not_count = np.zeros(shape, bool), np.zeros(shape, bool)
    is_taken = np.zeros((len(OVERLAPS), len(is_ignored)), bool)
    least = np.minimum(OVERLAPS, _EXACT)[:, None]
    rows = np.arange(len(OVERLAPS))
    touching = picture.shares.max(1, initial=0) >= OVERLAPS[0]
    for number in np.flatnonzero(touching).tolist():
        shares = picture.shares[number]
        is_open = (shares[None] >= least) & (~is_taken | picture.true_ignored[None])
        # An object that counts is better than any that does not; of equal ones the last is taken.
        for group in (~is_ignored, is_ignored):
            ranked = np.where(is_open & group[None], shares[None], -1.0)
            best = ranked.shape[1] - 1 - np.argmax(ranked[:, ::-1], axis=1)
            matches = (ranked[rows, best] >= 0) & ~is_right[:, number]
            is_right[matches, number] = True
            does_not_count[matches, number] = is_ignored[best[matches]]
            is_taken[rows[matches], best[matches]] = True
    is_far = (picture.areas < low) | (picture.areas > high)
    does_not_count |= ~is_right & is_far[None]
    return _Matched(is_right, does_not_count, picture.scores, int((~is_ignored).sum()))


def _curve(pictures: Sequence[_Matched], most: int) -> _Curve | None:
    """Return the curve over all pictures; None where no object counts."""
    objects = sum(one.objects for one in pictures)
    if not objects:
        return None
    scores = np.concatenate([one.scores[:most] for one in pictures])
    order = np.argsort(-scores, kind="stable")
    scores = scores[order]
    is_right = np.concatenate([one.is_right[:, :most] for one in pictures], 1)[:, order]
    is_ignored = np.concatenate([one.is_ignored[:, :most] for one in pictures], 1)[:, order]
    right = np.cumsum(is_right & ~is_ignored, 1, dtype=np.float64)
    wrong = np.cumsum(~is_right & ~is_ignored, 1, dtype=np.float64)
    recall = right / objects
    precision = right / (wrong + right + np.spacing(1))
    # The best precision at this recall or a higher one.
    precision = np.maximum.accumulate(precision[:, ::-1], 1)[:, ::-1]
    rows = [_read_at(recall[row], precision[row], scores) for row in range(len(OVERLAPS))]
    last = recall[:, -1] if len(scores) else np.zeros(len(OVERLAPS))
    return _Curve(np.stack([row[0] for row in rows]), np.stack([row[1] for row in rows]), last)


def _read_at(recall: Floats, precision: Floats, scores: Floats) -> tuple[Floats, Floats]:
    places = np.searchsorted(recall, RECALLS, side="left")
    is_reached = places < len(recall)
    read, its_scores = np.zeros(len(RECALLS)), np.zeros(len(RECALLS))
    read[is_reached] = precision[places[is_reached]]
    its_scores[is_reached] = scores[places[is_reached]]
    return read, its_scores


def _places(overlap: float | None) -> list[int]:
    if overlap is None:
        return list(range(len(OVERLAPS)))
    return [int(np.argmin(np.abs(OVERLAPS - overlap)))]


def _mean(values: Floats) -> float:
    counted = values[values > -1]
    return float(counted.mean()) if counted.size else -1.0
