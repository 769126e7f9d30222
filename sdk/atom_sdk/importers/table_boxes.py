"""Boxes in the rows of a table: one line a box, several lines a picture."""

from __future__ import annotations

import json
import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.errors import AnnotationsUnreadableError
from atom_sdk.importers.objects import (
    PIXEL,
    RELATIVE,
    ObjectRefusedError,
    TableObject,
    checked_box,
    checked_label,
    checked_number,
)
from atom_sdk.importers.table_columns import CENTER, CORNERS, LIST, BoxColumns
from atom_sdk.importers.table_rows import Row
from atom_sdk.sentences import Sentence

_EMPTY = frozenset(["", "nan", "none", "null"])
_TRUE = frozenset(["1", "true", "yes"])
_DIFFICULT = "difficult"
_SAME_SIDES_ROWS = 3
# Relative numbers end at 1, but for rounding.
_MOST_RELATIVE = 1.05

Cells = Mapping[str, str]


@dataclass
class PictureRows:
    """The rows of one picture: its objects, and cells that are the same in all rows."""

    first: Row
    cells: dict[str, str]
    objects: ObjectList = field(default_factory=ObjectList)
    differing: set[str] = field(default_factory=set)

    def add_cells(self, cells: Cells) -> None:
        """Keep the cells that are equal in all rows so far."""
        for name in [name for name, text in self.cells.items() if cells.get(name) != text]:
            self.differing.add(name)
            del self.cells[name]


def has_box(columns: BoxColumns, cells: Cells) -> bool:
    """Whether a row has a box; one without says that its picture has no object."""
    return any(cells.get(name, "").strip().lower() not in _EMPTY for name in columns.names)


def object_of(columns: BoxColumns, label: str, cells: Cells) -> TableObject:
    """Return the object of a row with a box. Raises ObjectRefusedError."""
    if not label:
        raise ObjectRefusedError("it has no class")
    flags = {
        flag: True
        for column, flag in columns.flags.items()
        if cells.get(column, "").strip().lower() in _TRUE
    }
    box = _box(columns.kind, _numbers(columns, cells))
    # As in VOC: its measure leaves difficult objects out.
    ignore = flags.pop(_DIFFICULT, False)
    return TableObject(checked_label(label), box, (), flags, ignore)


def _numbers(columns: BoxColumns, cells: Cells) -> list[float]:
    """The four numbers of a box. Raises ObjectRefusedError."""
    values: Any = [cells.get(name, "").strip() for name in columns.names]
    if columns.kind == LIST:
        try:
            values = json.loads(values[0].replace("(", "[").replace(")", "]"))
        except (ValueError, RecursionError):
            values = None
    if not isinstance(values, list) or len(values) != 4:
        raise ObjectRefusedError("a box has not four numbers")
    return [checked_number(value) for value in values]


def _box(kind: str, numbers: Sequence[float]) -> tuple[float, float, float, float]:
    first, second, third, fourth = numbers
    if kind == CORNERS:
        return checked_box((first, second, third - first, fourth - second))
    if kind == CENTER:
        return checked_box((first - third / 2, second - fourth / 2, third, fourth))
    return checked_box((first, second, third, fourth))


class BoxCensus:
    """Looks at all boxes of a table to find their unit, and whose width and height they name."""

    def __init__(self, columns: BoxColumns) -> None:
        self._columns = columns
        self._largest = 0.0
        self._sides: Counter[tuple[Any, Any]] = Counter()

    def add(self, cells: Cells) -> None:
        """Count the box of a row; one that cannot be read is named later."""
        try:
            numbers = _numbers(self._columns, cells)
        except ObjectRefusedError:
            return
        self._largest = max([self._largest, *map(math.fabs, numbers)])
        if len(self._sides) < 2:
            self._sides[(numbers[2], numbers[3])] += 1

    def unit(self, path: str) -> str:
        """Return the unit: no box of pixels ends within the first one.

        Raises AnnotationsUnreadableError where `width` and `height` may be those of the picture.
        """
        is_one_size = len(self._sides) == 1 and self._sides.total() >= _SAME_SIDES_ROWS
        if is_one_size and {"width", "height"} <= set(self._columns.names):
            raise AnnotationsUnreadableError(
                Sentence(
                    "formats.same_sides",
                    "{path}: width and height are the same in every row, so they may be the "
                    "picture's. Name the columns of a box x, y, w, h.",
                    path=path,
                )
            )
        return RELATIVE if 0 < self._largest <= _MOST_RELATIVE else PIXEL


def class_names(labels: Iterable[str], descriptions: Iterable[Sequence[str]]) -> dict[str, str]:
    """Return names by the codes of OpenImages (`/m/01yrx`), of rows `code,name`."""
    codes = {label for label in labels if label.startswith(("/m/", "/g/"))}
    return {row[0]: row[1] for row in descriptions if len(row) == 2 and row[0] in codes}
