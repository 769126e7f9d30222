"""Turning the matching entries of a version into work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from atom.core import clock
from atom.labeling import states
from atom.labeling.actions.answers import Answer
from atom.labeling.actions.progress import notify_progress
from atom.labeling.engines.keys import uuid_of_key
from atom.labeling.models import AnnotationRevision, LabelTask, WorkItem, WorkSlot
from atom.labeling.models.revisions import IMPORT

_BATCH = 2000


@dataclass(frozen=True)
class Sample:
    """One entry of a version and where its bytes are.

    `place` is `{"pack", "offset"}`, or `{"key", "pin"}` of an object that stays at its source.
    """

    path: str
    digest: str
    place: dict[str, Any]
    size_bytes: int
    media_type: str
    # Width and height, where the version knows them.
    picture_size: tuple[int, int] | None = None
    # The objects that the version has for it, by the ids of the task's ontology.
    document: dict[str, Any] | None = None


def add_items(task: LabelTask, samples: Iterable[Sample]) -> int:
    """Add one ready item with one open label slot per sample, in the samples' order.

    Samples come in a fixed order, so a run that was cut off adds only what is missing.
    Returns the number of samples.
    """
    total = 0
    for batch in _batches(samples):
        with transaction.atomic():
            _add_batch(task, batch, total)
        total += len(batch)
        notify_progress(task.pk)
    LabelTask.objects.filter(pk=task.pk).update(populated_at=Now())
    notify_progress(task.pk)
    return total


def _batches(samples: Iterable[Sample]) -> Iterator[list[Sample]]:
    source = iter(samples)
    while batch := list(islice(source, _BATCH)):
        yield batch


def _add_batch(task: LabelTask, samples: list[Sample], first: int) -> None:
    paths = [sample.path for sample in samples]
    there = set(
        WorkItem.objects.filter(label_task=task, path__in=paths).values_list("path", flat=True)
    )
    items = [
        _item(task, sample, first + index)
        for index, sample in enumerate(samples)
        if sample.path not in there
    ]
    at = clock.now()
    for item in items:
        item.created_at = item.updated_at = at
    WorkItem.objects.bulk_create(items)
    WorkSlot.objects.bulk_create(
        WorkSlot(
            work_item=item,
            label_task=task,
            role=states.LABEL_ROLE,
            position=item.position,
            created_at=at,
            updated_at=at,
        )
        for item in items
    )
    _add_pre_labels(task, items, {s.path: s.document for s in samples if s.document})


def _add_pre_labels(
    task: LabelTask, items: list[WorkItem], by_path: Mapping[str, dict[str, Any]]
) -> None:
    """Store what the version has as revisions that count for nothing, and point the items there."""
    begun = [item for item in items if item.path in by_path]
    if not begun or task.created_by is None:
        return
    slots = {
        slot.work_item_id: slot
        for slot in WorkSlot.objects.filter(work_item__in=begun, role=states.LABEL_ROLE)
    }
    at = clock.now()
    revisions = []
    for item in begun:
        document = Answer(by_path[item.path])
        revisions.append(
            AnnotationRevision(
                created_at=at,
                work_item=item,
                slot=slots[item.pk],
                user=task.created_by,
                lease_no=0,
                source=IMPORT,
                ontology_version_id=task.ontology_version_id,
                **document.columns,
                accepted=False,
                idempotency_key=uuid_of_key(f"pre-label {item.pk}"),
            )
        )
        item.pre_label = revisions[-1]
    AnnotationRevision.objects.bulk_create(revisions)
    WorkItem.objects.bulk_update(begun, ["pre_label"])


def media_of(sample: Sample) -> dict[str, Any]:
    """Return what an item keeps of its sample in `media`."""
    return {
        **sample.place,
        "size_bytes": sample.size_bytes,
        "media_type": sample.media_type,
    }


def _item(task: LabelTask, sample: Sample, position: int) -> WorkItem:
    return WorkItem(
        label_task=task,
        path=sample.path,
        digest=sample.digest,
        media=media_of(sample),
        position=position,
        width=sample.picture_size[0] if sample.picture_size else None,
        height=sample.picture_size[1] if sample.picture_size else None,
    )
