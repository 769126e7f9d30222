"""Brings a document into the shape that a format holds, and counts all that changes."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import replace
from typing import Any

from atom_sdk.annotations import rle
from atom_sdk.annotations.documents import new_object_id
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    Polygon,
    RotatedBox,
)
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.tracks import Geometry
from atom_sdk.label_formats import shapes
from atom_sdk.label_formats.ability import BOX, KINDS, MASK, POLYGON, ROTATED, Ability
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.tracing import trace

# In pixels; coordinates are exact to this.
_SLIVER = 1e-6


class Fitter:
    """Fits documents to a format; `report` counts objects as they are and all changes."""

    def __init__(self, ability: Ability, report: LabelReport) -> None:
        self._ability = ability
        self._report = report

    def fit(self, document: NamedDocument, path: str) -> NamedDocument:
        """Return what the format holds of a document."""
        fitted = [one for each in document.objects for one in self._objects(each, document, path)]
        relations = self._kept(self._ability.relations, document.relations, "relations", path)
        labels = self._kept(self._ability.labels, document.labels, "labels", path)
        attributes = self._kept(
            self._ability.picture_attributes, document.attributes, "picture_attributes", path
        )
        written = {each.id for each in fitted}
        relations = tuple(
            each for each in relations if each.subject in written and each.object in written
        )
        fitted_document = replace(
            document,
            objects=tuple(fitted),
            relations=relations,
            labels=labels,
            attributes=attributes,
        )
        self._report.tally(fitted_document)
        return fitted_document

    def _kept(self, holds: bool, values: Any, name: str, path: str) -> Any:
        if holds or not values:
            return values
        self._report.count(f"{name}_left_out", path, len(values))
        return type(values)() if isinstance(values, dict | tuple) else ()

    def _objects(
        self, each: NamedObject, document: NamedDocument, path: str
    ) -> Iterator[NamedObject]:
        self._report.before[each.geometry.kind] += 1
        if each.ignore and not self._ability.ignore:
            self._report.count("ignore_left_out", path)
            return
        geometries = list(self._geometries(each.geometry, document, path))
        if not geometries:
            return
        bare = self._bare(each, path)
        for number, geometry in enumerate(geometries):
            yield replace(bare, geometry=geometry, id=bare.id if not number else new_object_id())

    def _bare(self, each: NamedObject, path: str) -> NamedObject:
        """The object without what the format has no place for."""
        ability, report = self._ability, self._report
        if not ability.ids:
            report.count("ids_left_out")
        if each.attributes and not ability.attributes:
            report.count("attributes_left_out", path, len(each.attributes))
            each = replace(each, attributes={})
        if each.text is not None and not ability.texts:
            report.count("texts_left_out", path)
            each = replace(each, text=None)
        if each.track is not None and not ability.tracks:
            report.count("tracks_left_out", path)
            each = replace(each, track=None)
        if not ability.lists and any(isinstance(v, list | tuple) for v in each.attributes.values()):
            report.count("values_as_text", path)
        return each

    def _geometries(
        self, geometry: Geometry, document: NamedDocument, path: str
    ) -> Iterator[Geometry]:
        kind = geometry.kind
        if kind not in KINDS:
            if self._ability.media_shapes:
                yield geometry
            else:
                self._report.count("media_shapes_left_out", path)
            return
        target = self._ability.kinds.get(kind)
        if target is None:
            self._report.count(f"{_NOUNS[kind]}_left_out", path)
            return
        if target != kind:
            changed = _CHANGES[kind, target](geometry)
            if changed is None:
                self._report.count("outside_left_out", path)
                return
            self._report.count(f"{_NOUNS[kind]}_as_{_NOUNS[target]}", path)
            geometry = changed
        for each in self._ringed(geometry, document, path):
            placed = self._placed(each, document, path)
            if placed is not None:
                yield placed

    def _ringed(self, geometry: Geometry, document: NamedDocument, path: str) -> Iterator[Geometry]:
        """Polygons with holes or of several parts, as the format can hold them."""
        ability, report = self._ability, self._report
        if isinstance(geometry, Keypoints):
            geometry = self._boxed(geometry, path)
        if not isinstance(geometry, Polygon) or ability.rings == "kept":
            yield geometry
            return
        holes = sum(len(part) - 1 for part in geometry.parts)
        if not holes and (ability.parts or len(geometry.parts) == 1):
            yield geometry
        elif ability.rings == MASK:
            report.count("polygons_as_masks", path)
            yield mask_of(geometry, document.width, document.height)
        else:
            if holes:
                report.count("holes_left_out", path, holes)
            if len(geometry.parts) > 1:
                report.count("parts_as_objects", path)
            for part in geometry.parts:
                yield Polygon(((part[0],),))

    def _boxed(self, keypoints: Keypoints, path: str) -> Keypoints:
        """Keypoints with the box that a format wants, or without one that it cannot hold."""
        if keypoints.box is not None and not self._ability.keypoint_boxes:
            self._report.count("keypoint_boxes_left_out", path)
            return replace(keypoints, box=None)
        if keypoints.box is None and self._ability.must_have_box:
            self._report.count("keypoint_boxes_made", path)
            x, y, width, height = keypoints.bounds
            return replace(keypoints, box=Box(x, y, width or 1.0, height or 1.0))
        return keypoints

    def _placed(self, geometry: Geometry, document: NamedDocument, path: str) -> Geometry | None:
        """The shape cut at the border of its picture, where the format asks for that."""
        if self._ability.whole_pixels and isinstance(geometry, Box):
            geometry = self._whole(geometry, path)
        if not self._ability.cut:
            return geometry
        cut = cut_geometry(geometry, document.width, document.height)
        if cut is None or (cut != geometry and _is_sliver(cut)):
            self._report.count("outside_left_out", path)
            return None
        if cut != geometry:
            self._report.count("cut_at_border", path)
        return cut

    def _whole(self, box: Box, path: str) -> Box:
        left, top = round(box.x), round(box.y)
        right = max(round(box.x + box.width), left + 1)
        bottom = max(round(box.y + box.height), top + 1)
        whole = Box(float(left), float(top), float(right - left), float(bottom - top))
        if whole != box:
            self._report.count("rounded_to_pixels", path)
        return whole


def _is_sliver(geometry: Geometry) -> bool:
    """Return whether an area is so thin that the format's digits would make it a line."""
    if not isinstance(geometry, Box | Polygon | RotatedBox):
        return False
    _x, _y, width, height = geometry.bounds
    return min(width, height) < _SLIVER


def cut_geometry(geometry: Geometry, width: int, height: int) -> Geometry | None:
    """Return the part of a shape that lies in the picture, None if there is none."""
    if isinstance(geometry, Box):
        return _cut_box(geometry, width, height)
    if isinstance(geometry, Polygon):
        rings = [[_inside(ring, width, height) for ring in part] for part in geometry.parts]
        parts = tuple(tuple(r for r in part if r is not None) for part in rings if part[0])
        return Polygon(parts) if parts else None
    if isinstance(geometry, RotatedBox):
        return _cut_rotated(geometry, width, height)
    if isinstance(geometry, Keypoints):
        return _cut_keypoints(geometry, width, height)
    return geometry


def _cut_box(box: Box, width: int, height: int) -> Box | None:
    cut = shapes.cut_box(box.bounds, width, height)
    return Box(*cut) if cut is not None else None


def _inside(ring: shapes.Ring, width: int, height: int) -> shapes.Ring | None:
    x, y, wide, high = shapes.bounds(ring)
    if x >= 0 and y >= 0 and x + wide <= width and y + high <= height:
        return ring
    return shapes.cut_ring(ring, width, height)


def _cut_rotated(geometry: RotatedBox, width: int, height: int) -> RotatedBox | None:
    """The smallest rotated box around the part in the picture, where a corner is outside."""
    ring = shapes.corners(_five(geometry))
    inside = _inside(ring, width, height)
    if inside is ring or inside is None:
        return geometry if inside else None
    x, y, wide, high = shapes.bounds(inside)
    # A rectangle around the part may have corners outside again; the one along the axes has not.
    return RotatedBox(x + wide / 2, y + high / 2, wide, high, 0.0)


def _cut_keypoints(geometry: Keypoints, width: int, height: int) -> Keypoints | None:
    points = tuple(
        (x, y, v) if v and 0 <= x <= width and 0 <= y <= height else (0.0, 0.0, 0)
        for x, y, v in geometry.points
    )
    box = _cut_box(geometry.box, width, height) if geometry.box is not None else None
    if not any(v for _, _, v in points) and box is None:
        return None
    cut = replace(geometry, points=points, box=box)
    return geometry if cut == geometry else cut


def mask_of(polygon: Polygon, width: int, height: int) -> Mask:
    """Return the pixels of a polygon."""
    return Mask(height, width, rle.from_polygon(polygon.parts, height, width))


def polygon_of_mask(mask: Mask) -> Polygon | None:
    """Return the polygon along the edges of a mask's pixels, None for a mask without a pixel."""
    parts = trace(rle.decode(mask.counts, mask.height, mask.width))
    return Polygon(parts) if parts else None


def _bounds_of(geometry: Geometry) -> Box | None:
    x, y, width, height = geometry.bounds
    return Box(x, y, width, height) if width > 0 and height > 0 else None


def _five(box: RotatedBox) -> shapes.Rotated:
    return box.cx, box.cy, box.width, box.height, box.angle


def _rotated(points: list[float]) -> RotatedBox | None:
    rotated = shapes.smallest_rectangle(points)
    return rotated and RotatedBox(*rotated)


def _box_ring(box: Box) -> Polygon:
    right, bottom = box.x + box.width, box.y + box.height
    return Polygon((((box.x, box.y, right, box.y, right, bottom, box.x, bottom),),))


def _borders(polygon: Polygon) -> list[float]:
    return [number for part in polygon.parts for number in part[0]]


def _mask_rotated(mask: Mask) -> RotatedBox | None:
    polygon = polygon_of_mask(mask)
    return _rotated(_borders(polygon)) if polygon is not None else None


_NOUNS = {
    "box": "boxes",
    "rotated_box": "rotated",
    "polygon": "polygons",
    "polyline": "polylines",
    "point": "points",
    "keypoints": "keypoints",
    "mask": "masks",
}
_CHANGES: dict[tuple[str, str], Callable[[Any], Geometry | None]] = {
    (BOX, POLYGON): _box_ring,
    (BOX, ROTATED): lambda b: RotatedBox(
        b.x + b.width / 2, b.y + b.height / 2, b.width, b.height, 0.0
    ),
    (ROTATED, BOX): _bounds_of,
    (ROTATED, POLYGON): lambda r: Polygon(((shapes.corners(_five(r)),),)),
    (POLYGON, BOX): _bounds_of,
    (POLYGON, ROTATED): lambda p: _rotated(_borders(p)),
    ("keypoints", BOX): lambda k: k.box or _bounds_of(k),
    (MASK, BOX): _bounds_of,
    (MASK, POLYGON): polygon_of_mask,
    (MASK, ROTATED): _mask_rotated,
}
