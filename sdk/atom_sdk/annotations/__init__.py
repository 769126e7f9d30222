"""Annotations of pictures: documents, ontologies, shapes, masks, and their layer."""

from typing import TYPE_CHECKING

from atom_sdk.lazy import names_of

if TYPE_CHECKING:
    from atom_sdk.annotations.checking import (
        problems_of,
    )
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
        Geometry,
        Keyframe,
        Keypoints,
        Mask,
        PictureGeometry,
        Point,
        Polygon,
        Polyline,
        RotatedBox,
        Segment,
        Span,
        Track,
        geometry_from_json,
    )
    from atom_sdk.annotations.naming import (
        NamedDocument,
        NamedObject,
        NamedRelation,
        to_document,
        to_named,
    )
    from atom_sdk.annotations.ontology import (
        Attribute,
        Choice,
        Condition,
        Label,
        Ontology,
        RelationKind,
        Skeleton,
        applying,
        ontology_from_json,
    )
    from atom_sdk.annotations.problems import (
        DocumentError,
        Problem,
    )

__all__ = [
    "AnnotatedObject",
    "Attribute",
    "Box",
    "Choice",
    "Condition",
    "Document",
    "DocumentError",
    "Geometry",
    "Keyframe",
    "Keypoints",
    "Label",
    "Mask",
    "NamedDocument",
    "NamedObject",
    "NamedRelation",
    "Ontology",
    "PictureGeometry",
    "Point",
    "Polygon",
    "Polyline",
    "Problem",
    "Relation",
    "RelationKind",
    "RotatedBox",
    "Segment",
    "Skeleton",
    "Span",
    "Track",
    "applying",
    "canonical_json",
    "document_from_json",
    "from_version_1",
    "geometry_from_json",
    "new_object_id",
    "ontology_from_json",
    "problems_of",
    "to_document",
    "to_named",
]

# The command line names no shape, so that it starts without numpy.
__getattr__ = names_of(
    __name__,
    {
        "checking": ("problems_of",),
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
            "Geometry",
            "Keyframe",
            "Keypoints",
            "Mask",
            "PictureGeometry",
            "Point",
            "Polygon",
            "Polyline",
            "RotatedBox",
            "Segment",
            "Span",
            "Track",
            "geometry_from_json",
        ),
        "naming": (
            "NamedDocument",
            "NamedObject",
            "NamedRelation",
            "to_document",
            "to_named",
        ),
        "ontology": (
            "Attribute",
            "Choice",
            "Condition",
            "Label",
            "Ontology",
            "RelationKind",
            "Skeleton",
            "applying",
            "ontology_from_json",
        ),
        "problems": (
            "DocumentError",
            "Problem",
        ),
    },
)
