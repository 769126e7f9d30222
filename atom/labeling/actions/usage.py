"""Counting the work of a task that uses parts of an ontology, or that another one refuses."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import F, Q, QuerySet

from atom.labeling import states
from atom.labeling.engines import documents
from atom.labeling.engines.checking import check_document
from atom.labeling.engines.ontology_use import Key, used_keys
from atom.labeling.models import AnnotationRevision, Draft, LabelTask
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.annotations.problems import Problem

_CURSOR_ROWS = 500


def used_of(task: LabelTask, keys: Collection[Key]) -> Counter[Key]:
    """Return how many items use each key: in their present answer, or in a draft of it.

    Answers that were replaced or did not count do not hold a label back, nor do pre-labels.
    """
    items: dict[Key, set[UUID]] = {}
    for item_id, document in _work_of(task):
        for key in _keys_of(document) & set(keys):
            items.setdefault(key, set()).add(item_id)
    return Counter({key: len(found) for key, found in items.items()})


def _keys_of(document: dict[str, Any]) -> set[Key]:
    try:
        return set(used_keys(document))
    # A draft is kept as it comes; its mistakes are told when it is submitted.
    except (TypeError, ValueError, KeyError, AttributeError):
        return set()


@dataclass(frozen=True)
class RefusedAnswers:
    """How many items have an answer that a newer ontology refuses, and one such mistake."""

    items: int
    path: str
    problem: Problem


def refused_answers(task: LabelTask, before: Ontology, after: Ontology) -> RefusedAnswers | None:
    """Return the present answers that `before` takes and `after` does not; None without any.

    Drafts are left out: they may lack what is required until they are submitted.
    """
    items: set[UUID] = set()
    first: tuple[str, Problem] | None = None
    rows = _answers_of(task).values_list("work_item", "work_item__path", "document")
    for item_id, path, data in rows.iterator(chunk_size=_CURSOR_ROWS):
        document = documents.decode(bytes(data))
        problems = check_document(document, after, None).problems
        if problems and not check_document(document, before, None).problems:
            items.add(item_id)
            first = first or (path, problems[0])
    return RefusedAnswers(len(items), *first) if first else None


def _answers_of(task: LabelTask) -> QuerySet[AnnotationRevision]:
    present = Q(slot__revision=F("pk")) | Q(work_item__final_revision=F("pk"))
    return AnnotationRevision.objects.filter(present, work_item__label_task=task)


def _work_of(task: LabelTask) -> Iterator[tuple[UUID, dict[str, Any]]]:
    answers = _answers_of(task)
    drafts = Draft.objects.filter(slot__label_task=task, slot__role=states.LABEL_ROLE)
    for rows in (
        answers.values_list("work_item", "document"),
        drafts.values_list("slot__work_item", "document"),
    ):
        for item_id, data in rows.iterator(chunk_size=_CURSOR_ROWS):
            yield item_id, documents.decode(bytes(data))
