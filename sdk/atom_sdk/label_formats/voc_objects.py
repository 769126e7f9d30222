"""Objects of a VOC file: boxes, and what LabelMe, CVAT, Roboflow and roLabelImg add to them."""

from __future__ import annotations

import math
import re
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from atom_sdk.annotations.geometry import Box, PictureGeometry
from atom_sdk.annotations.naming import NamedObject
from atom_sdk.label_formats import values
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.texts import attribute_value
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.label_formats.xml_nodes import Node

_CORNERS = ("xmin", "ymin", "xmax", "ymax")
_FLAGS = ("truncated", "occluded")


def object_nodes(document: Node) -> list[Node]:
    """Return the objects of an annotation; those that LabelMe marks as deleted are none."""
    return [node for node in document.all("object") if node.get("deleted") != "1"]


@dataclass(frozen=True)
class ObjectReader:
    """Reads the objects of the file `path`, whose picture has the `size` width and height.

    `origin` is the number of the first pixel, None to go by the file.
    """

    report: LabelReport
    path: str
    size: tuple[int, int]
    origin: int | None = None

    def read(self, document: Node, picture: str) -> Iterator[NamedObject]:
        """Yield the objects; one that cannot be read is counted."""
        nodes = object_nodes(document)
        origin = self.origin_of(nodes)
        for number, node in enumerate(nodes, 1):
            subject = f"{self.path}, object {number}"
            try:
                yield self.object(node, origin, subject, values.object_id(None, picture, number))
            except ValueRefusedError as refused:
                self.report.count(refused.code, subject)

    def object(self, node: Node, origin: int, subject: str, own: str) -> NamedObject:
        """Return an object with the id `own`. Raises ValueRefusedError."""
        label = values.class_name(node.get("name"))
        shape = values.placed(self._shape(node, origin, subject), *self.size)
        ignore = node.get("difficult") == "1"
        return NamedObject(own, label, shape, _attributes(node), ignore)

    def boxed(self, node: Node, origin: int, own: str) -> NamedObject:
        """Return an object as its box, whatever else it has. Raises ValueRefusedError."""
        label = values.class_name(node.get("name"))
        shape = values.placed(_box(node, origin), *self.size)
        return NamedObject(own, label, shape, _attributes(node), node.get("difficult") == "1")

    def origin_of(self, nodes: list[Node]) -> int:
        """Return the number of a picture's first pixel, 0 or 1."""
        if self.origin is not None:
            return self.origin
        boxes = [box for node in nodes for box in node.all("bndbox")]
        texts = [box.get(name).strip() for box in boxes for name in _CORNERS]
        if any(re.fullmatch(r"-?0+(\.0*)?", text) for text in texts):
            self.report.count("read_as_zero_based", self.path)
            return 0
        if any(re.fullmatch(r"-?\d+\.\d*[1-9]\d*", text) for text in texts):
            self.report.count("fractions_read", self.path)
        return 1

    def _shape(self, node: Node, origin: int, subject: str) -> PictureGeometry:
        rotated = node.child("robndbox")
        if rotated is not None:
            five = [values.number(rotated.get(name)) for name in ("cx", "cy", "w", "h", "angle")]
            return values.rotated_box((*five[:4], math.degrees(five[4])))
        polygons = list(node.all("polygon"))
        if polygons:
            parts = [(values.ring(list(_points(polygon))),) for polygon in polygons]
            return values.polygon(parts, *self.size, self.report, subject)
        return _turned(_box(node, origin), node)


def _box(node: Node, origin: int) -> Box:
    box = node.child("bndbox")
    if box is None:
        raise ValueRefusedError("shape_wrong", "it has no name or no box")
    left, top, right, bottom = (values.number(box.get(name)) for name in _CORNERS)
    left, right = min(left, right), max(left, right)
    top, bottom = min(top, bottom), max(top, bottom)
    return values.box((left - origin, top - origin, right - left + origin, bottom - top + origin))


def _turned(box: Box, node: Node) -> PictureGeometry:
    """CVAT writes the angle of a rotated box as an attribute."""
    group = node.child("attributes")
    for each in group.all("attribute") if group else ():
        if each.get("name") == "rotation":
            angle = values.number(each.get("value"))
            if angle % 360:
                x, y = box.x + box.width / 2, box.y + box.height / 2
                return values.rotated_box((x, y, box.width, box.height, angle))
    return box


def _attributes(node: Node) -> dict[str, Any]:
    attributes: dict[str, Any] = {name: True for name in _FLAGS if node.get(name) == "1"}
    pose = node.get("pose")
    if pose and pose.lower() != "unspecified":
        attributes["pose"] = pose
    group = node.child("attributes")
    for each in group.all("attribute") if group else ():
        name = each.get("name")
        if name and name != "rotation":
            attributes[name] = attribute_value(each.get("value"))
    return attributes


def _points(polygon: Node) -> Iterator[str]:
    """`<pt><x>1</x><y>2</y></pt>` as LabelMe writes it, `<x1>1</x1><y1>2</y1>` as others do."""
    for child in polygon.children:
        if child.name == "pt":
            yield from (child.get("x"), child.get("y"))
        elif child.name[:1] in ("x", "y") and child.name[1:].isdecimal():
            yield child.text.strip()
