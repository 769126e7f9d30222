"""A task is complete when no item is left to do."""

from __future__ import annotations

from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef
from django.db.models.functions import Now

from atom.core import outbox
from atom.labeling import states
from atom.labeling.models import LabelTask, WorkItem, WorkSlot


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
    return sum(_complete(task) for task in tasks.only("pk", "project_id", "state"))


@transaction.atomic
def _complete(task: LabelTask) -> bool:
    rows = LabelTask.objects.filter(pk=task.pk, state__in=states.TASK_TAKES_WORK)
    is_mine = bool(rows.update(state=states.COMPLETED, updated_at=Now()))
    if is_mine:
        outbox.emit(task.project_id, "label_task.completed", subject=task.pk)
    return is_mine


def emit_if_audited(task_id: UUID) -> None:
    """Emit an event after commit if no item waits for an audit, whoever did the last one."""
    transaction.on_commit(lambda: _emit_if_audited(task_id))


@transaction.atomic
def _emit_if_audited(task_id: UUID) -> None:
    waiting = WorkSlot.objects.filter(
        label_task=task_id, role=states.AUDIT_ROLE, state__in=[states.OPEN, states.LEASED]
    )
    task = LabelTask.objects.only("pk", "project_id").filter(~Exists(waiting), pk=task_id).first()
    if task is not None:
        outbox.emit(task.project_id, "label_task.audited", subject=task.pk)


def emit_if_corrected(task_id: UUID, user_id: UUID) -> None:
    """Emit an event after commit if this person has no returned work left."""
    transaction.on_commit(lambda: _emit_if_corrected(task_id, user_id))


@transaction.atomic
def _emit_if_corrected(task_id: UUID, user_id: UUID) -> None:
    back = WorkSlot.objects.filter(label_task=task_id, user=user_id, state=states.RETURNED)
    task = LabelTask.objects.only("pk", "project_id").filter(~Exists(back), pk=task_id).first()
    if task is not None:
        outbox.emit(task.project_id, "label_task.corrected", subject=task.pk, user=str(user_id))
