"""Whether a document fits its picture and its ontology."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from atom_sdk.annotations.documents import AnnotatedObject, Document, Relation, canonical_json
from atom_sdk.annotations.ontology_model import (
    CLASSIFICATION,
    Attribute,
    Label,
    Ontology,
    applying,
)
from atom_sdk.annotations.problems import MAX_PROBLEMS, Problem
from atom_sdk.annotations.shape_checks import problems_of_shape
from atom_sdk.annotations.shapes import Keypoints, Mask, Polygon, Polyline
from atom_sdk.annotations.tracks import Geometry
from atom_sdk.annotations.values import MAX_TEXT_CHARACTERS, value_problem
from atom_sdk.sentences import Sentence

MAX_OBJECTS = 10_000
MAX_RELATIONS = 10_000
MAX_DOCUMENT_BYTES = 4 << 20
MAX_SIDE_PX = 1_000_000
_MOST_BYTES_OF_FIELDS = 400
_MOST_BYTES_OF_NUMBER = 26


def problems_of(document: Document, ontology: Ontology) -> list[Problem]:
    """Return the faults of a document, up to a hundred; empty when it is fine.

    A value of an attribute whose condition does not hold is no fault: published layers leave it
    out, and it is there again when the condition holds again.
    """
    problems: list[Problem] = []
    for problem in _problems(document, ontology):
        problems.append(problem)
        if len(problems) == MAX_PROBLEMS:
            break
    return problems


def _problems(document: Document, ontology: Ontology) -> Iterator[Problem]:
    sizes = list(_size(document))
    yield from sizes
    yield from _picture_labels(document, ontology)
    yield from _attributes(document.attributes, ontology.attributes)
    if len(document.objects) > MAX_OBJECTS:
        count = len(document.objects)
        yield Problem(
            "objects",
            Sentence(
                "annotations.too_many_objects",
                "A picture has at most {most} objects, not {count}.",
                most=MAX_OBJECTS,
                count=count,
            ),
        )
    elif not sizes:
        yield from _objects(document, ontology)
    if len(document.relations) > MAX_RELATIONS:
        count = len(document.relations)
        yield Problem(
            "relations",
            Sentence(
                "annotations.too_many_relations",
                "A picture has at most {most} relations, not {count}.",
                most=MAX_RELATIONS,
                count=count,
            ),
        )
    else:
        yield from _relations(document, ontology)
    # Writing the JSON takes as long as all the checks of boxes.
    size = len(canonical_json(document)) if _most_bytes(document) > MAX_DOCUMENT_BYTES else 0
    if size > MAX_DOCUMENT_BYTES:
        yield Problem(
            "",
            Sentence(
                "annotations.document_too_large",
                "The document has {size} bytes; at most {most} are kept. Simplify its shapes.",
                size=size,
                most=MAX_DOCUMENT_BYTES,
            ),
        )


def _most_bytes(document: Document) -> int:
    """Return a number of bytes that the document's JSON does not exceed."""
    lengths = sum(
        _most_of_shape(it.geometry) + _most_of_text(it.text) + _most_of_text(it.attributes)
        for it in document.objects
    )
    others = len(document.labels) + len(document.relations) + len(document.objects)
    return lengths + _most_of_text(document.attributes) + (1 + others) * _MOST_BYTES_OF_FIELDS


def _most_of_shape(shape: Geometry) -> int:
    if isinstance(shape, Polygon):
        numbers = sum(len(ring) + 1 for part in shape.parts for ring in part)
    elif isinstance(shape, Polyline | Keypoints):
        numbers = 3 * len(shape.points)
    else:
        numbers = 2 * len(shape.counts) if isinstance(shape, Mask) else 0
    return numbers * _MOST_BYTES_OF_NUMBER


def _most_of_text(value: object) -> int:
    # A character has four bytes in UTF-8, and six as an escape.
    return 6 * len(repr(value)) if value else 0


def _size(document: Document) -> Iterator[Problem]:
    if not (document.width or document.height or document.objects):
        # Version 1 knows no size.
        return
    for name in ("width", "height"):
        if not 1 <= getattr(document, name) <= MAX_SIDE_PX:
            yield Problem(
                name,
                Sentence(
                    "annotations.size_out_of_range",
                    "The {name} of a picture is 1 to {most} pixels.",
                    name=name,
                    most=MAX_SIDE_PX,
                ),
            )


def _picture_labels(document: Document, ontology: Ontology) -> Iterator[Problem]:
    labels = document.labels
    if len(labels) > 1 and not ontology.multiple:
        yield Problem(
            "labels",
            Sentence(
                "annotations.too_many_labels",
                "A picture has one class here, not {count}.",
                count=len(labels),
            ),
        )
    for index, label_id in enumerate(labels):
        pointer = f"labels/{index}"
        label = ontology.label_of.get(label_id)
        if label is None:
            yield _unknown_label(pointer, label_id)
        elif CLASSIFICATION not in label.tools:
            yield Problem(
                pointer,
                Sentence(
                    "annotations.label_of_objects_only",
                    "“{name}” is no class of a whole picture.",
                    name=label.name,
                ),
            )
        elif label_id in labels[:index]:
            yield Problem(
                pointer,
                Sentence("annotations.label_repeated", "“{name}” comes twice.", name=label.name),
            )


def _objects(document: Document, ontology: Ontology) -> Iterator[Problem]:
    seen: set[str] = set()
    for index, item in enumerate(document.objects):
        pointer = f"objects/{index}"
        if item.id in seen:
            yield Problem(
                f"{pointer}/id",
                Sentence(
                    "annotations.id_repeated",
                    "Another object or relation has the id {id}, too.",
                    id=item.id,
                ),
            )
        seen.add(item.id)
        faults = problems_of_shape(item.geometry, document.width, document.height)
        for fault in faults or _object(item, ontology):
            yield fault.below(pointer)


def _object(item: AnnotatedObject, ontology: Ontology) -> Iterator[Problem]:
    label = ontology.label_of.get(item.label)
    if label is None:
        yield _unknown_label("label", item.label)
        return
    kind = item.geometry.kind
    if kind not in label.tools:
        tools = ", ".join(label.tools)
        yield Problem(
            "kind",
            Sentence(
                "annotations.tool_not_of_label",
                "“{name}” is not drawn as {kind}. Its tools: {tools}.",
                name=label.name,
                kind=kind,
                tools=tools,
            ),
        )
    elif isinstance(item.geometry, Keypoints):
        yield from _skeleton(item.geometry, label)
    yield from _attributes(item.attributes, ontology.attributes_of(label.id))
    if item.text is not None and len(item.text) > MAX_TEXT_CHARACTERS:
        yield Problem(
            "text",
            Sentence(
                "annotations.text_too_long",
                "A transcription has at most {most} characters.",
                most=MAX_TEXT_CHARACTERS,
            ),
        )


def _skeleton(shape: Keypoints, label: Label) -> Iterator[Problem]:
    expected = len(label.skeleton.points) if label.skeleton else 0
    if len(shape.points) != expected:
        params = {"name": label.name, "expected": expected, "count": len(shape.points)}
        yield Problem(
            "points",
            Sentence(
                "annotations.skeleton_differs",
                "The skeleton of “{name}” has {expected} points, not {count}.",
                **params,
            ),
        )


def _attributes(values: Mapping[int, Any], attributes: Sequence[Attribute]) -> Iterator[Problem]:
    if not values and not attributes:
        return
    by_id = {attribute.id: attribute for attribute in attributes}
    for number, value in values.items():
        pointer = f"attributes/{number}"
        attribute = by_id.get(number)
        if attribute is None:
            yield Problem(
                pointer,
                Sentence(
                    "annotations.attribute_unknown",
                    "There is no attribute {id} here. Remove it.",
                    id=number,
                ),
            )
        elif (fault := value_problem(attribute, value)) is not None:
            yield Problem(pointer, fault)
    for attribute in applying(attributes, values):
        if attribute.required and values.get(attribute.id) in (None, "", ()):
            pointer = f"attributes/{attribute.id}"
            yield Problem(
                pointer,
                Sentence("annotations.attribute_missing", "Fill in “{name}”.", name=attribute.name),
            )


def _relations(document: Document, ontology: Ontology) -> Iterator[Problem]:
    labels = {item.id: item.label for item in document.objects}
    ids: set[str] = set(labels)
    seen: set[tuple[int, str, str]] = set()
    for index, relation in enumerate(document.relations):
        pointer = f"relations/{index}"
        if relation.id in ids:
            yield Problem(
                f"{pointer}/id",
                Sentence(
                    "annotations.id_repeated",
                    "Another object or relation has the id {id}, too.",
                    id=relation.id,
                ),
            )
        ids.add(relation.id)
        ends = relation.relation, relation.subject, relation.object
        if ends in seen:
            yield Problem(
                pointer, Sentence("annotations.relation_repeated", "This relation comes twice.")
            )
        seen.add(ends)
        for problem in _relation(relation, labels, ontology):
            yield problem.below(pointer)


def _relation(
    relation: Relation, labels: Mapping[str, int], ontology: Ontology
) -> Iterator[Problem]:
    kind = ontology.relation_of.get(relation.relation)
    if kind is None:
        yield Problem(
            "relation",
            Sentence(
                "annotations.relation_unknown",
                "There is no kind of relation {id}.",
                id=relation.relation,
            ),
        )
        return
    if relation.subject == relation.object:
        yield Problem(
            "to",
            Sentence("annotations.relation_to_itself", "A relation joins two different objects."),
        )
    for field, item, allowed in (
        ("from", relation.subject, kind.subjects),
        ("to", relation.object, kind.objects),
    ):
        if item not in labels:
            yield Problem(
                field, Sentence("annotations.object_unknown", "There is no object {id}.", id=item)
            )
        elif allowed is not None and not _is_any(labels[item], allowed, ontology):
            yield Problem(
                field,
                Sentence(
                    "annotations.relation_of_other_label",
                    "The relation “{name}” does not take this class.",
                    name=kind.name,
                ),
            )


def _is_any(label_id: int, allowed: Sequence[int], ontology: Ontology) -> bool:
    return any(label.id in allowed for label in ontology.lineage(label_id))


def _unknown_label(pointer: str, label_id: int) -> Problem:
    return Problem(
        pointer, Sentence("annotations.label_unknown", "There is no label {id}.", id=label_id)
    )
