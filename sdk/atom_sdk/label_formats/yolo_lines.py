"""Lines of YOLO's label files as shapes in pixels, both ways.

detect   class x y width height              (centre first; a sixth number is a confidence)
segment  class x1 y1 x2 y2 x3 y3 …           (a polygon, or a box as above)
pose     class x y width height x1 y1 [v1] … (kpt_shape: [points, 2 or 3 values])
obb      class x1 y1 x2 y2 x3 y3 x4 y4       (corners)
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from atom_sdk.annotations.geometry import Box, Keypoints, PictureGeometry, Polygon, RotatedBox
from atom_sdk.label_formats import shapes, values
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.values import ValueRefusedError

DETECT, SEGMENT, POSE, OBB = "detect", "segment", "pose", "obb"
BOX_WORDS = (5, 6)
# Six decimals of a relative number may be off by half of the last one.
_TOLERANCE = 2e-6


@dataclass(frozen=True)
class LineReader:
    """Reads lines of one task; `keypoints` is (points, values a point) of a pose."""

    task: str
    classes: Mapping[int, str]
    keypoints: tuple[int, int] | None
    report: LabelReport

    def label(self, words: Sequence[str]) -> str:
        """Return the name of a line's class. Raises ValueRefusedError."""
        number = values.number(words[0])
        if number != int(number) or int(number) not in self.classes:
            raise ValueRefusedError("class_unknown")
        return values.class_name(self.classes[int(number)])

    def shape(self, words: Sequence[str], size: tuple[int, int], subject: str) -> PictureGeometry:
        """Return the shape of a line in pixels. Raises ValueRefusedError."""
        width, height = size
        numbers = values.numbers(words[1:])
        if self.task == POSE:
            shape: PictureGeometry = self._pose(numbers, width, height)
        elif len(words) in BOX_WORDS:
            shape = _box(numbers, width, height)
        elif self.task == SEGMENT:
            ring = values.ring(_scaled(numbers, width, height))
            values.placed(Polygon(((ring,),)), width, height)
            shape = values.polygon([(ring,)], width, height, self.report, subject)
        elif self.task == OBB and len(numbers) in (8, 9):
            shape = self._corners(_scaled(numbers[:8], width, height), width, height, subject)
        elif self.task == OBB:
            raise ValueRefusedError("shape_wrong", "a rotated box has not four corners")
        else:
            raise ValueRefusedError("shape_wrong", "a box has not four numbers")
        return values.placed(shape, width, height)

    def _pose(self, numbers: Sequence[float], width: int, height: int) -> PictureGeometry:
        count, each = self.keypoints or (0, 3)
        rest = numbers[4:]
        # One more is the confidence of a detector.
        if len(rest) not in (count * each, count * each + 1):
            reason = "it has not as many numbers as kpt_shape says"
            raise ValueRefusedError("shape_wrong", reason)
        flat: list[float] = []
        for place in range(0, count * each, each):
            x, y = rest[place], rest[place + 1]
            seen = rest[place + 2] if each == 3 else 2 * bool(x or y)
            flat += (x * width, y * height, seen)
        return values.keypoints(flat, count, _box(numbers[:4], width, height))

    def _corners(self, ring: shapes.Ring, width: int, height: int, subject: str) -> RotatedBox:
        rotated = shapes.rectangle_of(ring, _TOLERANCE * max(width, height) + 1e-9)
        if rotated is None:
            rotated = shapes.smallest_rectangle(ring)
            if rotated is None:
                raise ValueRefusedError("shape_wrong")
            self.report.count("corners_as_rotated", subject)
        return values.rotated_box(rotated)


def _box(numbers: Sequence[float], width: int, height: int) -> Box:
    if len(numbers) < 4:
        raise ValueRefusedError("shape_wrong", "a box has not four numbers")
    x, y, wide, high = numbers[:4]
    left, top = (x - wide / 2) * width, (y - high / 2) * height
    return values.box((left, top, wide * width, high * height))


def _scaled(numbers: Sequence[float], width: int, height: int) -> shapes.Ring:
    sides = (width, height)
    return tuple(number * sides[place % 2] for place, number in enumerate(numbers))


def line_of(shape: PictureGeometry, number: int, width: int, height: int, count: int) -> str:
    """Return the line of a shape; `count` is the number of keypoints of a pose."""
    if isinstance(shape, Polygon):
        relative = _relative(shape.parts[0][0], width, height)
    elif isinstance(shape, RotatedBox):
        box = (shape.cx, shape.cy, shape.width, shape.height, shape.angle)
        relative = _relative(shapes.corners(box), width, height)
    elif isinstance(shape, Keypoints):
        relative = _box_numbers(Box(*shape.bounds), width, height)
        for x, y, v in shape.points[:count]:
            relative += [*_relative((x, y), width, height), f"{int(v)}"]
        relative += ["0", "0", "0"] * (count - len(shape.points))
    else:
        assert isinstance(shape, Box)
        relative = _box_numbers(shape, width, height)
    return " ".join([str(number), *relative])


def _box_numbers(box: Box, width: int, height: int) -> list[str]:
    x, y = box.x + box.width / 2, box.y + box.height / 2
    return _relative((x, y, box.width, box.height), width, height)


def _relative(flat: Sequence[float], width: int, height: int) -> list[str]:
    """Relative numbers of ten decimals: off by no more than 1e-10 of the side.

    A centre and half a side that end at the border must not go beyond it by their last decimal.
    """
    sides = (width, height)
    return [_decimal(min(max(n / sides[place % 2], 0.0), 1.0)) for place, n in enumerate(flat)]


def _decimal(number: float) -> str:
    """Ten decimals; a smaller number keeps its digits, since a side of 0 is no box."""
    text = f"{number:.10f}".rstrip("0").rstrip(".")
    return f"{number:.10g}" if text == "0" and number > 0 else text
