"""The kinds of mistakes of a detector, object by object.

A detection and an object match from an overlap of 0.5 on; below 0.1 a detection lies on nothing.
Each detection has one kind:

- right: it matches an object of its class, and none that is surer does;
- double: it matches an object of its class that has a surer detection;
- wrong_class: it matches an object of another class;
- misplaced: it overlaps an object of its class by 0.1 to 0.5;
- wrong_and_misplaced: it overlaps only objects of other classes, by 0.1 to 0.5;
- false: there is nothing.

An object that no detection matches is missed, also where a misplaced one lies beside it. Objects
and detections in regions to ignore have no kind.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from average_precision import PictureResult  # type: ignore[import-not-found]
from boxes import Floats, overlaps  # type: ignore[import-not-found]
from numpy.typing import NDArray

MATCH, TOUCH = 0.5, 0.1


class Kind(StrEnum):
    """Kinds of detections, and missed objects."""

    RIGHT = "right"
    DOUBLE = "double"
    WRONG_CLASS = "wrong_class"
    MISPLACED = "misplaced"
    WRONG_AND_MISPLACED = "wrong_and_misplaced"
    FALSE = "false"
    MISSED = "missed"


@dataclass(frozen=True)
class Finding:
    """One detection with the object that it is about, or one missed object.

    `detection` and `true` are numbers in the picture's arrays, -1 for none.
    """

    kind: Kind
    detection: int
    true: int


def findings_of(result: PictureResult, least_score: float) -> list[Finding]:
    """Return a finding for each detection from `least_score` on and for each missed object."""
    chosen = np.flatnonzero(result.scores >= least_score)
    chosen = chosen[np.argsort(-result.scores[chosen], kind="stable")]
    counts = ~result.true_ignored
    shares = overlaps(result.boxes[chosen], result.true_boxes, result.true_ignored)
    matching = _Matching(result, shares, counts)
    findings = [matching.finding(row, int(number)) for row, number in enumerate(chosen)]
    known = [one for one in findings if one is not None]
    matched = {one.true for one in known if one.kind in (Kind.RIGHT, Kind.WRONG_CLASS)}
    missed = [int(true) for true in np.flatnonzero(counts) if int(true) not in matched]
    return known + [Finding(Kind.MISSED, -1, true) for true in missed]


class _Matching:
    """Objects of a picture that are still free, as its detections take them."""

    def __init__(self, result: PictureResult, shares: Floats, counts: NDArray[np.bool_]) -> None:
        self._result, self._shares, self._counts = result, shares, counts
        self._is_taken = np.zeros(len(counts), bool)

    def finding(self, row: int, number: int) -> Finding | None:
        shares = np.where(self._counts, self._shares[row], 0.0)
        same = self._result.true_codes == self._result.codes[number]
        free = _best(np.where(same & ~self._is_taken, shares, 0.0))
        if free is not None and shares[free] >= MATCH:
            self._is_taken[free] = True
            return Finding(Kind.RIGHT, number, free)
        # The whole of a region belongs to it, whatever the detection's class.
        if (self._shares[row][~self._counts] >= MATCH).any():
            return None
        return next(_explanations(shares, same, number), Finding(Kind.FALSE, number, -1))


def _explanations(shares: Floats, same: NDArray[np.bool_], number: int) -> Iterator[Finding]:
    """Yield what a detection that takes no object can be, the likeliest first."""
    ranked = (
        (Kind.DOUBLE, same, MATCH),
        (Kind.WRONG_CLASS, ~same, MATCH),
        (Kind.MISPLACED, same, TOUCH),
        (Kind.WRONG_AND_MISPLACED, ~same, TOUCH),
    )
    for kind, group, least in ranked:
        best = _best(np.where(group, shares, 0.0))
        if best is not None and shares[best] >= least:
            yield Finding(kind, number, best)


def _best(shares: Floats) -> int | None:
    if not len(shares) or not shares.any():
        return None
    return int(np.argmax(shares))
