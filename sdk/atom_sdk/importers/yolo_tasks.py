"""Which task a set of YOLO files is of, where neither its data.yaml nor a person says it."""

from __future__ import annotations

from collections.abc import Iterable

from atom_sdk.importers.errors import YoloTaskUnknownError
from atom_sdk.label_formats.yolo_lines import BOX_WORDS, SEGMENT
from atom_sdk.sentences import Sentence

_ROTATED_WORDS = 9


def task_of(lengths: Iterable[int], name: str) -> str:
    """Return the task of a set that has lines longer than a box; `lengths` are words a line.

    Polygons differ in length or stand beside boxes, lines of pose and obb are all equally long:
    so a set of several lengths is of polygons. Raises YoloTaskUnknownError for any other.
    """
    seen: set[int] = set()
    for length in lengths:
        if length < min(BOX_WORDS):
            continue
        seen.add(length)
        if length > max(BOX_WORDS) and length % 2 == 0:
            break
        if len(seen - {max(BOX_WORDS)}) > 1:
            return SEGMENT
    longest = max(seen)
    raise YoloTaskUnknownError(
        Sentence(
            "formats.yolo_numbers",
            "{name}: each line has {count} numbers, which may be {meanings}.",
            name=name,
            count=longest,
            meanings=_meanings(longest),
        )
    )


def _meanings(numbers: int) -> Sentence:
    """Say what so many numbers may be."""
    meanings = Sentence(
        "formats.yolo_keypoints", "a box with keypoints ({count} numbers)", count=numbers - 5
    )
    if numbers % 2:
        polygon = Sentence(
            "formats.yolo_polygon", "a polygon of {count} points", count=numbers // 2
        )
        meanings = _either(polygon, meanings)
    if numbers == _ROTATED_WORDS:
        rotated = Sentence("formats.yolo_corners", "the corners of a rotated box")
        meanings = _either(rotated, meanings)
    return meanings


def _either(first: Sentence, other: Sentence) -> Sentence:
    return Sentence("formats.either", "{first} or {other}", first=first, other=other)
