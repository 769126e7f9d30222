"""Objects of a COCO file: the best shape of an annotation that can be read."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom_sdk.annotations.geometry import PictureGeometry
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.importers.annotated import ObjectList
from atom_sdk.importers.objects import ObjectRefusedError, checked_label
from atom_sdk.label_formats import values
from atom_sdk.label_formats.coco_objects import id_key, object_of
from atom_sdk.label_formats.coco_shapes import Category, geometry_of
from atom_sdk.label_formats.values import ValueRefusedError

Row = Mapping[str, Any]


def class_of(row: Row, classes: Mapping[str, Category]) -> str:
    """Return the name of an annotation's class, or of its number where it has none."""
    key = row.get("category_id")
    if key is None:
        return ""
    category = classes.get(id_key(key))
    return category.name if category else f"category {id_key(key)}"


def read_object(
    row: Row, classes: Mapping[str, Category], own: str, objects: ObjectList, subject: str
) -> NamedObject:
    """Return the object of an annotation; a part that cannot be read is left out and noted.

    Raises ObjectRefusedError, ValueRefusedError if it has no shape at all.
    """
    category = classes.get(id_key(row.get("category_id")))
    if category is None:
        raise ObjectRefusedError("its category is not in the file")
    label = checked_label(category.name)
    shape = _shape(row, category, objects, subject)
    return object_of(row, label, shape, own, objects.changes, subject)


def _shape(row: Row, category: Category, objects: ObjectList, subject: str) -> PictureGeometry:
    size = objects.size or (0, 0)
    row = _with_good_rings(row, objects, subject)
    try:
        return geometry_of(row, category, size, objects.changes, subject)
    except ValueRefusedError as refused:
        kind = _fault(row)
        if not kind:
            if row.get("bbox") is None:
                raise ObjectRefusedError("it has neither a box nor polygons") from refused
            raise
        rest = {**row, _FIELDS[kind]: None}
        try:
            shape = geometry_of(rest, category, size, objects.changes, subject)
        except ValueRefusedError:
            raise refused from None
        objects.leave_out(subject, kind, refused.reason)
        return shape


_FIELDS = {"keypoints": "keypoints", "mask": "segmentation", "polygon": "segmentation"}


def _fault(row: Row) -> str:
    """The kind of the part beside the box that a reader takes first, "" without one."""
    points, outline = row.get("keypoints"), row.get("segmentation")
    if isinstance(points, list) and any(points[2::3]):
        return "keypoints"
    if isinstance(outline, dict):
        return "mask"
    return "polygon" if isinstance(outline, list) and outline else ""


def _with_good_rings(row: Row, objects: ObjectList, subject: str) -> Row:
    """The annotation without the rings that are none; each of them is noted."""
    outline = row.get("segmentation")
    if not isinstance(outline, list) or not outline:
        return row
    if not any(isinstance(ring, list | dict) for ring in outline):
        objects.leave_out(subject, "polygon", "a polygon is no list of numbers")
        return {**row, "segmentation": None}
    good = []
    for ring in outline:
        try:
            good.append(list(values.ring(ring)))
        except ValueRefusedError as refused:
            objects.leave_out(subject, "polygon", refused.reason)
    return {**row, "segmentation": good}
