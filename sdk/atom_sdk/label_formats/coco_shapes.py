"""Shapes of COCO's annotations, both ways."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import Box, Keypoints, Mask, PictureGeometry, Polygon
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.label_formats import values
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.values import ValueRefusedError

_MAX_RUN = 1 << 31
Row = Mapping[str, Any]


@dataclass(frozen=True)
class Category:
    """A class of a COCO file: its name, supercategory and skeleton."""

    name: str
    parent: str = ""
    points: Sequence[str] = ()
    edges: Sequence[Sequence[int]] = field(default=())


def geometry_of(
    row: Row, category: Category, size: tuple[int, int], report: LabelReport, subject: str
) -> PictureGeometry:
    """Return the shape of an annotation: keypoints, else its segmentation, else its box.

    Raises ValueRefusedError.
    """
    width, height = size
    outline = row.get("segmentation")
    points = row.get("keypoints")
    if isinstance(points, list) and (any(points[2::3]) or row.get("atom_id")):
        if outline:
            report.count("outlines_left_out", subject)
        shape: PictureGeometry = _keypoints(points, category, row)
    elif isinstance(outline, dict):
        shape = mask_of_rle(outline, width, height)
    elif isinstance(outline, list) and outline:
        rings = outline if isinstance(outline[0], list) else [outline]
        parts = [(values.ring(ring),) for ring in rings]
        for (ring,) in parts:
            values.placed(Polygon(((ring,),)), width, height)
        shape = values.polygon(parts, width, height, report, subject)
    else:
        shape = values.box(row.get("bbox"))
    return values.placed(shape, width, height)


def _keypoints(points: Sequence[Any], category: Category, row: Row) -> Keypoints:
    box = row.get("bbox")
    around = values.box(box) if box and row.get("atom_box", True) else None
    return values.keypoints(values.numbers(points), len(category.points), around)


def mask_of_rle(outline: Row, width: int, height: int) -> Mask:
    """Return the mask of run lengths, as a list or compressed. Raises ValueRefusedError."""
    counts = outline.get("counts")
    if outline.get("size") != [height, width]:
        raise ValueRefusedError("shape_wrong")
    if isinstance(counts, list):
        if not all(type(each) is int and 0 <= each < _MAX_RUN for each in counts):
            raise ValueRefusedError("shape_wrong")
        counts = rle.to_text(np.array(counts, np.int64))
    if not isinstance(counts, str):
        raise ValueRefusedError("shape_wrong")
    try:
        rle.checked_runs(counts, height, width)
        mask = Mask(height, width, counts)
        if not mask.area:
            raise ValueRefusedError("shape_wrong")
    except DocumentError as error:
        raise ValueRefusedError("shape_wrong") from error
    return mask


def fields_of(shape: PictureGeometry) -> dict[str, Any]:
    """Return the fields of an annotation that say its shape."""
    fields: dict[str, Any] = {
        "bbox": list(shape.bounds),
        "area": shape.area,
        "segmentation": _segmentation(shape),
    }
    if isinstance(shape, Keypoints):
        fields["keypoints"] = [number for point in shape.points for number in point]
        fields["num_keypoints"] = sum(v > 0 for _, _, v in shape.points)
        if shape.box is None:
            fields["atom_box"] = False
    return fields


def _segmentation(shape: PictureGeometry) -> Any:
    if isinstance(shape, Polygon):
        return [list(part[0]) for part in shape.parts]
    if isinstance(shape, Mask):
        return {"size": [shape.height, shape.width], "counts": shape.counts}
    assert isinstance(shape, Box | Keypoints)
    return []
