"""Move items to the good pack after a corrupt one was sent again.

An item keeps the place of its bytes, so that a picture needs no manifest. The repair of a version
gives it another layout and knows nothing of labeling, so a task here looks for changed layouts.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from uuid import UUID

import structlog
from django.db.models import F, Q, QuerySet

from atom.core.locks import only_worker
from atom.datasets.catalog.reads import packs_named_by
from atom.datasets.models import Pack
from atom.labeling.actions.items import media_of
from atom.labeling.actions.samples import ImageSelection
from atom.labeling.models import LabelTask, WorkItem

log = structlog.get_logger(__name__)

_BATCH = 2000


def tasks_to_repair() -> QuerySet[LabelTask]:
    """Return the tasks with all their items whose version has a layout that they do not know."""
    filled = LabelTask.objects.for_display().filter(populated_at__isnull=False)
    known = Q(items_layout=F("dataset_version__layout"))
    return filled.exclude(known | Q(dataset_version__state="collected"))


def repair_items(task_id: UUID) -> int:
    """Have items be read from where their version has them now; returns how many changed.

    Safe to run again after a kill at any line.
    """
    with only_worker(task_id) as mine:
        task = tasks_to_repair().filter(pk=task_id).first()
        if not mine or task is None:
            return 0
        layout = task.dataset_version.layout
        misplaced, count = _misplaced(task), 0
        while items := list(islice(misplaced, _BATCH)):
            count += _repair(task, items)
        # The layout that was read: another repair may have changed it meanwhile.
        LabelTask.objects.filter(pk=task_id).update(items_layout=layout)
    if count:
        log.info("label_items_mended", label_task=str(task_id), items=count)
    return count


def _misplaced(task: LabelTask) -> Iterator[WorkItem]:
    """Yield the items in packs that are corrupt, or that the version no longer names."""
    damaged = Pack.objects.filter(project=task.project, state="quarantined")
    gone = ~Q(media__pack__in=packs_named_by(task.dataset_version))
    in_damaged = Q(media__pack__in=list(damaged.values_list("digest", flat=True)))
    items = task.items.filter(gone | in_damaged, media__has_key="pack")
    return items.order_by("position", "id").iterator(chunk_size=_BATCH)


def _repair(task: LabelTask, items: list[WorkItem]) -> int:
    paths = frozenset(item.path for item in items)
    found = ImageSelection(task.dataset_version, labelled=None, paths=paths).samples()
    places = {sample.path: media_of(sample) for sample in found}
    changed = []
    for item in items:
        place = places.get(item.path)
        if place is not None and place != item.media:
            item.media = place
            changed.append(item)
    WorkItem.objects.bulk_update(changed, ["media"])
    return len(changed)
