"""Reading a document under a task's ontology, for submissions and for corrections of auditors."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from atom.core.errors import AtomError
from atom.labeling.engines import checking, documents
from atom.labeling.errors import DocumentTooLarge, InvalidAnnotation, UnknownLabel
from atom.labeling.models import LabelTask, WorkItem
from atom.labeling.models.tasks import IMAGE_OBJECTS
from atom_sdk.sentences import Sentence

FIELD = "document"


@dataclass(frozen=True)
class Answer:
    """A document as it is stored, and why it cannot be taken, if so."""

    document: dict[str, Any]
    problem: AtomError | None = None

    @cached_property
    def encoded(self) -> documents.EncodedDocument:
        """The stored form."""
        return documents.encode(self.document)

    @property
    def columns(self) -> dict[str, Any]:
        """The columns of a revision that follow from the document."""
        return {
            "document": self.encoded.data,
            "sha256": self.encoded.sha256,
            "label_ids": documents.label_ids_of(self.document),
            "n_objects": documents.object_count(self.document),
        }


def read_answer(document: Mapping[str, Any], task: LabelTask, item: WorkItem) -> Answer:
    """Check a document against its task; a document of objects gets its canonical form."""
    sent = Answer(dict(document))
    if sent.encoded.size_bytes > documents.MAX_DOCUMENT_BYTES:
        return Answer(sent.document, too_large())
    if task.modality == IMAGE_OBJECTS:
        return _read_objects(sent.document, task, item)
    return Answer(sent.document, _label_problem(sent.document, task))


def too_large() -> DocumentTooLarge:
    """Return the refusal of a document over the limit."""
    limit = documents.MAX_DOCUMENT_BYTES
    return DocumentTooLarge(
        Sentence("labeling.document_too_large", "At most {max_bytes} bytes.", max_bytes=limit)
    )


def _read_objects(document: dict[str, Any], task: LabelTask, item: WorkItem) -> Answer:
    version = task.ontology_version
    ontology = checking.ontology_of(version.full_labels, version.full_schema)
    size = None if item.width is None or item.height is None else (item.width, item.height)
    checked = checking.check_document(document, ontology, size)
    if not checked.problems:
        return Answer(checked.document)
    return Answer(
        document,
        InvalidAnnotation(
            errors=checking.errors_of(checked.problems, FIELD),
            places=checking.places_of(checked.problems, FIELD),
        ),
    )


def _label_problem(document: Mapping[str, Any], task: LabelTask) -> AtomError | None:
    label_ids = documents.label_ids_of(document)
    unknown = set(label_ids) - set(task.ontology_version.names_by_id)
    # A document of objects names labels too, but a grid shows one class of a picture.
    if label_ids and not unknown and not documents.is_objects(document):
        return None
    return UnknownLabel(
        errors={
            "label_id": [
                Sentence(
                    "labeling.label_unknown",
                    "There is no label with the id {id}.",
                    id=document.get("label_id"),
                )
            ]
        }
    )
