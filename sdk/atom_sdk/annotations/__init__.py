"""Annotations of pictures: documents, ontologies, shapes, masks, and their layer."""

from typing import TYPE_CHECKING

from atom_sdk.lazy import names_of

if TYPE_CHECKING:
    from atom_sdk.annotations.documents import (
        AnnotatedObject,
        Document,
        Relation,
        canonical_json,
        document_from_json,
        from_version_1,
        new_object_id,
    )
    from atom_sdk.annotations.geometry import (
        Box,
        Keypoints,
        Mask,
        PictureGeometry,
        Point,
        Polygon,
        Polyline,
        RotatedBox,
    )
    from atom_sdk.annotations.problems import DocumentError, Problem
    from atom_sdk.annotations.tracks import (
        Geometry,
        Keyframe,
        Segment,
        Span,
        Track,
        geometry_from_json,
    )

__all__ = [
    "AnnotatedObject",
    "Box",
    "Document",
    "DocumentError",
    "Geometry",
    "Keyframe",
    "Keypoints",
    "Mask",
    "PictureGeometry",
    "Point",
    "Polygon",
    "Polyline",
    "Problem",
    "Relation",
    "RotatedBox",
    "Segment",
    "Span",
    "Track",
    "canonical_json",
    "document_from_json",
    "from_version_1",
    "geometry_from_json",
    "new_object_id",
]

# The command line names no shape, so that it starts without numpy.
__getattr__ = names_of(
    __name__,
    {
        "documents": (
            "AnnotatedObject",
            "Document",
            "Relation",
            "canonical_json",
            "document_from_json",
            "from_version_1",
            "new_object_id",
        ),
        "geometry": (
            "Box",
            "Keypoints",
            "Mask",
            "PictureGeometry",
            "Point",
            "Polygon",
            "Polyline",
            "RotatedBox",
        ),
        "problems": ("DocumentError", "Problem"),
        "tracks": ("Geometry", "Keyframe", "Segment", "Span", "Track", "geometry_from_json"),
    },
)
