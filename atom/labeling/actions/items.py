"""Turning the matching entries of a version into work."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models.functions import Now

from atom.core import clock
from atom.labeling import states
from atom.labeling.actions.progress import notify_progress
from atom.labeling.models import LabelTask, WorkItem, WorkSlot

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
    )
