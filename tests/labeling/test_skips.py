"""Passing items on: to others in their turn, to the same person only when they ask."""

from __future__ import annotations

import pytest

from atom.accounts.models import User
from atom.labeling import reads, states
from atom.labeling.actions import leases, skips
from atom.labeling.actions.leases import Page
from atom.labeling.errors import StaleLease
from atom.labeling.models import LabelTask, WorkItem, WorkSlot
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.asking import Api
from tests.labeling.work import submit_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> LabelTask:
    return make_task(3)


@pytest.fixture
def maria(task: LabelTask) -> User:
    return make_member(task.project, "labeler", "maria")


def skip_first(task: LabelTask, user: User, reason: str = "") -> WorkSlot:
    [slot] = leases.lease_labels(task, user, 1)
    skips.skip(slot, user, slot.lease_no, reason)
    return slot


def test_a_skipped_item_goes_to_somebody_else_first_and_not_back(
    task: LabelTask, maria: User
) -> None:
    skipped = skip_first(task, maria)
    assert skipped.pk not in {slot.pk for slot in leases.lease_labels(task, maria, 9)}
    assert reads.skipped_by(task, maria) == 1
    ben = make_member(task.project, "labeler")
    assert [slot.pk for slot in leases.lease_labels(task, ben, 1)] == [skipped.pk]


def test_undo_gives_the_item_back_unless_somebody_has_it(task: LabelTask, maria: User) -> None:
    skipped = skip_first(task, maria)
    held = skips.unskip(skipped, maria, Page("p1"))
    assert (held.state, held.user, held.lease_no) == (states.LEASED, maria, 2)
    assert submit_all([held], maria)[0].error is None
    other = skip_first(task, maria)
    leases.lease_labels(task, make_member(task.project, "labeler"), 1)
    with pytest.raises(StaleLease):
        skips.unskip(other, maria, Page("p1"))


def test_a_person_may_ask_for_what_they_skipped(task: LabelTask, maria: User) -> None:
    skipped = skip_first(task, maria)
    answer = Api(maria)("POST", f"labelx/tasks/{task.pk}/unskip/")
    assert answer.json() == {"count": 1}
    assert leases.lease_labels(task, maria, 1)[0].pk == skipped.pk


def test_a_researcher_sees_skipped_items_and_takes_them_back_or_leaves_them_out(
    task: LabelTask, maria: User
) -> None:
    boss = Api(make_member(task.project, "researcher"))
    at = f"labelx/tasks/{task.pk}"
    slots = leases.lease_labels(task, maria, 2)
    for slot in slots:
        skips.skip(slot, maria, slot.lease_no, "blurred")
    assert boss("GET", f"{at}/").json()["progress"]["skipped"] == 2
    rows = boss("GET", f"{at}/items/?skipped=true").json()["results"]
    assert [row["skips"] for row in rows] == [[{"name": "maria", "reason": "blurred"}]] * 2

    out = {"how": "leave_out", "items": [rows[0]["id"]]}
    assert Api(maria)("POST", f"{at}/skipped/", out).status_code == 403
    assert boss("POST", f"{at}/skipped/", out).json() == {"count": 1}
    progress = boss("GET", f"{at}/").json()["progress"]
    assert (progress["skipped"], progress["left_out"]) == (1, 1)
    ben = make_member(task.project, "labeler")
    assert len(leases.lease_labels(task, ben, 9)) == 2
    for slot in leases.lease_labels(task, ben, 9):
        leases.release(slot, ben, slot.lease_no)

    assert boss("POST", f"{at}/skipped/", {"how": "reopen", "items": [rows[0]["id"]]}).json() == {
        "count": 1
    }
    assert WorkItem.objects.get(pk=rows[0]["id"]).state == states.READY
    assert [slot.work_item_id for slot in leases.lease_labels(task, maria, 1)] == [
        slots[0].work_item_id
    ]


@pytest.mark.django_db(transaction=True)
def test_a_task_whose_rest_is_left_out_is_complete() -> None:
    task = make_task(2)
    maria = make_member(task.project, "labeler")
    skip_first(task, maria)
    submit_all(leases.lease_labels(task, maria, 2), maria)
    assert LabelTask.objects.get().state == states.ACTIVE
    skips.settle_skipped(task, maria, skips.LEAVE_OUT)
    assert LabelTask.objects.get().state == states.COMPLETED
