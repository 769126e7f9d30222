"""All shapes that an object can have, and how they are read."""

from atom_sdk.annotations.shapes import (
    Bounds,
    Box,
    Keypoints,
    Mask,
    PictureGeometry,
    Point,
    Polygon,
    Polyline,
    Ring,
    RotatedBox,
)
from atom_sdk.annotations.tracks import (
    Geometry,
    Keyframe,
    Segment,
    Span,
    Track,
    geometry_from_json,
)

__all__ = [
    "Bounds",
    "Box",
    "Geometry",
    "Keyframe",
    "Keypoints",
    "Mask",
    "PictureGeometry",
    "Point",
    "Polygon",
    "Polyline",
    "Ring",
    "RotatedBox",
    "Segment",
    "Span",
    "Track",
    "geometry_from_json",
]
