"""Crashes, leaving, coming back and retries in any order lose nothing and count nothing twice."""

from __future__ import annotations

import random
import threading
from collections import Counter
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field, replace
from datetime import timedelta

import pytest
from django.db import connection, transaction
from django.utils import timezone

from atom.accounts.models import User
from atom.core.ids import uuid7
from atom.labeling import states
from atom.labeling.actions import leases, pages, skips
from atom.labeling.actions.audits import Decision, decide
from atom.labeling.actions.leases import Page
from atom.labeling.actions.pages import Return
from atom.labeling.actions.submissions import Submission, submit
from atom.labeling.errors import AuditorIsLabeler, NothingHeld, StaleLease, TaskNotActive
from atom.labeling.models import AnnotationRevision, LabelTask, WorkItem, WorkSlot
from atom.labeling.models.tasks import IMAGE_OBJECTS
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.drawn import box, document, drawing, drawn_task
from tests.labeling.work import submission

pytestmark = pytest.mark.django_db(transaction=True)

ITEMS, PEOPLE, ROUNDS = 120, 4, 40


@dataclass
class Person:
    """A labeler who forgets, oversleeps and sends things twice; who audits now and then."""

    user: User
    task: LabelTask
    chance: random.Random
    sent: list[Submission] = field(default_factory=list)
    answered: list[Submission] = field(default_factory=list)
    # Submissions that the browser has kept and not sent yet.
    kept: list[Submission] = field(default_factory=list)
    pages: int = 0

    @property
    def page(self) -> str:
        """The page that the person has open."""
        return f"{self.user.username}-{self.pages}"

    def act(self) -> None:
        """Do one of the things that people and browsers do."""
        try:
            self.chance.choice(
                [
                    *[self.label] * 6, self.retry, self.audit, self.expire, self.leave,
                    self.come_back, self.skip, self.send_from_the_browser, self.free,
                ]
            )()  # fmt: skip
        except (TaskNotActive, AuditorIsLabeler, StaleLease, NothingHeld):
            return

    def label(self) -> None:
        """Lease a few and send some; the rest is forgotten, as when a browser crashes."""
        page = Page(self.page, on_screen=self.chance.random() < 0.6)
        for slot in leases.lease_labels(self.task, self.user, self.chance.randint(1, 6), page):
            if self.chance.random() < 0.7:
                self.send(self.answer(slot))
            elif self.chance.random() < 0.5:
                self.kept.append(self.answer(slot))
        held = WorkSlot.objects.held_by(self.user).filter(role=states.LABEL_ROLE)
        for slot in held.select_related("label_task")[:2]:
            self.send(self.answer(slot))

    def answer(self, slot: WorkSlot) -> Submission:
        """Return an answer of the task's modality."""
        number = self.chance.randint(0, 9)
        if self.task.modality == IMAGE_OBJECTS:
            return drawing(slot, document(*[box(n) for n in range(number)]))
        return submission(slot, number)

    def free(self) -> None:
        """Take an item from whoever holds it, as a manager does."""
        held = WorkSlot.objects.filter(state__in=states.SLOT_HELD).select_related(
            "label_task__project", "label_task__dataset", "work_item"
        )
        for slot in self.chance.sample(list(held), min(1, len(held))):
            leases.free_slot(slot, self.user)

    def send(self, wanted: Submission) -> None:
        """Send; sometimes the answer gets lost, so the person does not know."""
        self.sent.append(wanted)
        submit(self.task.project, self.user, [wanted])
        if self.chance.random() < 0.8:
            self.answered.append(wanted)

    def leave(self) -> None:
        """Go to another page; the beacon may be that of a page before."""
        pages.leave_page(self.task, self.user, self.page)
        self.pages += self.chance.randint(0, 1)

    def come_back(self) -> None:
        """Open the page anew, in the same tab or another one, and submit some of what is there."""
        before, self.pages = self.page, self.pages + 1
        back = Return(self.page, before, everything=self.chance.random() < 0.2)
        for slot in pages.take_up(self.task, self.user, states.LABEL_ROLE, back):
            if self.chance.random() < 0.5:
                self.send(self.answer(slot))

    def skip(self) -> None:
        """Pass an item on; now and then take that back."""
        for slot in leases.lease_labels(self.task, self.user, 1, Page(self.page)):
            skips.skip(slot, self.user, slot.lease_no)
            if self.chance.random() < 0.5:
                skips.unskip(slot, self.user, Page(self.page))
        skips.unskip_all(self.task, self.user)

    def send_from_the_browser(self) -> None:
        """Send what the browser has kept, however old its lease is."""
        while self.kept:
            self.send(self.kept.pop())

    def retry(self) -> None:
        """Send some of the old things again, in one batch."""
        if self.sent:
            again = self.chance.sample(self.sent, min(3, len(self.sent)))
            submit(self.task.project, self.user, again)

    def audit(self) -> None:
        """Accept most of what there is, return the rest."""
        slots = leases.lease_audits(self.task, self.user, 3)
        labels = {
            slot.work_item_id: slot.revision_id
            for slot in WorkSlot.objects.filter(
                role=states.LABEL_ROLE, work_item__in=[s.work_item_id for s in slots]
            )
        }
        decisions = [
            Decision(
                slot.pk,
                slot.lease_no,
                labels[slot.work_item_id] or uuid7(),
                states.ACCEPT if self.chance.random() < 0.7 else states.RETURN,
            )
            for slot in slots
        ]
        if self.task.modality == IMAGE_OBJECTS:
            decisions = [self.maybe_corrected(decision) for decision in decisions]
        decide(self.task.project, self.user, decisions)

    def maybe_corrected(self, decision: Decision) -> Decision:
        """Return the decision, sometimes with a drawing of the auditor's own."""
        corrects = decision.verdict == states.ACCEPT and self.chance.random() < 0.4
        return replace(decision, document=document(box(99))) if corrects else decision

    def expire(self) -> None:
        """Let some leases lapse while their holders sleep."""
        past = timezone.now() - timedelta(hours=1)
        leased = WorkSlot.objects.filter(state=states.LEASED).values_list("pk", flat=True)
        lapsed = self.chance.sample(list(leased), min(4, len(leased)))
        chosen = WorkSlot.objects.filter(pk__in=lapsed, state=states.LEASED)
        with transaction.atomic():
            # In the order in which everybody locks slots: an update alone takes any.
            list(chosen.select_for_update().order_by("pk").values_list("pk"))
            chosen.update(expires_at=past)
        leases.expire_leases(self.task.pk)


@pytest.mark.parametrize(
    ("seed", "make"), [(1, make_task), (2, make_task), (3, drawn_task)], ids=["1", "2", "objects"]
)
def test_nothing_is_lost_and_nothing_counts_twice(
    seed: int, make: Callable[..., LabelTask]
) -> None:
    task = make(ITEMS, audit_percent=40)
    people = [
        Person(make_member(task.project, "labeler"), task, random.Random(seed * 100 + n))
        for n in range(PEOPLE)
    ]
    barrier = threading.Barrier(PEOPLE)

    def live(person: Person) -> None:
        barrier.wait()
        try:
            for _ in range(ROUNDS):
                person.act()
            person.send_from_the_browser()
        finally:
            connection.close()

    with ThreadPoolExecutor(PEOPLE) as pool:
        list(pool.map(live, people))

    assert_everything_sent_is_stored(people)
    assert_each_lease_counted_once()
    assert_nobody_is_twice_on_an_item()
    assert_states_agree()


def assert_everything_sent_is_stored(people: list[Person]) -> None:
    answers = AnnotationRevision.objects.filter(slot__role=states.LABEL_ROLE)
    stored = set(answers.values_list("idempotency_key", flat=True))
    sent = [wanted.key for person in people for wanted in person.sent]
    assert len(sent) > ITEMS
    assert set(sent) == stored
    assert answers.count() == len(set(sent))


def assert_each_lease_counted_once() -> None:
    counted = AnnotationRevision.objects.filter(accepted=True)
    per_lease = Counter(counted.values_list("slot", "lease_no"))
    assert set(per_lease.values()) == {1}
    finished = WorkSlot.objects.filter(role=states.LABEL_ROLE, state=states.ACCEPTED)
    assert finished.exists()
    for slot in finished.select_related("work_item__final_revision", "revision"):
        assert slot.revision is not None
        assert slot.revision.accepted
        final = slot.work_item.final_revision
        assert final is not None
        # The answer itself, or what its auditor made of it.
        assert slot.revision_id in {final.pk, final.parent_id}
        assert final.accepted


def assert_nobody_is_twice_on_an_item() -> None:
    pairs = WorkSlot.objects.filter(user__isnull=False).values_list("work_item", "user")
    assert max(Counter(pairs).values()) == 1
    for slot in WorkSlot.objects.filter(role=states.AUDIT_ROLE).exclude(state=states.OPEN):
        label = WorkSlot.objects.get(work_item=slot.work_item_id, role=states.LABEL_ROLE)
        assert label.user_id != slot.user_id


def assert_states_agree() -> None:
    expected = {
        states.OPEN: {states.READY},
        states.LEASED: {states.LABELING},
        states.SUBMITTED: {states.AUDIT},
        states.RETURNED: {states.REWORK},
        states.ACCEPTED: {states.ACCEPTED},
    }
    for item in WorkItem.objects.prefetch_related("slots"):
        [label] = [slot for slot in item.slots.all() if slot.role == states.LABEL_ROLE]
        assert item.state in expected[label.state], (item.state, label.state)
