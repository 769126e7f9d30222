"""A task is complete when no item is left to do."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from atom.labeling import states
from atom.labeling.models import LabelTask, WorkItem


def complete_if_done(task_id: UUID) -> None:
    """Complete the task after commit if its last item is finished.

    After commit: of two people who finish the last two items at once, the later one sees both.
    """
    transaction.on_commit(lambda: complete_finished(task_id))


def complete_finished(task_id: UUID | None = None) -> int:
    """Complete every populated task without an unfinished item, or only one. Returns how many."""
    left = WorkItem.objects.filter(label_task=OuterRef("pk")).exclude(
        state__in=states.ITEM_FINISHED
    )
    tasks = LabelTask.objects.filter(
        ~Exists(left), state__in=states.TASK_TAKES_WORK, populated_at__isnull=False
    )
    if task_id is not None:
        tasks = tasks.filter(pk=task_id)
    return tasks.update(state=states.COMPLETED, updated_at=Now())
