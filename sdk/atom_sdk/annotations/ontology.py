"""Ontologies: their parts, and how they are read."""

from atom_sdk.annotations.ontology_model import (
    CLASSIFICATION,
    Attribute,
    Choice,
    Condition,
    Label,
    Ontology,
    RelationKind,
    Skeleton,
    applying,
)
from atom_sdk.annotations.ontology_reading import ontology_from_json

__all__ = [
    "CLASSIFICATION",
    "Attribute",
    "Choice",
    "Condition",
    "Label",
    "Ontology",
    "RelationKind",
    "Skeleton",
    "applying",
    "ontology_from_json",
]
