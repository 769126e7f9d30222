"""The order in which rows are locked: tasks (shared), then slots by id, then items."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from uuid import UUID

from django.db import connection

from atom.accounts.models import Project
from atom.labeling import sql, states
from atom.labeling.models import WorkItem, WorkSlot


@dataclass(frozen=True)
class LockedSlots:
    """Every slot of the touched items, locked until the transaction ends."""

    by_id: dict[UUID, WorkSlot]
    by_item: dict[tuple[UUID, str], WorkSlot]

    def get(self, slot_id: UUID, role: str) -> WorkSlot | None:
        """Return the slot if it exists in the project and has that role."""
        slot = self.by_id.get(slot_id)
        return slot if slot is not None and slot.role == role else None

    def label_of(self, audit_slot: WorkSlot) -> WorkSlot:
        """Return the label slot of an audit slot's item."""
        return self.by_item[audit_slot.work_item_id, states.LABEL_ROLE]

    def audit_of(self, label_slot: WorkSlot) -> WorkSlot | None:
        """Return the audit slot of a label slot's item, if one was opened."""
        return self.by_item.get((label_slot.work_item_id, states.AUDIT_ROLE))


def lock_slots(project: Project, slot_ids: Iterable[UUID]) -> LockedSlots:
    """Lock the items' slots, both roles, in id order, so that batches cannot deadlock."""
    wanted = WorkSlot.objects.in_project(project).filter(pk__in=list(slot_ids))
    found = list(wanted.values_list("work_item", "label_task"))
    _share_tasks(sorted({task_id for _, task_id in found}))
    slots = (
        WorkSlot.objects.filter(work_item__in={item_id for item_id, _ in found})
        .select_related(
            "label_task__ontology_version", "label_task__project", "label_task__created_by"
        )
        .select_for_update(of=("self",))
        .order_by("pk")
    )
    by_id = {slot.pk: slot for slot in slots}
    # Read after the lock: a join would show the items as they were before somebody released it. One
    # object for each, so that a change made through one slot is seen through the other.
    items = WorkItem.objects.in_bulk({slot.work_item_id for slot in by_id.values()})
    for slot in by_id.values():
        slot.work_item = items[slot.work_item_id]
    return LockedSlots(by_id, {(s.work_item_id, s.role): s for s in by_id.values()})


def _share_tasks(task_ids: list[UUID]) -> None:
    with connection.cursor() as cursor:
        cursor.execute(sql.SHARE_TASKS, {"tasks": task_ids})
