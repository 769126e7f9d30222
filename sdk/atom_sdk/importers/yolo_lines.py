"""Lines of a YOLO file by their task, all numbers relative to the sides of the picture.

    detect   class x y width height              (centre first; a sixth number is a confidence)
    segment  class x1 y1 x2 y2 x3 y3 …           (a polygon, or a box as above)
    pose     class x y width height x1 y1 [v1] … (kpt_shape: [points, 2 or 3 values])
    obb      class x1 y1 x2 y2 x3 y3 x4 y4       (corners)

Source: docs.ultralytics.com/datasets. The number of words cannot separate them: nine words are four
corners, a polygon of four points, or a box with two keypoints.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

from atom_sdk.importers.objects import (
    AnnotatedObject,
    DroppedGeometry,
    ObjectRefusedError,
    box_around,
    checked_box,
    checked_label,
    checked_number,
    checked_polygon,
)

DETECT, SEGMENT, POSE, OBB = "detect", "segment", "pose", "obb"
TOLERANCE = 1e-3
"""Numbers up to this far below 0 or above 1 are rounding, and clipped."""
BOX_WORDS = (5, 6)
_OBB_WORDS = (9, 10)
_ZERO = re.compile(r"-?0*\.?0*")

Box = tuple[float, float, float, float]


def label_of(words: Sequence[str], classes: dict[int, str]) -> str:
    """Return the name of a line's class, or of its number where it has none."""
    return classes.get(_index(words), f"class {words[0][:20]}")


@dataclass(frozen=True)
class LineReader:
    """Reads lines of one task; `keypoints` is (points, values a point) where it is known."""

    task: str
    classes: dict[int, str]
    keypoints: tuple[int, int] | None = None

    def read(self, words: Sequence[str]) -> AnnotatedObject:
        """Return the object of a line. Raises ObjectRefusedError."""
        index = _index(words)
        if index not in self.classes:
            raise ObjectRefusedError("its class has no name")
        label = checked_label(self.classes[index])
        if len(words) in BOX_WORDS:
            return AnnotatedObject(label, _box(words[1:5]))
        if self.task == SEGMENT:
            return _segment(label, words)
        if self.task == OBB:
            return _corners(label, words)
        if self.task == POSE:
            return self._pose(label, words)
        raise ObjectRefusedError("a box has not four numbers")

    def _pose(self, label: str, words: Sequence[str]) -> AnnotatedObject:
        points = words[5:]
        if len(words) < 5:
            raise ObjectRefusedError("a box has not four numbers")
        if self.keypoints is not None:
            count = self.keypoints[0] * self.keypoints[1]
            # One more is the confidence of a detector.
            if len(points) not in (count, count + 1):
                raise ObjectRefusedError("it has not as many numbers as kpt_shape says")
            points = points[:count]
        # Points that are not labelled are zeros.
        left_out = (DroppedGeometry("keypoints"),) if not all(map(_ZERO.fullmatch, points)) else ()
        return AnnotatedObject(label, _box(words[1:5]), left_out=left_out)


def _index(words: Sequence[str]) -> int:
    try:
        number = checked_number(words[0])
    except ObjectRefusedError:
        return -1
    return int(number) if number == int(number) else -1


def _segment(label: str, words: Sequence[str]) -> AnnotatedObject:
    polygon = _clipped(checked_polygon(words[1:]))
    return AnnotatedObject(label, box_around(polygon), (polygon,))


def _corners(label: str, words: Sequence[str]) -> AnnotatedObject:
    if len(words) not in _OBB_WORDS:
        raise ObjectRefusedError("a rotated box has not four corners")
    corners = _clipped([checked_number(word) for word in words[1:9]])
    sides = [len({round(number, 6) for number in corners[axis::2]}) for axis in (0, 1)]
    left_out = () if sides == [2, 2] else (DroppedGeometry("rotated box"),)
    return AnnotatedObject(label, box_around(corners), left_out=left_out)


def _box(words: Sequence[str]) -> Box:
    """Return left, top, width, height; edges that rounding puts outside of the picture are cut."""
    x, y, width, height = checked_box(words)
    _clipped((x, y, width, height))
    left, right = _edge(x - width / 2), _edge(x + width / 2)
    top, bottom = _edge(y - height / 2), _edge(y + height / 2)
    return checked_box((left, top, right - left, bottom - top))


def _edge(number: float) -> float:
    """Boxes of objects that the picture cuts may reach out of it; rounding may not."""
    if -TOLERANCE <= number < 0:
        return 0.0
    return 1.0 if 1 < number <= 1 + TOLERANCE else number


def _clipped(numbers: Sequence[float]) -> tuple[float, ...]:
    if any(not -TOLERANCE <= number <= 1 + TOLERANCE for number in numbers):
        raise ObjectRefusedError("a relative coordinate is not between 0 and 1")
    return tuple(min(max(number, 0.0), 1.0) for number in numbers)
