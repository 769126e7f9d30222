"""Handing work out and taking it back."""

from __future__ import annotations

from datetime import timedelta
from typing import Any
from uuid import UUID

from django.db import IntegrityError, connection, transaction
from django.db.models import F, Q
from django.db.models.functions import Now

from atom.accounts.models import ROLES, User
from atom.accounts.reads import reaching_binding
from atom.core import live
from atom.labeling import sql, states
from atom.labeling.errors import AuditorIsLabeler, LeaseElsewhere, StaleLease, TaskNotActive
from atom.labeling.models import LabelTask, WorkItem, WorkSlot

MAX_HELD = 500
_EXPIRE_BATCH = 5000


def lease_labels(task: LabelTask, user: User, n: int) -> list[WorkSlot]:
    """Give `user` up to `n` open items, in the task's order. Raises TaskNotActive."""
    _require_active(task)
    expire_leases(task.pk)
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=states.LABEL_ROLE).count()
    return _lease(task, user, states.LABEL_ROLE, min(n, MAX_HELD - held))


def lease_audits(task: LabelTask, user: User, n: int) -> list[WorkSlot]:
    """Give `user` up to `n` submissions to audit, first those that they hold already.

    Raises TaskNotActive, and AuditorIsLabeler when only the caller's own work waits.
    """
    _require_active(task)
    expire_leases(task.pk)
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=states.AUDIT_ROLE)
    mine = list(held.for_display().order_by("position")[:n])
    fresh = _lease(task, user, states.AUDIT_ROLE, n - len(mine))
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
        tell_progress(freed_task)
    return sum(count for _, count in freed)


def open_departed() -> int:
    """Open what is held by people who may not label there any more. Returns how many slots.

    Neither a lease nor work that was returned for correction outlives its person's role.
    """
    may = reaching_binding(project="label_task__project", roles=ROLES[1:])
    gone = Q(user__is_superuser=False) & ~may | Q(user__is_active=False)
    departed = WorkSlot.objects.filter(gone, state__in=states.SLOT_HELD)
    with transaction.atomic():
        locked = departed.select_for_update(of=("self",), skip_locked=True)
        slots = list(locked[:_EXPIRE_BATCH])
        for slot in slots:
            _open(slot, skip=False)
    for task_id in {slot.label_task_id for slot in slots}:
        tell_progress(task_id)
    return len(slots)


def heartbeat(slot: WorkSlot, user: User, lease_no: int) -> WorkSlot:
    """Move the end of the lease. Raises StaleLease when it was lost."""
    ends_at = Now() + timedelta(seconds=slot.label_task.lease_ttl_s)
    alive = _held(slot, user, lease_no, states.LEASED).update(expires_at=ends_at)
    slot.refresh_from_db(fields=["expires_at", "state", "lease_no", "user"])
    if not alive and not _held(slot, user, lease_no, states.RETURNED).exists():
        raise lost_lease(slot, user)
    return slot


def release(slot: WorkSlot, user: User, lease_no: int, *, skip: bool = False) -> None:
    """Give an item back unfinished; a skipped one comes after all others.

    Raises StaleLease when the caller doesn't hold it.
    """
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        held = locked.state in states.SLOT_HELD and locked.user_id == user.pk
        if not held or locked.lease_no != lease_no:
            raise lost_lease(locked, user)
        _open(locked, skip=skip)
    tell_progress(slot.label_task_id)


def reopen_returned(slot: WorkSlot) -> None:
    """Take returned work from a person who does not come back to it, for anybody to do."""
    with transaction.atomic():
        locked = WorkSlot.objects.select_for_update().get(pk=slot.pk)
        if locked.state != states.RETURNED:
            raise StaleLease("This item is not waiting for correction.", slot=str(slot.pk))
        _open(locked, skip=False)
    tell_progress(slot.label_task_id)


def lost_lease(slot: WorkSlot, user: User) -> StaleLease:
    """Return why `user` no longer holds `slot`, as it stands now."""
    lost = LeaseElsewhere if slot.user_id == user.pk else StaleLease
    return lost(slot=str(slot.pk))


def tell_progress(task_id: UUID) -> None:
    """Tell open pages that the task's counts have changed."""
    live.publish(f"labeltask.{task_id}", {"type": "progress", "id": str(task_id)})


def _require_active(task: LabelTask) -> None:
    if task.state != states.ACTIVE:
        raise TaskNotActive(f"The task is {task.state}.", state=task.state)


def _lease(task: LabelTask, user: User, role: str, n: int) -> list[WorkSlot]:
    if n <= 0:
        return []
    try:
        ids = _run_lease(task, user, role, n)
    except IntegrityError:
        # The same person leased the other slot of an item at the same moment; it is visible now.
        ids = _run_lease(task, user, role, n)
    if ids:
        tell_progress(task.pk)
    slots = WorkSlot.objects.filter(pk__in=ids).for_display()
    return list(slots.order_by("-priority", "position"))


def _run_lease(task: LabelTask, user: User, role: str, n: int) -> list[Any]:
    ttl = timedelta(seconds=task.lease_ttl_s)
    params: dict[str, Any] = {
        "task": task.pk, "user": user.pk, "role": role, "n": n, "ttl": ttl
    }  # fmt: skip
    with transaction.atomic(), connection.cursor() as cursor:
        cursor.execute(sql.LEASE, params)
        return [row[0] for row in cursor.fetchall()]


def _refuse_own_work(task: LabelTask, user: User) -> None:
    waiting = WorkSlot.objects.filter(label_task=task, role=states.AUDIT_ROLE, state=states.OPEN)
    if waiting.filter(work_item__slots__user=user).exists():
        raise AuditorIsLabeler


def _held(slot: WorkSlot, user: User, lease_no: int, state: str) -> Any:
    return WorkSlot.objects.filter(pk=slot.pk, user=user, lease_no=lease_no, state=state)


def _open(slot: WorkSlot, *, skip: bool) -> None:
    """Open a locked slot, and its item if it was to be labeled."""
    slot.state, slot.user, slot.expires_at = states.OPEN, None, None
    slot.priority -= int(skip)
    slot.save(update_fields=["state", "user", "expires_at", "priority", "updated_at"])
    if slot.role == states.LABEL_ROLE:
        waiting = [states.LABELING, states.REWORK]
        items = WorkItem.objects.filter(pk=slot.work_item_id, state__in=waiting)
        items.update(state=states.READY, priority=F("priority") - int(skip))
