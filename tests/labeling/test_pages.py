"""Pages that hold leases: leaving, coming back, two tabs, what is only fetched ahead."""

from __future__ import annotations

from datetime import timedelta

import pytest
from django.test import Client
from django.utils import timezone

from atom.accounts.models import User
from atom.labeling import reads, states
from atom.labeling.actions import drafts, leases, pages
from atom.labeling.actions.leases import Page
from atom.labeling.actions.pages import Return
from atom.labeling.errors import LeaseElsewhere
from atom.labeling.models import LabelTask, WorkItem, WorkSlot
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.asking import Api
from tests.labeling.test_leases import let_expire
from tests.labeling.work import submit_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> LabelTask:
    return make_task(8)


@pytest.fixture
def maria(task: LabelTask) -> User:
    return make_member(task.project, "labeler", "maria")


@pytest.fixture
def ben(task: LabelTask) -> User:
    return make_member(task.project, "labeler", "ben")


def ends_in_s(slot: WorkSlot) -> float:
    slot.refresh_from_db()
    assert slot.expires_at is not None
    return (slot.expires_at - timezone.now()).total_seconds()


def paths(slots: list[WorkSlot]) -> list[int]:
    return [slot.work_item.position for slot in slots]


def open_page(task: LabelTask, user: User, page: str, n: int = 3) -> list[WorkSlot]:
    """A page that shows a batch."""
    return leases.lease_labels(task, user, n, Page(page))


def take_up(task: LabelTask, user: User, page: str, **back: object) -> list[WorkSlot]:
    return pages.take_up(task, user, states.LABEL_ROLE, Return(page, **back))  # type: ignore[arg-type]


def test_leaving_shortens_the_page_to_a_minute_and_opens_what_was_not_shown(
    task: LabelTask, maria: User, ben: User
) -> None:
    shown = open_page(task, maria, "p1", 2)
    ahead = leases.lease_labels(task, maria, 3, Page("p1", on_screen=False))
    drafts.save_draft(ahead[0], maria, 1, {"label_id": 4})
    pages.leave_page(task, maria, "p1")
    assert all(50 < ends_in_s(slot) <= 61 for slot in [*shown, ahead[0]])
    # The two that she had not begun come first now.
    assert paths(leases.lease_labels(task, ben, 2)) == [3, 4]
    assert set(WorkItem.objects.filter(position__lt=3).values_list("state", flat=True)) == {
        states.LABELING
    }


def test_leaving_never_lengthens_a_lease_and_touches_no_other_page(
    task: LabelTask, maria: User, ben: User
) -> None:
    [mine], [tab], [his] = (
        open_page(task, person, page, 1)
        for person, page in ((maria, "p1"), (maria, "p2"), (ben, "p1"))
    )
    WorkSlot.objects.filter(pk=mine.pk).update(expires_at=timezone.now() + timedelta(seconds=5))
    pages.leave_page(task, maria, "p1")
    pages.leave_page(task, maria, "")
    assert ends_in_s(mine) < 6
    assert ends_in_s(tab) > 1000
    assert ends_in_s(his) > 1000


def test_who_comes_back_has_their_batch_with_its_draft_and_its_whole_time(
    task: LabelTask, maria: User
) -> None:
    [slot, other] = open_page(task, maria, "p1", 2)
    drafts.save_draft(slot, maria, 1, {"label_id": 4})
    pages.leave_page(task, maria, "p1")
    again = take_up(task, maria, "p2")
    assert [(one.pk, one.lease_no) for one in again] == [(slot.pk, 1), (other.pk, 1)]
    assert reads.with_drafts(again, maria)[0].my_drafts[0].decoded == {"label_id": 4}  # type: ignore[attr-defined]
    assert ends_in_s(slot) > 1000
    # The beacon of the page before may come late.
    pages.leave_page(task, maria, "p1")
    assert ends_in_s(slot) > 1000


def test_a_reload_takes_its_batch_up_though_the_beacon_is_still_under_way(
    task: LabelTask, maria: User
) -> None:
    [slot] = open_page(task, maria, "p1", 1)
    assert take_up(task, maria, "p2") == []
    assert take_up(task, maria, "p2", from_page="p1") == [slot]
    assert ends_in_s(slot) > 1000


def test_what_ran_out_and_was_begun_is_held_again_if_nobody_took_it(
    task: LabelTask, maria: User, ben: User
) -> None:
    kept, taken, fresh = open_page(task, maria, "p1", 3)
    for slot in (kept, taken):
        drafts.save_draft(slot, maria, 1, {"label_id": 4})
    let_expire(task)
    leases.expire_leases(task.pk)
    leases.release(leases.lease_labels(task, ben, 1)[0], ben, 2)
    again = take_up(task, maria, "p2")
    # The first one was ben's meanwhile: it comes with all others.
    assert [(one.pk, one.lease_no) for one in again] == [(taken.pk, 1)]
    assert WorkItem.objects.get(pk=taken.work_item_id).state == states.LABELING
    assert WorkSlot.objects.get(pk=fresh.pk).state == states.OPEN


def test_two_tabs_of_one_person_share_nothing_until_one_is_told_to_take_all(
    task: LabelTask, maria: User
) -> None:
    first = open_page(task, maria, "p1", 2)
    assert take_up(task, maria, "p2") == []
    assert pages.elsewhere_count(task, maria, states.LABEL_ROLE, "p2") == 2
    assert paths(open_page(task, maria, "p2", 2)) == [2, 3]
    moved = take_up(task, maria, "p2", everything=True)
    assert {slot.pk for slot in first} < {slot.pk for slot in moved}
    with pytest.raises(LeaseElsewhere):
        leases.heartbeat(first[0], maria, 1, "p1")


def test_a_page_that_was_killed_gives_its_batch_to_the_next_one_of_its_person(
    task: LabelTask, maria: User
) -> None:
    [slot] = open_page(task, maria, "p1", 1)
    WorkSlot.objects.update(seen_at=timezone.now() - states.SILENT_AFTER - timedelta(seconds=1))
    [again] = take_up(task, maria, "p2")
    assert (again.pk, again.lease_no) == (slot.pk, 2)


def test_what_is_fetched_ahead_goes_to_who_finds_nothing(
    task: LabelTask, maria: User, ben: User
) -> None:
    shown = open_page(task, maria, "p1", 3)
    ahead = leases.lease_labels(task, maria, 5, Page("p1", on_screen=False))
    drafts.save_draft(ahead[0], maria, 1, {"label_id": 4})
    # A person with items to show takes none from others.
    assert leases.lease_labels(task, ben, 2, Page("p9", on_screen=False)) == []
    got = open_page(task, ben, "p9", 2)
    assert paths(got) == [6, 7]
    held = {(slot.pk, slot.lease_no) for slot in [*shown, *ahead]}
    kept = pages.show_items(task, maria, "p1", list(held))
    assert len(kept) == 6
    assert kept.isdisjoint(slot.pk for slot in got)
    # Now all of hers is on the screen.
    assert open_page(task, ben, "p9", 5) == []


def test_what_a_program_leases_is_never_taken(task: LabelTask, maria: User, ben: User) -> None:
    leases.lease_labels(task, maria, 8)
    assert open_page(task, ben, "p9", 5) == []


def test_work_of_a_lease_that_ended_counts_unless_somebody_has_taken_it(
    task: LabelTask, maria: User, ben: User
) -> None:
    slots = open_page(task, maria, "p1", 3)
    let_expire(task)
    leases.expire_leases(task.pk)
    leases.lease_labels(task, ben, 1)
    codes = [one.error and one.error.code for one in submit_all(slots, maria)]
    assert codes == ["stale_lease", None, None]
    [stranger] = submit_all([WorkSlot.objects.get(work_item__position=3)], maria)
    assert stranger.error is not None


def test_the_page_names_who_holds_what_until_when(task: LabelTask, maria: User, ben: User) -> None:
    User.objects.filter(pk=maria.pk).update(full_name="Maria Rossi")
    slots = open_page(task, maria, "p1", 8)
    ask = Api(ben)
    found = ask("GET", f"labelx/tasks/{task.pk}/waiting/").json()
    [holder] = found.pop("holders")
    assert found == {"open": 0, "elsewhere": 0, "skipped": 0}
    until = holder.pop("until")
    assert holder == {"name": "Maria Rossi", "returned": False, "items": 8, "working": True}
    assert until == slots[0].expires_at.isoformat().replace("+00:00", "Z")  # type: ignore[union-attr]
    pages.leave_page(task, maria, "p1")
    [left] = ask("GET", f"labelx/tasks/{task.pk}/waiting/").json()["holders"]
    assert left["working"] is False
    let_expire(task)
    assert ask("GET", f"labelx/tasks/{task.pk}/waiting/").json()["open"] == 8


def test_a_beacon_is_a_form_with_the_token_of_the_session(task: LabelTask, maria: User) -> None:
    [slot] = open_page(task, maria, "p1", 1)
    client = Client(enforce_csrf_checks=True)
    client.force_login(maria)
    client.get("/api/v1/auth/session/")
    token = client.cookies["csrftoken"].value
    address = f"/api/v1/labelx/tasks/{task.pk}/leave/"
    assert client.post(address, {"page": "p1"}).status_code == 403
    assert client.post(address, {"page": "p1", "csrfmiddlewaretoken": "x" * 32}).status_code == 403
    assert ends_in_s(slot) > 1000
    sent = {"page": "p1", "csrfmiddlewaretoken": token}
    assert client.post(address, sent).status_code == 204
    assert ends_in_s(slot) <= 61


def test_an_auditor_who_leaves_gives_way_too() -> None:
    task = make_task(2, audit_percent=100)
    maria, ann, bo = (make_member(task.project, "researcher") for _ in range(3))
    submit_all(leases.lease_labels(task, maria, 2), maria)
    held = leases.lease_audits(task, ann, 2, Return("p1"))
    assert leases.lease_audits(task, ann, 2, Return("p2")) == []
    pages.leave_page(task, ann, "p1")
    assert all(ends_in_s(slot) <= 61 for slot in held)
    let_expire(task)
    assert len(leases.lease_audits(task, bo, 2, Return("p9"))) == 2
