"""Shapes of CVAT's XML, read."""

from __future__ import annotations

from collections.abc import Callable, Iterator, MutableMapping

import numpy as np

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Keypoints,
    Mask,
    PictureGeometry,
    Point,
    Polygon,
    Polyline,
)
from atom_sdk.label_formats import values
from atom_sdk.label_formats.bit_runs import RunsRefusedError, read_rows
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.shapes import ellipse
from atom_sdk.label_formats.values import ValueRefusedError
from atom_sdk.label_formats.xml_nodes import Node

OCCLUDED = "occluded"
_LARGEST = (1 << 31) - 1
# Names of a skeleton's points by its class, in the order of the task.
Orders = MutableMapping[str, list[str]]


def shapes_of(
    node: Node, orders: Orders, size: tuple[int, int], report: LabelReport, where: str
) -> Iterator[PictureGeometry]:
    """Yield the shape of an element, several of one with several points.

    Raises ValueRefusedError.
    """
    width, height = size
    if node.name == "polygon":
        yield values.polygon([(values.ring(_flat(node)),)], width, height, report, where)
    elif node.name == "points":
        flat = _flat(node)
        yield from (Point(x, y) for x, y in zip(flat[0::2], flat[1::2], strict=True))
    elif node.name == "skeleton":
        yield _skeleton(node, orders)
    elif node.name == "mask":
        yield _mask(node, width, height)
    elif node.name == "ellipse":
        report.count("ellipses_as_polygons", where)
        yield _ellipse(node)
    elif node.name in _SIMPLE:
        yield _SIMPLE[node.name](node)
    else:
        raise ValueRefusedError("shape_unknown")


def _flat(node: Node) -> list[float]:
    flat: list[float] = []
    for pair in node.attributes.get("points", "").split(";"):
        numbers = pair.split(",")
        if len(numbers) != 2:
            raise ValueRefusedError("shape_wrong")
        flat += map(values.number, numbers)
    return flat


def _numbers(node: Node, *names: str) -> list[float]:
    return [values.number(node.attributes.get(name, "")) for name in names]


def _box(node: Node) -> PictureGeometry:
    left, top, right, bottom = _numbers(node, "xtl", "ytl", "xbr", "ybr")
    box = values.box((left, top, right - left, bottom - top))
    if "rotation" not in node.attributes:
        return box
    (angle,) = _numbers(node, "rotation")
    return values.rotated_box(
        ((left + right) / 2, (top + bottom) / 2, box.width, box.height, angle)
    )


def _polyline(node: Node) -> Polyline:
    flat = tuple(_flat(node))
    if len(flat) < 4:
        raise ValueRefusedError("shape_wrong")
    return Polyline(flat)


def _ellipse(node: Node) -> PictureGeometry:
    cx, cy, rx, ry = _numbers(node, "cx", "cy", "rx", "ry")
    angle = values.number(node.attributes.get("rotation", "0"))
    if rx <= 0 or ry <= 0:
        raise ValueRefusedError("shape_wrong")
    return Polygon(((ellipse(cx, cy, rx, ry, angle),),))


def _skeleton(node: Node, orders: Orders) -> Keypoints:
    """Points in the order that the task declares, whatever the order in the file is."""
    label = values.class_name(node.attributes.get("label"))
    order = orders.setdefault(label, [])
    by_name: dict[str, tuple[float, float, int]] = {}
    for child in node.all("points"):
        name = child.attributes.get("label", "")
        if name not in order:
            order.append(name)
        flat = _flat(child)
        is_absent = child.attributes.get("outside") == "1"
        is_hidden = child.attributes.get(OCCLUDED) == "1"
        by_name[name] = (0.0, 0.0, 0) if is_absent else (flat[0], flat[1], 1 if is_hidden else 2)
    flat = [number for name in order for number in by_name.get(name, (0.0, 0.0, 0))]
    return values.keypoints(flat, 0, None)


def _mask(node: Node, width: int, height: int) -> Mask:
    texts = node.attributes.get("rle", "").split(",")
    numbers = [*_numbers(node, "left", "top", "width", "height"), *map(values.number, texts)]
    if any(number != int(number) or not 0 <= number <= _LARGEST for number in numbers):
        raise ValueRefusedError("shape_wrong")
    left, top, wide, high, *counts = map(int, numbers)
    if left + wide > width or top + high > height:
        raise ValueRefusedError("outside_left_out")
    try:
        inside = read_rows(counts, wide, high)
    except RunsRefusedError as error:
        raise ValueRefusedError("shape_wrong") from error
    whole = np.zeros((height, width), bool)
    whole[top : top + high, left : left + wide] = inside
    if not inside.any():
        raise ValueRefusedError("shape_wrong")
    return Mask(height, width, rle.encode(whole))


_SIMPLE: dict[str, Callable[[Node], PictureGeometry]] = {"box": _box, "polyline": _polyline}
