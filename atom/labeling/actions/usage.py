"""Counting the work of a task that uses labels, attributes, choices or relations."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterator
from typing import Any
from uuid import UUID

from django.db.models import F, Q

from atom.labeling import states
from atom.labeling.engines import documents
from atom.labeling.engines.ontology_use import Key, used_keys
from atom.labeling.models import AnnotationRevision, Draft, LabelTask

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


def _work_of(task: LabelTask) -> Iterator[tuple[UUID, dict[str, Any]]]:
    present = Q(slot__revision=F("pk")) | Q(work_item__final_revision=F("pk"))
    answers = AnnotationRevision.objects.filter(present, work_item__label_task=task)
    drafts = Draft.objects.filter(slot__label_task=task, slot__role=states.LABEL_ROLE)
    for rows in (
        answers.values_list("work_item", "document"),
        drafts.values_list("slot__work_item", "document"),
    ):
        for item_id, data in rows.iterator(chunk_size=_CURSOR_ROWS):
            yield item_id, documents.decode(bytes(data))
