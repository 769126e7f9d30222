"""Facts about what each format can hold; `fitting` brings documents into that shape."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

BOX, ROTATED, POLYGON, POLYLINE = "box", "rotated_box", "polygon", "polyline"
POINT, KEYPOINTS, MASK = "point", "keypoints", "mask"
KINDS = (BOX, ROTATED, POLYGON, POLYLINE, POINT, KEYPOINTS, MASK)


@dataclass(frozen=True)
class Ability:
    """Whether a format holds a thing; `kinds` says as which kind an object is written.

    A kind that is not in `kinds` is left out. Polygons with several rings are written as they are
    where `rings` is "kept", else as a "mask", else without holes and with an object for each part
    ("split"). With `parts` alone polygons keep parts and only those with holes change.
    `must_have_box` is about keypoints.
    """

    kinds: Mapping[str, str] = field(default_factory=lambda: {kind: kind for kind in KINDS})
    rings: str = "kept"
    parts: bool = True
    keypoint_boxes: bool = True
    must_have_box: bool = False
    labels: bool = True
    picture_attributes: bool = True
    attributes: bool = True
    lists: bool = True
    relations: bool = True
    texts: bool = True
    ignore: bool = True
    tracks: bool = True
    ids: bool = True
    media_shapes: bool = True
    cut: bool = False
    whole_pixels: bool = False


def as_itself(*kinds: str, **changed: str) -> Mapping[str, str]:
    """Return kinds that a format holds, and those that change into others."""
    return {**{kind: kind for kind in kinds}, **changed}


EVERYTHING = Ability()
