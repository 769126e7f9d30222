"""Documents of objects under an ontology: their canonical form, or each fault with its place."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atom_sdk.annotations.checking import problems_of
from atom_sdk.annotations.documents import document_from_json
from atom_sdk.annotations.ontology import Ontology, ontology_from_json
from atom_sdk.annotations.problems import DocumentError, Problem
from atom_sdk.sentences import Sentence

Size = tuple[int, int]


@dataclass(frozen=True)
class CheckedDocument:
    """A document in its canonical form; with problems, as it came."""

    document: dict[str, Any]
    problems: tuple[Problem, ...] = ()


def check_document(
    document: Mapping[str, Any], ontology: Ontology, size: Size | None
) -> CheckedDocument:
    """Return the canonical form of a document over a picture of that size, or its problems."""
    try:
        read = document_from_json(dict(document))
    except DocumentError as error:
        return CheckedDocument(dict(document), error.problems)
    if size is not None and (read.width, read.height) != size:
        return CheckedDocument(dict(document), (_wrong_size(size, (read.width, read.height)),))
    problems = tuple(problems_of(read, ontology))
    return (
        CheckedDocument(dict(document), problems) if problems else CheckedDocument(read.as_json())
    )


def ontology_of(labels: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]) -> Ontology:
    """Return the ontology of a version's columns, which were checked when they were written."""
    return ontology_from_json([dict(label) for label in labels], dict(schema))


def errors_of(problems: Sequence[Problem], prefix: str) -> dict[str, list[str]]:
    """Return the sentences by pointer below the field `prefix` of the request."""
    errors: dict[str, list[str]] = {}
    for problem in problems:
        errors.setdefault(problem.below(prefix).pointer, []).append(problem.sentence)
    return errors


def places_of(problems: Sequence[Problem], prefix: str) -> list[dict[str, Any]]:
    """Return `{"pointer", "at"}` of each problem that can be seen in the picture."""
    return [
        {"pointer": problem.below(prefix).pointer, "at": list(problem.at)}
        for problem in problems
        if problem.at is not None
    ]


def _wrong_size(size: Size, other: Size) -> Problem:
    sentence = Sentence(
        "labeling.size_differs",
        "The picture is {width} by {height} pixels, not {other_width} by {other_height}.",
        width=size[0],
        height=size[1],
        other_width=other[0],
        other_height=other[1],
    )
    return Problem("width", sentence)


def ontology_problems(
    labels: Sequence[Mapping[str, Any]], schema: Mapping[str, Any]
) -> dict[str, list[str]]:
    """Return the errors of an ontology by field, such as labels.0.parent; empty if it is fine."""
    try:
        problems: Sequence[Problem] = ontology_of(labels, schema).problems
    except DocumentError as error:
        problems = error.problems
    errors: dict[str, list[str]] = {}
    for problem in problems:
        errors.setdefault(problem.pointer.replace("/", "."), []).append(problem.sentence)
    return errors
