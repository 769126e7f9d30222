"""Handing work out and taking it back."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import timedelta
from typing import Any, Final
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import Q
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import ROLES, User
from atom.accounts.reads import reaching_binding
from atom.core import clock
from atom.labeling import sql, states
from atom.labeling.actions.pages import Return, take_up
from atom.labeling.actions.progress import notify_progress
from atom.labeling.errors import (
    AuditorIsLabeler,
    LeaseElsewhere,
    NotAssigned,
    NothingHeld,
    StaleLease,
    TaskNotActive,
)
from atom.labeling.models import LabelTask, WorkItem, WorkSlot
from atom.labeling.sentences import task_is
from atom_sdk.sentences import Sentence

MAX_HELD = 500
_EXPIRE_BATCH = 5000


@dataclass(frozen=True)
class Page:
    """The page of the portal that asks; programs have none.

    `on_screen` False says that the items are fetched ahead: they go to whoever finds nothing.
    """

    id: str = ""
    on_screen: bool = True

    @property
    def is_prefetching(self) -> bool:
        """Whether the page has something to show already."""
        return self.id != "" and not self.on_screen


PROGRAM: Final = Page()
AS_PROGRAM: Final = Return()


def lease_labels(task: LabelTask, user: User, n: int, page: Page = PROGRAM) -> list[WorkSlot]:
    """Give `user` up to `n` open items, in the task's order. Raises TaskNotActive, NotAssigned.

    If nothing is open, a person with nothing to do takes what others have only fetched ahead.
    """
    _require_active(task)
    _require_assigned(task, user)
    expire_leases(task.pk)
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=states.LABEL_ROLE).count()
    wanted = min(n, MAX_HELD - held)
    slots = _lease(task, user, states.LABEL_ROLE, wanted, page)
    if slots or page.is_prefetching:
        return slots
    return _lease(task, user, states.LABEL_ROLE, wanted, page, statement=sql.LEASE_PREFETCHED)


def lease_audits(task: LabelTask, user: User, n: int, back: Return = AS_PROGRAM) -> list[WorkSlot]:
    """Give `user` up to `n` submissions to audit, first those that they hold already.

    Raises TaskNotActive, and AuditorIsLabeler when only the caller's own work waits.
    """
    _require_active(task)
    expire_leases(task.pk)
    mine = take_up(task, user, states.AUDIT_ROLE, back)[:n]
    fresh = _lease(task, user, states.AUDIT_ROLE, n - len(mine), Page(back.page))
    if not mine and not fresh:
        _refuse_own_work(task, user)
    return mine + fresh


def expire_leases(task_id: UUID | None = None) -> int:
    """Open every lease that ran out, of one task or of all; drafts stay. Returns how many."""
    params: dict[str, Any] = {"task": task_id, "n": _EXPIRE_BATCH}
    with connection.cursor() as cursor:
        cursor.execute(sql.EXPIRE, params)
        freed = cursor.fetchall()
    for freed_task, _ in freed:
        notify_progress(freed_task)
    return sum(count for _, count in freed)


def open_departed() -> int:
    """Open the slots of people who may no longer label there. Returns how many.

    Neither a lease nor work that was returned for correction outlives its person's role.
    """
    may = reaching_binding(project="label_task__project", roles=ROLES[1:])
    gone = Q(user__is_superuser=False) & ~may | Q(user__is_active=False)
    departed = WorkSlot.objects.filter(gone, state__in=states.SLOT_HELD)
    with transaction.atomic():
        locked = departed.select_for_update(of=("self",), skip_locked=True)
        slots = list(locked[:_EXPIRE_BATCH])
        for slot in slots:
            open_slot(slot)
    for task_id in {slot.label_task_id for slot in slots}:
        notify_progress(task_id)
    return len(slots)


def heartbeat(slot: WorkSlot, user: User, lease_no: int, page: str = "") -> WorkSlot:
    """Move the end of the lease. Raises StaleLease when it was lost.

    `page` says which page holds it; with one, another page of the same person is refused.
    """
    ends_at = Now() + timedelta(seconds=slot.label_task.lease_ttl_s)
    seen: dict[str, Any] = {"seen_at": Now(), **({"page": page} if page else {})}
    here = Q(page__in=["", page]) if page else Q()
    alive = (
        _held(slot, user, lease_no, states.LEASED).filter(here).update(expires_at=ends_at, **seen)
    )
    alive = alive or _held(slot, user, lease_no, states.RETURNED).filter(here).update(**seen)
    slot.refresh_from_db(fields=["expires_at", "state", "lease_no", "user"])
    if not alive:
        raise lost_lease(slot, user)
    return slot


def release(slot: WorkSlot, user: User, lease_no: int) -> None:
    """Give an item back unfinished. Raises StaleLease when the caller doesn't hold it."""
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        held = locked.state in states.SLOT_HELD and locked.user_id == user.pk
        if not held or locked.lease_no != lease_no:
            raise lost_lease(locked, user)
        open_slot(locked)
    notify_progress(slot.label_task_id)


def reopen_returned(slot: WorkSlot) -> None:
    """Take returned work from an absent person and open it for everybody."""
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        if locked.state != states.RETURNED:
            raise StaleLease(
                Sentence("labeling.no_correction_due", "This item is not waiting for correction."),
                slot=str(slot.pk),
            )
        open_slot(locked)
    notify_progress(slot.label_task_id)


def free_slot(slot: WorkSlot, user: User) -> None:
    """Take a held item from whoever holds it and open it; their draft stays with them.

    Work of theirs that arrives later is kept and does not count. Raises NothingHeld.
    """
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        if locked.state not in states.SLOT_HELD:
            raise NothingHeld(slot=str(slot.pk))
        task, holder = slot.label_task, locked.user
        open_slot(locked)
        named = {
            "name": task.name, "path": slot.work_item.path,
            "holder": holder.username if holder else "",
        }  # fmt: skip
        audit.record(user, "label_task.slot_freed", task, task.project, task.dataset, **named)
    notify_progress(slot.label_task_id)


def lost_lease(slot: WorkSlot, user: User) -> StaleLease:
    """Return why `user` no longer holds `slot`, as it stands now."""
    lost = LeaseElsewhere if slot.user_id == user.pk else StaleLease
    return lost(slot=str(slot.pk))


def _require_active(task: LabelTask) -> None:
    if task.state != states.ACTIVE:
        raise TaskNotActive(task_is(task.state), state=task.state)


def _require_assigned(task: LabelTask, user: User) -> None:
    assignees = {person.pk for person in task.assignees.all()}
    if assignees and user.pk not in assignees:
        raise NotAssigned


def _lease(
    task: LabelTask, user: User, role: str, n: int, page: Page, *, statement: str = sql.LEASE
) -> list[WorkSlot]:
    if n <= 0:
        return []
    params: dict[str, Any] = {
        "task": task.pk, "user": user.pk, "role": role, "n": n,
        "ttl": timedelta(seconds=task.lease_ttl_s), "page": page.id, "on_screen": page.on_screen,
    }  # fmt: skip
    try:
        ids = _run_lease(statement, params)
    except IntegrityError:
        # The same person leased the other slot of an item at the same moment; it is visible now.
        ids = _run_lease(statement, params)
    if ids:
        notify_progress(task.pk)
    slots = WorkSlot.objects.filter(pk__in=ids).for_display()
    return list(slots.order_by("-priority", "position"))


def _run_lease(statement: str, params: dict[str, Any]) -> list[Any]:
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(statement, params)
        return [row[0] for row in cursor.fetchall()]


def _refuse_own_work(task: LabelTask, user: User) -> None:
    waiting = WorkSlot.objects.filter(label_task=task, role=states.AUDIT_ROLE, state=states.OPEN)
    if waiting.filter(work_item__slots__user=user).exists():
        raise AuditorIsLabeler


def _held(slot: WorkSlot, user: User, lease_no: int, state: str) -> Any:
    return WorkSlot.objects.filter(pk=slot.pk, user=user, lease_no=lease_no, state=state)


def open_slot(slot: WorkSlot) -> None:
    """Open a locked slot, and its item if it was to be labeled."""
    slot.state, slot.user, slot.expires_at = states.OPEN, None, None
    slot.page, slot.on_screen, slot.seen_at, slot.lapsed_user = "", False, None, None
    slot.save(
        update_fields=[
            "state", "user", "expires_at", "page", "on_screen", "seen_at", "lapsed_user",
            "updated_at",
        ]
    )  # fmt: skip
    if slot.role == states.LABEL_ROLE:
        waiting = [states.LABELING, states.REWORK]
        WorkItem.objects.filter(pk=slot.work_item_id, state__in=waiting).update(state=states.READY)


def lease_slot(slot: WorkSlot, user: User, page: Page) -> WorkSlot:
    """Lease this very item if it is open. Raises StaleLease when somebody has it, TaskNotActive."""
    task = slot.label_task
    _require_active(task)
    _require_assigned(task, user)
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        other = WorkSlot.objects.filter(work_item=slot.work_item_id, user=user).exists()
        if locked.state != states.OPEN or other:
            raise lost_lease(locked, user)
        locked.state, locked.user, locked.lease_no = states.LEASED, user, locked.lease_no + 1
        locked.page, locked.on_screen, locked.lapsed_user = page.id, page.on_screen, None
        locked.seen_at = clock.now()
        locked.expires_at = locked.seen_at + timedelta(seconds=task.lease_ttl_s)
        locked.save()
        items = WorkItem.objects.filter(pk=slot.work_item_id, state=states.READY)
        items.update(state=states.LABELING, updated_at=Now())
    notify_progress(task.pk)
    return locked
