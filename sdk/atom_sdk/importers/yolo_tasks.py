"""Which task a set of YOLO files is of, where neither its data.yaml nor a person says it."""

from __future__ import annotations

from collections.abc import Iterable

from atom_sdk.importers.errors import YoloTaskUnknownError
from atom_sdk.label_formats.yolo_lines import BOX_WORDS, SEGMENT


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
    meanings = [f"a box with keypoints ({longest - 5} numbers)"]
    if longest % 2:
        meanings.insert(0, f"a polygon of {longest // 2} points")
    if longest == 9:
        meanings.insert(0, "the corners of a rotated box")
    raise YoloTaskUnknownError(
        f"{name}: each line has {longest} numbers, which may be {' or '.join(meanings)}."
    )
