"""Objects of a VOC file: boxes, and what LabelMe, CVAT, Roboflow and roLabelImg add to them."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import partial

from atom_sdk.importers.annotated import ObjectList
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
from atom_sdk.importers.xml_documents import Element

_FLAGS = ("difficult", "truncated", "occluded")
_CORNERS = ("xmin", "ymin", "xmax", "ymax")
Box = tuple[float, float, float, float]


def read_objects(document: Element, path: str) -> ObjectList:
    """Return the objects of an annotation; those that LabelMe marks as deleted are none."""
    objects = ObjectList()
    elements = (child for child in document.children if child.name == "object")
    for number, element in enumerate(elements, 1):
        if element.get("deleted") != "1":
            label = element.get("name")
            objects.read(f"{path}, object {number}", label, partial(_object, element))
    return objects


def _object(element: Element) -> AnnotatedObject:
    label = element.get("name")
    if not label:
        raise ObjectRefusedError("it has no name or no box")
    polygons, left_out = _polygons(element)
    flags = {name: True for name in _FLAGS if element.get(name) == "1"}
    box = _box(element, polygons)
    return AnnotatedObject(checked_label(label), box, polygons, flags, (*left_out, *_more(element)))


def _box(element: Element, polygons: tuple[tuple[float, ...], ...]) -> Box:
    """The box that is drawn, or the one around the polygon or the rotated box."""
    if (box := element.child("bndbox")) is not None:
        xs, ys = zip(*_pairs([checked_number(box.get(name)) for name in _CORNERS]), strict=True)
        return checked_box((min(xs), min(ys), max(xs) - min(xs), max(ys) - min(ys)))
    if polygons:
        return box_around([number for polygon in polygons for number in polygon])
    if (rotated := element.child("robndbox")) is not None:
        return _around_rotated(rotated)
    raise ObjectRefusedError("it has no name or no box")


def _around_rotated(element: Element) -> Box:
    """The box around a rotated one of roLabelImg: centre, sides and an angle in radians."""
    x, y, width, height, angle = (
        checked_number(element.get(name)) for name in ("cx", "cy", "w", "h", "angle")
    )
    sine, cosine = abs(math.sin(angle)), abs(math.cos(angle))
    wide, high = width * cosine + height * sine, width * sine + height * cosine
    return checked_box((x - wide / 2, y - high / 2, wide, high))


def _polygons(element: Element) -> tuple[tuple[tuple[float, ...], ...], list[DroppedGeometry]]:
    polygons, left_out = [], []
    for child in element.children:
        if child.name == "polygon":
            try:
                polygons.append(checked_polygon(list(_points(child))))
            except ObjectRefusedError as refused:
                left_out.append(DroppedGeometry("polygon", str(refused)))
    return tuple(polygons), left_out


def _points(polygon: Element) -> Iterator[str]:
    """`<pt><x>1</x><y>2</y></pt>` as LabelMe writes it, `<x1>1</x1><y1>2</y1>` as others do."""
    for child in polygon.children:
        if child.name == "pt":
            yield from (child.get("x"), child.get("y"))
        elif child.name[:1] in ("x", "y") and child.name[1:].isdecimal():
            yield child.text.strip()


def _more(element: Element) -> Iterator[DroppedGeometry]:
    """Geometries and attributes of an object that are not kept."""
    names = [child.name for child in element.children]
    if parts := names.count("part"):
        yield DroppedGeometry("part", count=parts)
    if "robndbox" in names:
        yield DroppedGeometry("rotated box")
    if "mask" in names or "segm" in names:
        yield DroppedGeometry("mask")
    attributes = [
        child
        for group in element.children
        if group.name == "attributes"
        for child in group.children
        if child.name == "attribute"
    ]
    if any(one.get("name") == "rotation" and _turns(one.get("value")) for one in attributes):
        yield DroppedGeometry(
            "rotated box", "rotated box: the box as it is before the rotation stays"
        )
    if others := sum(one.get("name") not in ("rotation", *_FLAGS) for one in attributes):
        yield DroppedGeometry(
            "attribute", "attribute of an object: not stored yet, the box stays", others
        )


def _turns(angle: str) -> bool:
    try:
        return float(angle) % 360 != 0
    except ValueError:
        return False


def _pairs(corners: list[float]) -> list[tuple[float, float]]:
    left, top, right, bottom = corners
    return [(left, top), (right, bottom)]
