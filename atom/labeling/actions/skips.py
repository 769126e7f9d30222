"""Passing an item on, and what a researcher does with items that were passed on."""

from __future__ import annotations

from collections.abc import Sequence
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, QuerySet
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.actions.completion import complete_if_done
from atom.labeling.actions.leases import Page, lease_slot, release
from atom.labeling.actions.progress import notify_progress
from atom.labeling.errors import TaskNotActive
from atom.labeling.models import Draft, LabelTask, Skip, WorkItem, WorkSlot
from atom.labeling.sentences import task_is

REOPEN, LEAVE_OUT = "reopen", "leave_out"
SETTLEMENTS = (REOPEN, LEAVE_OUT)


def skip(slot: WorkSlot, user: User, lease_no: int, reason: str = "") -> None:
    """Pass an item on: others get it in its turn, this person only by `unskip`.

    Raises StaleLease when the caller doesn't hold it.
    """
    with transaction.atomic():
        release(slot, user, lease_no)
        Skip.objects.update_or_create(
            work_item_id=slot.work_item_id,
            user=user,
            defaults={"label_task_id": slot.label_task_id, "reason": reason},
        )
        # The class of a skipped item is no answer, so taking it back starts without one.
        Draft.objects.filter(slot=slot, user=user).delete()


def unskip(slot: WorkSlot, user: User, page: Page) -> WorkSlot:
    """Take one's own skip back, and hold the item again. Raises StaleLease, TaskNotActive."""
    with transaction.atomic():
        Skip.objects.filter(work_item_id=slot.work_item_id, user=user).delete()
        return lease_slot(slot, user, page)


def unskip_all(task: LabelTask, user: User) -> int:
    """Have the person's skipped items handed out to them again. Returns how many wait."""
    mine = Skip.objects.filter(label_task=task, user=user)
    waiting = mine.filter(work_item__state=states.READY).count()
    mine.delete()
    notify_progress(task.pk)
    return waiting


@transaction.atomic
def settle_skipped(
    task: LabelTask, user: User, how: str, item_ids: Sequence[UUID] | None = None
) -> int:
    """Put skipped items back for everybody, or leave them out. Returns how many.

    `reopen` also takes back what was left out. Without `item_ids`, all of them. An item that
    somebody holds at the moment stays as it is. Raises TaskNotActive.
    """
    locked = LabelTask.objects.select_for_update().get(pk=task.pk)
    if locked.state not in states.TASK_TAKES_WORK:
        raise TaskNotActive(
            task_is(locked.state),
            state=locked.state,
        )
    chosen = _settleable(task, how)
    if item_ids is not None:
        chosen = chosen.filter(work_item__in=item_ids)
    slots = list(chosen.select_for_update(of=("self",)).order_by("pk"))
    items = WorkItem.objects.filter(pk__in=[slot.work_item_id for slot in slots])
    label_slots = WorkSlot.objects.filter(pk__in=[slot.pk for slot in slots])
    if how == REOPEN:
        label_slots.update(state=states.OPEN, updated_at=Now())
        items.update(state=states.READY, left_out_from="", updated_at=Now())
        Skip.objects.filter(work_item__in=items).delete()
    else:
        label_slots.update(state=states.CLOSED, lapsed_user=None, updated_at=Now())
        items.update(state=states.LEFT_OUT, left_out_from=states.READY, updated_at=Now())
        complete_if_done(task.pk)
    named = {"name": task.name, "how": how, "items": len(slots)}
    audit.record(user, "label_task.skipped_settled", task, task.project, task.dataset, **named)
    notify_progress(task.pk)
    return len(slots)


def _settleable(task: LabelTask, how: str) -> QuerySet[WorkSlot]:
    label_slots = WorkSlot.objects.filter(label_task=task, role=states.LABEL_ROLE)
    skipped = Exists(Skip.objects.filter(work_item=OuterRef("work_item")))
    waiting = label_slots.filter(skipped, state=states.OPEN)
    if how == LEAVE_OUT:
        return waiting
    return waiting | label_slots.filter(skipped, state=states.CLOSED)
