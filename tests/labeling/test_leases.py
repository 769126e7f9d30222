"""Handing work out: one item, one person, for a time."""

from __future__ import annotations

import threading
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from datetime import timedelta

import pytest
from django.db import connection
from django.utils import timezone

from atom.accounts.models import User
from atom.labeling import states
from atom.labeling.actions import drafts, label_tasks, leases
from atom.labeling.errors import StaleLease, TaskNotActive
from atom.labeling.models import Draft, LabelTask, WorkItem, WorkSlot
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db


def let_expire(task: LabelTask) -> None:
    # PostgreSQL compares with the start of the transaction, which is that of the test.
    past = timezone.now() - timedelta(hours=1)
    WorkSlot.objects.filter(label_task=task, state=states.LEASED).update(expires_at=past)


def test_a_lease_hands_out_items_in_path_order_and_marks_them() -> None:
    task = make_task(5)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 3)
    paths = [slot.work_item.path for slot in slots]
    assert paths == [f"unlabelled/{n:05d}.png" for n in range(3)]
    assert {slot.lease_no for slot in slots} == {1}
    assert all(slot.expires_at and slot.expires_at > timezone.now() for slot in slots)
    assert WorkItem.objects.filter(state=states.LABELING).count() == 3


def test_two_labelers_never_get_the_same_item() -> None:
    task = make_task(5)
    first, second = (make_member(task.project, "labeler") for _ in range(2))
    mine = {slot.pk for slot in leases.lease_labels(task, first, 3)}
    yours = {slot.pk for slot in leases.lease_labels(task, second, 5)}
    assert len(mine) == 3
    assert len(yours) == 2
    assert not mine & yours


@pytest.mark.django_db(transaction=True)
def test_labelers_who_lease_at_the_same_moment_share_no_item() -> None:
    task = make_task(60)
    labelers = [make_member(task.project, "labeler") for _ in range(6)]
    barrier = threading.Barrier(len(labelers))

    def lease_until_empty(labeler: User) -> list[str]:
        barrier.wait()
        got: list[str] = []
        try:
            while slots := leases.lease_labels(task, labeler, 4):
                got += [str(slot.pk) for slot in slots]
        finally:
            connection.close()
        return got

    with ThreadPoolExecutor(len(labelers)) as pool:
        taken = Counter(pk for got in pool.map(lease_until_empty, labelers) for pk in got)
    assert len(taken) == 60
    assert set(taken.values()) == {1}


def test_a_lapsed_lease_goes_to_the_next_person_and_the_draft_stays() -> None:
    task = make_task(1)
    sleeper, next_one = (make_member(task.project, "labeler") for _ in range(2))
    [slot] = leases.lease_labels(task, sleeper, 1)
    drafts.save_draft(slot, sleeper, 1, {"label_id": 7})
    let_expire(task)
    [again] = leases.lease_labels(task, next_one, 1)
    assert (again.pk, again.lease_no, again.user) == (slot.pk, 2, next_one)
    assert Draft.objects.get(slot=slot, user=sleeper).decoded == {"label_id": 7}


def test_expiry_opens_slots_and_items_of_every_task() -> None:
    tasks = [make_task(2), make_task(2)]
    for task in tasks:
        leases.lease_labels(task, make_member(task.project, "labeler"), 2)
        let_expire(task)
    assert leases.expire_leases() == 4
    assert not WorkSlot.objects.exclude(state=states.OPEN).exists()
    assert not WorkItem.objects.exclude(state=states.READY).exists()


def test_a_heartbeat_moves_the_end_and_a_stale_one_is_refused() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    WorkSlot.objects.update(expires_at=timezone.now() + timedelta(seconds=1))
    ends_at = leases.heartbeat(slot, labeler, 1).expires_at
    assert ends_at is not None
    assert ends_at > timezone.now() + timedelta(minutes=5)
    with pytest.raises(StaleLease):
        leases.heartbeat(slot, labeler, 2)
    with pytest.raises(StaleLease):
        leases.heartbeat(slot, make_member(task.project, "labeler"), 1)


def test_a_released_item_is_open_at_once() -> None:
    task = make_task(3)
    labeler = make_member(task.project, "labeler")
    first, _ = leases.lease_labels(task, labeler, 2)
    leases.release(first, labeler, 1)
    assert [slot.pk for slot in leases.lease_labels(task, labeler, 1)] == [first.pk]


def test_only_the_holder_releases() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    with pytest.raises(StaleLease):
        leases.release(slot, make_member(task.project, "labeler"), 1)
    slot.refresh_from_db()
    assert slot.user == labeler


def test_a_paused_task_hands_out_nothing() -> None:
    task = make_task(1)
    label_tasks.pause_task(task, make_member(task.project, "researcher"))
    task.refresh_from_db()
    with pytest.raises(TaskNotActive):
        leases.lease_labels(task, make_member(task.project, "labeler"), 1)


def test_nobody_holds_more_than_the_limit(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(leases, "MAX_HELD", 3)
    task = make_task(5)
    labeler = make_member(task.project, "labeler")
    assert len(leases.lease_labels(task, labeler, 2)) == 2
    assert len(leases.lease_labels(task, labeler, 5)) == 1
    assert leases.lease_labels(task, labeler, 5) == []


def test_an_older_draft_never_replaces_a_newer_one() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    drafts.save_draft(slot, labeler, 5, {"label_id": 5})
    kept = drafts.save_draft(slot, labeler, 4, {"label_id": 4})
    assert (kept.seq, kept.decoded) == (5, {"label_id": 5})


def test_who_lost_the_lease_may_still_save_a_draft_but_a_stranger_may_not() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    drafts.save_draft(slot, labeler, 1, {"label_id": 1})
    let_expire(task)
    leases.expire_leases()
    assert drafts.save_draft(slot, labeler, 2, {"label_id": 2}).seq == 2
    with pytest.raises(StaleLease):
        drafts.save_draft(slot, make_member(task.project, "labeler"), 1, {"label_id": 3})
