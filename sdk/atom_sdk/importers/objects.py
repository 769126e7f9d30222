"""Objects of a picture while a source is read: shapes in pixels, or boxes of tables."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.annotations.geometry import Box, PictureGeometry
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.shape_checks import problems_of_shape
from atom_sdk.importers.items import Blob
from atom_sdk.label_formats import values
from atom_sdk.label_formats.named_json import document_json
from atom_sdk.label_formats.picture_sizes import Size, size_of
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.values import ValueRefusedError

PIXEL, RELATIVE = "pixel", "relative"
# A picture that is not fetched yet: its objects are only counted.
_SIZE_TO_COUNT: Size = (4096, 4096)


class ObjectRefusedError(ValueError):
    """An annotation that is no object; the text says why in a few words."""


@dataclass(frozen=True, slots=True)
class TableObject:
    """One object of a table: x, y, width, height and polygons of x, y pairs, in the table's unit.

    `left_out` is why polygons are left out, "" if none is.
    """

    label: str
    box: tuple[float, float, float, float]
    polygons: tuple[tuple[float, ...], ...] = ()
    flags: Mapping[str, bool] = field(default_factory=dict)
    ignore: bool = False
    left_out: str = ""

    def named(
        self, own: str, size: Size, unit: str, report: LabelReport, subject: str
    ) -> NamedObject:
        """Return the object in pixels of a picture of `size`. Raises ValueRefusedError."""
        sides = size if unit == RELATIVE else (1, 1)
        shape: PictureGeometry
        if self.polygons:
            parts = [(values.ring(_scaled(polygon, sides)),) for polygon in self.polygons]
            shape = values.polygon(parts, *size, report, subject)
        else:
            shape = Box(*_scaled(self.box, sides))
        shape = values.placed(shape, *size)
        return NamedObject(own, self.label, shape, dict(self.flags), self.ignore)


def _scaled(numbers: Sequence[float], sides: tuple[int, int]) -> tuple[float, ...]:
    return tuple(number * sides[place % 2] for place, number in enumerate(numbers))


def checked_shape(named: NamedObject, size: Size) -> NamedObject:
    """Return an object whose shape a document can hold. Raises ObjectRefusedError."""
    for problem in problems_of_shape(named.geometry, *size):
        raise ObjectRefusedError(str(problem.sentence).rstrip("."))
    return named


def checked_box(numbers: Sequence[Any]) -> tuple[float, float, float, float]:
    """Return x, y, width, height. Raises ObjectRefusedError."""
    if len(numbers) != 4:
        raise ObjectRefusedError("a box has not four numbers")
    x, y, width, height = (checked_number(number) for number in numbers)
    if width <= 0 or height <= 0:
        raise ObjectRefusedError("a box has no area")
    return x, y, width, height


def checked_number(value: Any) -> float:
    """Return a finite number. Raises ObjectRefusedError."""
    try:
        number = float(value)
    except (TypeError, ValueError, OverflowError):
        raise ObjectRefusedError("a coordinate is no number") from None
    if isinstance(value, bool) or not math.isfinite(number):
        raise ObjectRefusedError("a coordinate is no number")
    return number


def checked_label(name: str) -> str:
    """Return the name of a class: printable text of 1 to 255 bytes. Raises ObjectRefusedError."""
    try:
        return values.class_name(name)
    except ValueRefusedError:
        raise ObjectRefusedError("the name of its class is no text of 1 to 255 bytes") from None


def checked_polygon(numbers: Any) -> tuple[float, ...]:
    """Return x, y pairs of at least three points. Raises ObjectRefusedError."""
    try:
        return values.ring(numbers)
    except ValueRefusedError as refused:
        raise ObjectRefusedError(refused.reason) from refused


def picture_size(blob: Blob, sides: Mapping[str, Any] | None = None) -> Size | None:
    """Return the `width` and `height` that a source gives, else those of the picture's head.

    Raises MissingLibraryError.
    """
    given = sides or {}
    width, height = values.side(given.get("width")), values.side(given.get("height"))
    if width and height:
        return width, height
    if not blob.is_there:
        return _SIZE_TO_COUNT
    with blob.open() as stream:
        return size_of(stream)


def document_text(objects: Sequence[NamedObject], size: Size) -> str:
    """Return the document of a picture as canonical JSON."""
    document = NamedDocument(*size, objects=tuple(objects))
    return json.dumps(document_json(document), separators=(",", ":"), ensure_ascii=False)
