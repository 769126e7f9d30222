"""Objects in a row of a data set of Hugging Face: boxes and classes, in lists or in structs.

    {"bbox": [[1, 2, 3, 4]], "categories": [0]}        [{"bbox": [1, 2, 3, 4], "category": "cat"}]

A box is x, y, width, height, as in COCO; with `corners`, x1, y1, x2, y2. A box that is a struct of
named sides says itself which.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.objects import (
    PIXEL,
    RELATIVE,
    ObjectRefusedError,
    TableObject,
    checked_box,
    checked_label,
    checked_number,
    checked_polygon,
)

COLUMNS = ("objects", "annotations")
_BOXES = ("bbox", "bboxes", "box", "boxes")
_LABELS = (
    *("category", "categories", "label", "labels", "class", "classes", "class_name"),
    *("category_name", "name", "names", "category_id", "category_ids", "class_id"),
)
_POLYGONS = ("segmentation", "polygons")
_CROWD = ("iscrowd", "is_crowd")
_KNOWN = frozenset([*_BOXES, *_LABELS, *_POLYGONS, *_CROWD])
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_SIDES = ("x", "y", "width", "height")
# Relative numbers end at 1, but for rounding.
_MOST_RELATIVE = 1.05


@dataclass
class ObjectReading:
    """How the objects of one table are read, and what was seen while reading them."""

    corners: bool = False
    left_out: set[str] = field(default_factory=set)
    outside: int = 0

    def read(self, subject: str, value: Any, sides: Mapping[str, Any]) -> tuple[ObjectList, str]:
        """Return the objects of one row and their unit; `sides` may have width and height."""
        objects = ObjectList()
        rows = object_rows(value)
        for number, row in enumerate(rows, 1):
            self.left_out |= {name for name in row if name not in _KNOWN}
            label = _label(row)
            build = partial(self._object, row, label)
            objects.read_box(f"{subject}, object {number}", label, build)
        unit = _unit(objects.boxes)
        if unit == PIXEL:
            self.outside += sum(_is_outside(one.box, sides) for one in objects.boxes)
        return objects, unit

    def notes(self, table: str) -> list[str]:
        """Return what is worth knowing of all rows."""
        notes = []
        if self.left_out:
            names = ", ".join(sorted(self.left_out))
            notes.append(f"{table}: fields of objects that are left out: {names}")
        if self.outside:
            other = "without --boxes" if self.corners else "with --boxes corners"
            ends = "box ends" if self.outside == 1 else "boxes end"
            whose = "its picture" if self.outside == 1 else "their pictures"
            notes.append(
                f"{table}: {self.outside} {ends} outside of {whose}. If boxes are read wrong, "
                f"import {other}"
            )
        return notes

    def _object(self, row: Mapping[str, Any], label: str) -> TableObject:
        if not label:
            raise ObjectRefusedError("it has no class")
        box = self._box(_first(row, _BOXES))
        polygons, left_out = _polygons(_first(row, _POLYGONS))
        is_crowd = bool(_first(row, _CROWD))
        return TableObject(checked_label(label), box, polygons, {}, is_crowd, left_out)

    def _box(self, value: Any) -> tuple[float, float, float, float]:
        corners = self.corners
        if isinstance(value, Mapping):
            corners = all(name in value for name in _CORNERS)
            value = [value.get(name) for name in (_CORNERS if corners else _SIDES)]
        if not isinstance(value, Sequence) or isinstance(value, str) or len(value) != 4:
            raise ObjectRefusedError("a box has not four numbers")
        first, second, third, fourth = map(checked_number, value)
        if corners:
            return checked_box((first, second, third - first, fourth - second))
        return checked_box((first, second, third, fourth))


def has_boxes(value: Any) -> bool:
    """Whether a value, or the names of the fields of one, are objects with boxes."""
    if isinstance(value, Mapping):
        return any(name in value for name in _BOXES)
    return isinstance(value, list) and bool(value) and all(map(has_boxes, value))


def object_rows(value: Any) -> list[Mapping[str, Any]]:
    """Return objects one by one, from a list of structs or a struct of lists."""
    if isinstance(value, Mapping):
        lists = {name: items for name, items in value.items() if isinstance(items, list)}
        count = max(map(len, lists.values()), default=0)
        return [
            {name: items[place] for name, items in lists.items() if place < len(items)}
            for place in range(count)
        ]
    return [row for row in value or () if isinstance(row, Mapping)]


def _first(row: Mapping[str, Any], names: Sequence[str]) -> Any:
    return next((row[name] for name in names if row.get(name) is not None), None)


def _label(row: Mapping[str, Any]) -> str:
    value = _first(row, _LABELS)
    return "" if value is None or isinstance(value, (list, dict)) else str(value)


def _unit(objects: Sequence[TableObject]) -> str:
    ends = [max(one.box[0] + one.box[2], one.box[1] + one.box[3]) for one in objects]
    return RELATIVE if ends and max(ends) <= _MOST_RELATIVE else PIXEL


def _is_outside(box: tuple[float, float, float, float], sides: Mapping[str, Any]) -> bool:
    width, height = sides.get("width"), sides.get("height")
    if not isinstance(width, (int, float)) or not isinstance(height, (int, float)):
        return False
    return box[0] + box[2] > width + 1 or box[1] + box[3] > height + 1


def _polygons(value: Any) -> tuple[tuple[tuple[float, ...], ...], str]:
    """Polygons, and why they are left out, "" if they are not."""
    if not isinstance(value, list) or not value:
        return (), ""
    try:
        return tuple(map(checked_polygon, value)), ""
    except ObjectRefusedError as refused:
        return (), str(refused)
