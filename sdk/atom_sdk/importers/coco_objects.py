"""Objects of a COCO file: the box, polygons, and what is read and not kept."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom_sdk.importers.objects import (
    AnnotatedObject,
    DroppedGeometry,
    ObjectRefusedError,
    box_around,
    checked_box,
    checked_label,
    checked_polygon,
)
from atom_sdk.importers.run_lengths import box_of_run_lengths

Box = tuple[float, float, float, float]
Polygon = tuple[float, ...]


def id_key(value: Any) -> str | None:
    """Return an id so that 1, 1.0 and "1" are the same; None for none."""
    if value is None:
        return None
    if isinstance(value, float) and value.is_integer():
        value = int(value)
    return str(value)


def class_of(row: Mapping[str, Any], classes: Mapping[str | None, str]) -> str:
    """Return the name of an annotation's class, or of its number where it has none."""
    key = id_key(row.get("category_id"))
    return classes.get(key, f"category {key}" if key is not None else "")


def read_object(row: Mapping[str, Any], classes: Mapping[str | None, str]) -> AnnotatedObject:
    """Return the object of an annotation. Raises ObjectRefusedError if it has no box at all."""
    label = classes.get(id_key(row.get("category_id")))
    if label is None:
        raise ObjectRefusedError("its category is not in the file")
    shapes = row.get("segmentation")
    polygons, left_out = _polygons(shapes)
    if _has_keypoints(row):
        left_out.append(DroppedGeometry("keypoints"))
    flags = {"crowd": True} if row.get("iscrowd") else {}
    box = _box(row.get("bbox"), polygons, shapes, left_out)
    return AnnotatedObject(checked_label(label), box, polygons, flags, tuple(left_out))


def _box(
    box: Any, polygons: tuple[Polygon, ...], shapes: Any, left_out: list[DroppedGeometry]
) -> Box:
    """The box that is written, or else the one around the polygons or the mask."""
    try:
        if not isinstance(box, list):
            reasons = [one.reason for one in left_out if one.reason]
            raise ObjectRefusedError((reasons or ["it has neither a box nor polygons"])[0])
        return checked_box(box)
    except ObjectRefusedError:
        if polygons:
            return box_around([number for polygon in polygons for number in polygon])
        if isinstance(shapes, dict):
            return box_of_run_lengths(shapes)
        raise


def _polygons(shapes: Any) -> tuple[tuple[Polygon, ...], list[DroppedGeometry]]:
    """Good polygons; the others and masks are left out."""
    if isinstance(shapes, dict):
        return (), [DroppedGeometry("mask")]
    if not isinstance(shapes, list):
        return (), []
    if shapes and not any(isinstance(one, (list, dict)) for one in shapes):
        return (), [DroppedGeometry("polygon", "a polygon is no list of numbers")]
    polygons, left_out = [], []
    for shape in shapes:
        try:
            polygons.append(checked_polygon(shape))
        except ObjectRefusedError as refused:
            left_out.append(DroppedGeometry("polygon", str(refused)))
    return tuple(polygons), left_out


def _has_keypoints(row: Mapping[str, Any]) -> bool:
    """Whether any point is marked: x, y, visibility (0 not labelled, 1 hidden, 2 visible)."""
    points = row.get("keypoints")
    return isinstance(points, list) and any(bool(flag) for flag in points[2::3])
