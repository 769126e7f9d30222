"""Taking labels in: everything is stored, each lease counts once."""

from __future__ import annotations

import threading
from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from atom.labeling import states
from atom.labeling.actions import drafts, label_tasks, leases
from atom.labeling.actions.submissions import Outcome, submit
from atom.labeling.engines.keys import uuid_of_key
from atom.labeling.models import AnnotationRevision, Draft, LabelTask, WorkItem, WorkSlot
from atom.labeling.reads import held_work, with_drafts
from tests.factories.accounts import make_member, make_project
from tests.factories.labeling import make_task
from tests.labeling.asking import Api
from tests.labeling.test_leases import let_expire
from tests.labeling.work import rule, submission, submit_all

pytestmark = pytest.mark.django_db


def codes(outcomes: list[Outcome]) -> list[str | None]:
    return [outcome.error.code if outcome.error else None for outcome in outcomes]


def test_an_unsampled_submission_finishes_the_item() -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    [outcome] = submit_all([slot], labeler, label_id=7)
    assert outcome.error is None
    item = WorkItem.objects.get(pk=slot.work_item_id)
    assert (item.state, item.final_revision) == (states.ACCEPTED, outcome.revision)
    assert AnnotationRevision.objects.get().decoded == {"label_id": 7}


def test_a_sampled_submission_waits_for_audit() -> None:
    task = make_task(1, audit_percent=100)
    labeler = make_member(task.project, "labeler")
    submit_all(leases.lease_labels(task, labeler, 1), labeler)
    item = WorkItem.objects.get()
    assert (item.state, item.final_revision) == (states.AUDIT, None)
    assert WorkSlot.objects.get(role=states.AUDIT_ROLE).state == states.OPEN


def test_a_submission_removes_the_draft() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 1)
    drafts.save_draft(slots[0], labeler, 1, {"label_id": 1})
    submit_all(slots, labeler)
    assert not Draft.objects.exists()


def test_a_draft_that_arrives_after_its_submission_is_refused_and_never_offered() -> None:
    task = make_task(1, audit_percent=100)
    labeler, auditor = (make_member(task.project, "researcher") for _ in range(2))
    slots = leases.lease_labels(task, labeler, 1)
    submit_all(slots, labeler, 2)
    late = {"seq": 7, "document": {"label_id": 1}}
    answer = Api(labeler)("PUT", f"labelx/slots/{slots[0].pk}/draft/", late)
    assert (answer.status_code, answer.json()["code"]) == (409, "stale_lease")
    [audit] = leases.lease_audits(task, auditor, 1)
    rule(audit, auditor, states.RETURN, "look again")
    [held] = held_work(task, labeler)
    assert with_drafts([held], labeler)[0].my_drafts == []  # type: ignore[attr-defined]
    assert drafts.save_draft(held, labeler, 1, {"label_id": 3}).decoded == {"label_id": 3}


def test_a_stale_submission_is_refused_and_still_stored() -> None:
    task = make_task(1)
    sleeper, next_one = (make_member(task.project, "labeler") for _ in range(2))
    [slot] = leases.lease_labels(task, sleeper, 1)
    let_expire(task)
    [taken] = leases.lease_labels(task, next_one, 1)
    [outcome] = submit(task.project, sleeper, [submission(slot, 1, "late")])
    assert codes([outcome]) == ["stale_lease"]
    assert AnnotationRevision.objects.get(idempotency_key=uuid_of_key("late")).accepted is False
    [counted] = submit_all([taken], next_one, 2)
    assert counted.error is None
    assert WorkItem.objects.get().final_revision == counted.revision


def test_an_overslept_lease_that_nobody_took_still_counts() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 1)
    let_expire(task)
    assert codes(submit_all(slots, labeler)) == [None]


def test_the_same_key_again_answers_the_same_and_stores_nothing() -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    [first] = submit(task.project, labeler, [submission(slot, 1, "key")])
    [again] = submit(task.project, labeler, [submission(slot, 1, "key")])
    assert again == first
    assert AnnotationRevision.objects.count() == 1


def test_a_stale_submission_sent_again_stays_stale() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    leases.release(slot, labeler, 1)
    sent = submission(slot, 1, "key")
    assert codes(submit(task.project, labeler, [sent])) == ["stale_lease"]
    assert codes(submit(task.project, labeler, [sent])) == ["stale_lease"]
    assert AnnotationRevision.objects.count() == 1


@pytest.mark.parametrize("change", ["document", "user", "slot"])
def test_a_key_with_another_meaning_is_refused(change: str) -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    one, two = leases.lease_labels(task, labeler, 2)
    submit(task.project, labeler, [submission(one, 1, "key")])
    user = make_member(task.project, "labeler") if change == "user" else labeler
    slot = two if change == "slot" else one
    other = submission(slot, 2 if change == "document" else 1, "key")
    assert codes(submit(task.project, user, [other])) == ["idempotency_key_reused"]
    assert AnnotationRevision.objects.count() == 1


def test_a_label_outside_the_ontology_is_refused() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 1)
    assert codes(submit_all(slots, labeler, label_id=10)) == ["unknown_label"]
    assert not AnnotationRevision.objects.exists()


def test_one_bad_entry_of_a_batch_stops_no_other() -> None:
    task = make_task(4)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 3)
    leases.release(slots[1], labeler, 1)
    sent = [submission(slots[0]), submission(slots[1]), submission(slots[2], 99)]
    outcomes = submit(task.project, labeler, sent)
    assert codes(outcomes) == [None, "stale_lease", "unknown_label"]
    assert [outcome.slot_id for outcome in outcomes] == [slot.pk for slot in slots]


def test_one_slot_twice_in_a_batch_counts_once() -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    outcomes = submit(task.project, labeler, [submission(slot, 1), submission(slot, 2)])
    assert codes(outcomes) == [None, "lease_elsewhere"]
    assert AnnotationRevision.objects.filter(accepted=True).count() == 1
    assert AnnotationRevision.objects.count() == 2


def test_a_slot_of_another_project_is_not_found() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 1)
    assert codes(submit(make_project(), labeler, [submission(slots[0])])) == ["not_found"]


def test_held_work_may_come_in_while_the_task_is_paused() -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    slots = leases.lease_labels(task, labeler, 1)
    label_tasks.pause_task(task, labeler)
    assert codes(submit_all(slots, labeler)) == [None]


@pytest.mark.django_db(transaction=True)
def test_the_last_submission_completes_the_task() -> None:
    task = make_task(2)
    labeler = make_member(task.project, "labeler")
    one, two = leases.lease_labels(task, labeler, 2)
    submit_all([one], labeler)
    assert LabelTask.objects.get().state == states.ACTIVE
    submit_all([two], labeler)
    assert LabelTask.objects.get().state == states.COMPLETED


@pytest.mark.django_db(transaction=True)
def test_the_same_submission_sent_in_parallel_counts_once() -> None:
    task = make_task(1)
    labeler = make_member(task.project, "labeler")
    [slot] = leases.lease_labels(task, labeler, 1)
    sent = submission(slot, 4, "parallel")
    barrier = threading.Barrier(4)

    def send(_: int) -> list[str | None]:
        barrier.wait()
        try:
            return codes(submit(task.project, labeler, [sent]))
        finally:
            connection.close()

    with ThreadPoolExecutor(4) as pool:
        assert list(pool.map(send, range(4))) == [[None]] * 4
    assert AnnotationRevision.objects.count() == 1


def test_a_batch_costs_the_same_queries_whatever_its_size(django_assert_num_queries) -> None:  # type: ignore[no-untyped-def]
    task = make_task(30, audit_percent=100)
    labeler = make_member(task.project, "labeler")
    counts = []
    for n in (1, 20):
        slots = leases.lease_labels(task, labeler, n)
        with django_assert_num_queries(999, exact=False) as queries:  # an upper bound only
            submit_all(slots, labeler)
        counts.append(len(queries))
    assert counts[0] == counts[1]
