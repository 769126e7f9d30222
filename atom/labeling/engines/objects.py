"""The published layer of objects, and the objects that a version has for a new task."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from typing import Any, Final

import pyarrow as pa

from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedDocument, NamedObject, to_document
from atom_sdk.annotations.ontology import Attribute, Ontology
from atom_sdk.annotations.problems import DocumentError
from atom_sdk.manifests.layers.layers import current_rows
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER

NAME: Final = OBJECTS_LAYER
KIND: Final = OBJECTS_KIND


class PreLabels:
    """The objects layer of a version, as documents under a task's ontology."""

    def __init__(self, layer: pa.Table, ontology: Ontology) -> None:
        self._layer = layer
        self._ontology = ontology

    def documents(self, entries: pa.Table) -> dict[str, dict[str, Any]]:
        """Return the documents of the entries that have one, by path.

        A row counts only while its digest is the entry's. Labels and attributes that the ontology
        lacks are left out.
        """
        rows = current_rows(self._layer, entries)
        rows = rows.filter(rows.column("path").is_valid())
        named = zip(rows.column("path").to_pylist(), documents_of(rows), strict=True)
        found = ((path, known_part(document, self._ontology)) for path, document in named)
        return {path: document for path, document in found if document is not None}


def known_part(named: NamedDocument, ontology: Ontology) -> dict[str, Any] | None:
    """Return what the ontology knows of a document, by its ids; None where nothing is left."""
    kept = tuple(
        replace(one, attributes=_known(one.attributes, _scope(one, ontology)))
        for one in named.objects
        if one.label in ontology.label_named
    )
    ids = {one.id for one in kept}
    part = replace(
        named,
        labels=tuple(name for name in named.labels if name in ontology.label_named),
        attributes=_known(named.attributes, ontology.attributes),
        objects=kept,
        relations=tuple(
            one
            for one in named.relations
            if one.name in ontology.relation_named and {one.subject, one.object} <= ids
        ),
    )
    if named.objects and not kept and not part.labels:
        return None
    try:
        return to_document(part, ontology).as_json()
    # A choice that the ontology does not have: the shapes are worth more than their attributes.
    except DocumentError:
        bare = tuple(replace(one, attributes={}) for one in kept)
        return to_document(replace(part, attributes={}, objects=bare), ontology).as_json()


def _scope(one: NamedObject, ontology: Ontology) -> Iterable[Attribute]:
    scope: Iterable[Attribute] = ontology.attributes_of(ontology.label_named[one.label].id)
    return scope


def _known(values: Mapping[str, Any], attributes: Iterable[Attribute]) -> dict[str, Any]:
    names = {attribute.name for attribute in attributes}
    return {name: value for name, value in values.items() if name in names}
