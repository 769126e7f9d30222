"""Pages of the portal that hold leases: leaving, coming back, a second tab of the same person."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import timedelta
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, F, OuterRef, Q
from django.db.models.functions import Least, Now

from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.actions.progress import notify_progress
from atom.labeling.models import Draft, LabelTask, WorkItem, WorkSlot
from atom.labeling.states import LEFT_FOR, SILENT_AFTER


@dataclass(frozen=True)
class Return:
    """A page that takes up work: the page before it in the same tab, if any.

    With `everything`, it also takes what another living page of the person holds.
    """

    page: str = ""
    from_page: str = ""
    everything: bool = False


@transaction.atomic
def leave_page(task: LabelTask, user: User, page: str) -> None:
    """Shorten the leases of a page that goes away to a minute; it never lengthens one.

    Items that the page only fetched ahead are open at once. Others keep their lease number, so
    that work on its way still counts, and so that the person's next page takes them up.
    """
    held = WorkSlot.objects.held_by(user).filter(label_task=task, page=page).exclude(page="")
    drafts = Draft.objects.filter(slot=OuterRef("pk"), user=user)
    begun = Q(on_screen=True) | Q(state=states.RETURNED) | Exists(drafts)
    locked = list(held.select_for_update().order_by("pk").values_list("pk", flat=True))
    slots = WorkSlot.objects.filter(pk__in=locked)
    unseen = list(slots.exclude(begun).values_list("pk", "work_item_id"))
    kept = slots.filter(begun)
    kept.filter(state=states.LEASED).update(expires_at=Least("expires_at", Now() + LEFT_FOR))
    kept.update(page="", seen_at=None, updated_at=Now())
    _open_unseen(unseen)
    if locked:
        notify_progress(task.pk)


def _open_unseen(unseen: Sequence[tuple[UUID, UUID]]) -> None:
    opened = WorkSlot.objects.filter(pk__in=[slot_id for slot_id, _ in unseen])
    opened.update(
        state=states.OPEN, lapsed_user=F("user"), user=None, expires_at=None, page="",
        on_screen=False, seen_at=None, updated_at=Now(),
    )  # fmt: skip
    items = WorkItem.objects.filter(pk__in=[item_id for _, item_id in unseen])
    items.filter(state=states.LABELING).update(state=states.READY, updated_at=Now())


def take_up(task: LabelTask, user: User, role: str, back: Return) -> list[WorkSlot]:
    """Give a page what its person holds and no other living page shows; drafts stay with it.

    Leases are renewed. Expired leases that nobody took are held again. Another page that loses
    something here learns it by the lease number.
    """
    with transaction.atomic():
        taken = _held_again(task, user, role, back) + _free_for(task, user, role, back)
    if taken:
        notify_progress(task.pk)
    slots = WorkSlot.objects.filter(pk__in=taken).for_display()
    return list(slots.order_by("-state", "-priority", "position"))


def _free_for(task: LabelTask, user: User, role: str, back: Return) -> list[UUID]:
    own = Q(page__in={"", back.page, back.from_page})
    silent = Q(seen_at=None) | Q(seen_at__lt=Now() - SILENT_AFTER)
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=role)
    found = held if back.everything else held.filter(own | silent)
    rows = list(found.select_for_update().order_by("pk").values_list("pk", "page"))
    ids = [slot_id for slot_id, _ in rows]
    elsewhere = [slot_id for slot_id, page in rows if page not in {"", back.page, back.from_page}]
    WorkSlot.objects.filter(pk__in=elsewhere).update(lease_no=F("lease_no") + 1)
    slots = WorkSlot.objects.filter(pk__in=ids)
    slots.update(page=back.page, seen_at=Now(), updated_at=Now())
    ends_at = Now() + timedelta(seconds=task.lease_ttl_s)
    slots.filter(state=states.LEASED).update(expires_at=ends_at)
    return ids


def _held_again(task: LabelTask, user: User, role: str, back: Return) -> list[UUID]:
    """Renew the person's expired leases under their old numbers."""
    if task.state != states.ACTIVE or not back.page:
        return []
    other = WorkSlot.objects.filter(work_item=OuterRef("work_item"), user=user)
    lapsed = WorkSlot.objects.filter(
        ~Exists(other), label_task=task, role=role, state=states.OPEN, lapsed_user=user
    )
    drafts = Draft.objects.filter(slot=OuterRef("pk"), user=user)
    rows = list(
        lapsed.filter(Exists(drafts)).select_for_update(of=("self",), skip_locked=True)
        .order_by("pk").values_list("pk", "work_item_id")
    )  # fmt: skip
    slots = WorkSlot.objects.filter(pk__in=[slot_id for slot_id, _ in rows])
    ends_at = Now() + timedelta(seconds=task.lease_ttl_s)
    slots.update(
        state=states.LEASED, user=user, lapsed_user=None, expires_at=ends_at, page=back.page,
        on_screen=False, seen_at=Now(), updated_at=Now(),
    )  # fmt: skip
    items = WorkItem.objects.filter(pk__in=[item_id for _, item_id in rows])
    items.filter(state=states.READY).update(state=states.LABELING, updated_at=Now())
    return [slot_id for slot_id, _ in rows]


def elsewhere_count(task: LabelTask, user: User, role: str, page: str) -> int:
    """Return how many of the person's items other living pages of theirs hold."""
    held = WorkSlot.objects.held_by(user).filter(label_task=task, role=role)
    return held.filter(seen_at__gte=Now() - SILENT_AFTER).exclude(page__in={"", page}).count()


def show_items(
    task: LabelTask, user: User, page: str, wanted: Sequence[tuple[UUID, int]]
) -> set[UUID]:
    """Mark items as on the page's screen and renew them; return those that it still holds."""
    numbers = dict(wanted)
    with transaction.atomic():
        held = WorkSlot.objects.held_by(user).filter(
            label_task=task, pk__in=list(numbers), page__in={"", page}
        )
        rows = held.select_for_update().order_by("pk").values_list("pk", "lease_no")
        kept = [slot_id for slot_id, lease_no in rows if numbers[slot_id] == lease_no]
        slots = WorkSlot.objects.filter(pk__in=kept)
        slots.update(on_screen=True, page=page, seen_at=Now(), updated_at=Now())
        ends_at = Now() + timedelta(seconds=task.lease_ttl_s)
        slots.filter(state=states.LEASED).update(expires_at=ends_at)
    return set(kept)
