"""Verdicts: always of another person; returned work comes back to the one who did it."""

from __future__ import annotations

from collections import Counter
from uuid import UUID

import pytest

from atom.accounts.models import User
from atom.labeling import reads, states
from atom.labeling.actions import leases
from atom.labeling.actions.settings import change_settings
from atom.labeling.engines import sampling
from atom.labeling.errors import AuditorIsLabeler
from atom.labeling.models import AuditDecision, LabelTask, WorkItem, WorkSlot
from tests.factories.accounts import make_member
from tests.factories.labeling import make_task
from tests.labeling.work import rule, submit_all

pytestmark = pytest.mark.django_db


@pytest.fixture
def task() -> LabelTask:
    return make_task(1, audit_percent=100)


@pytest.fixture
def labeler(task: LabelTask) -> User:
    user = make_member(task.project, "labeler")
    submit_all(leases.lease_labels(task, user, 5), user, label_id=1)
    return user


@pytest.fixture
def auditor(task: LabelTask, labeler: User) -> User:
    return make_member(task.project, "labeler")


def test_the_labeler_gets_none_of_their_own_work_and_is_told_why(
    task: LabelTask, labeler: User
) -> None:
    with pytest.raises(AuditorIsLabeler):
        leases.lease_audits(task, labeler, 1)


def test_an_empty_queue_is_no_error(task: LabelTask) -> None:
    assert leases.lease_audits(task, make_member(task.project, "labeler"), 1) == []


def test_accepted_work_is_final(task: LabelTask, labeler: User, auditor: User) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    assert rule(audit, auditor, states.ACCEPT).error is None
    item = WorkItem.objects.get()
    assert item.state == states.ACCEPTED
    assert item.final_revision is not None
    assert item.final_revision.label_id == 1


def test_an_auditor_who_reloads_finds_what_they_hold(
    task: LabelTask, labeler: User, auditor: User
) -> None:
    first = leases.lease_audits(task, auditor, 1)
    again = leases.lease_audits(task, auditor, 1)
    assert [(s.pk, s.lease_no) for s in first] == [(s.pk, s.lease_no) for s in again]


def test_returned_work_goes_to_the_same_person_with_the_comment_and_a_new_lease(
    task: LabelTask, labeler: User, auditor: User
) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    rule(audit, auditor, states.RETURN, "this is a seven")
    [held] = reads.held_work(task, labeler)
    assert (held.state, held.lease_no) == (states.RETURNED, 2)
    assert held.returned_comment == "this is a seven"
    assert WorkItem.objects.get().state == states.REWORK
    assert leases.lease_labels(task, make_member(task.project, "labeler"), 5) == []


def test_corrected_work_is_audited_again_and_its_history_is_kept(
    task: LabelTask, labeler: User, auditor: User
) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    rule(audit, auditor, states.RETURN)
    [outcome] = submit_all(reads.held_work(task, labeler), labeler, label_id=7)
    assert outcome.error is None
    assert outcome.revision is not None
    assert outcome.revision.parent is not None
    [again] = leases.lease_audits(task, auditor, 1)
    rule(again, auditor, states.ACCEPT)
    item = WorkItem.objects.get()
    assert item.state == states.ACCEPTED
    assert [r.label_id for r in reads.revisions_of(item).order_by("created_at")] == [1, 7]


def test_the_old_lease_of_returned_work_is_stale(
    task: LabelTask, labeler: User, auditor: User
) -> None:
    old = WorkSlot.objects.get(role=states.LABEL_ROLE)
    [audit] = leases.lease_audits(task, auditor, 1)
    rule(audit, auditor, states.RETURN)
    [outcome] = submit_all([old], labeler)
    assert outcome.error is not None
    assert outcome.error.code == "lease_elsewhere"


def test_deciding_twice_answers_the_same_and_deciding_otherwise_is_stale(
    task: LabelTask, labeler: User, auditor: User
) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    assert rule(audit, auditor, states.ACCEPT).error is None
    assert rule(audit, auditor, states.ACCEPT).error is None
    changed = rule(audit, auditor, states.RETURN)
    assert changed.error is not None
    assert changed.error.code == "stale_lease"
    assert AuditDecision.objects.count() == 1


def test_only_the_holder_decides(task: LabelTask, labeler: User, auditor: User) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    other = rule(audit, make_member(task.project, "labeler"), states.ACCEPT)
    own = rule(audit, labeler, states.ACCEPT)
    assert other.error is not None
    assert own.error is not None
    assert (other.error.code, own.error.code) == ("stale_lease", "auditor_is_labeler")
    assert WorkItem.objects.get().state == states.AUDIT


def test_returned_work_that_is_taken_away_goes_to_anybody_but_its_auditor(
    task: LabelTask, labeler: User, auditor: User
) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    rule(audit, auditor, states.RETURN)
    leases.reopen_returned(WorkSlot.objects.get(role=states.LABEL_ROLE))
    assert leases.lease_labels(task, auditor, 1) == []
    third = make_member(task.project, "labeler")
    [outcome] = submit_all(leases.lease_labels(task, third, 1), third)
    assert outcome.error is None
    assert WorkItem.objects.get().state == states.AUDIT


@pytest.mark.parametrize(
    ("percent", "total", "drawn"),
    [(10, 29, 3), (10, 10, 1), (10, 1, 1), (0.01, 29, 1), (30, 10, 3), (90, 10, 9), (100, 7, 7),
     (0, 50, 0), (7, 100, 7), (33.3, 1000, 333)],
)  # fmt: skip
@pytest.mark.parametrize("seed", range(20))
def test_the_audit_share_is_exact_and_at_least_one(
    percent: float, total: int, drawn: int, seed: int
) -> None:
    draw = sampling.AuditDraw(UUID(int=seed), percent, total)
    takes = [draw.takes(position) for position in range(total)]
    assert sum(takes) == drawn
    assert takes == [draw.takes(position) for position in range(total)]
    # Each finished stretch has had its share, whoever worked on it.
    for first in range(0, total - 20, 10):
        assert abs(sum(takes[first : first + 20]) - 20 * percent / 100) < 2


def test_another_share_counts_for_what_is_submitted_from_then_on() -> None:
    task = make_task(20, audit_percent=0)
    labeler, boss = (make_member(task.project, "researcher") for _ in range(2))
    submit_all(leases.lease_labels(task, labeler, 10), labeler)
    change_settings(task, boss, {"audit_percent": 30})
    task.refresh_from_db()
    submit_all(leases.lease_labels(task, labeler, 10), labeler)
    counts = Counter(WorkItem.objects.values_list("state", flat=True))
    assert counts == {states.ACCEPTED: 17, states.AUDIT: 3}


def test_statistics_count_per_person(task: LabelTask, labeler: User, auditor: User) -> None:
    [audit] = leases.lease_audits(task, auditor, 1)
    rule(audit, auditor, states.RETURN)
    submit_all(reads.held_work(task, labeler), labeler, label_id=7)
    [again] = leases.lease_audits(task, auditor, 1)
    rule(again, auditor, states.ACCEPT)
    [row] = reads.labeler_stats(task)
    assert row == {
        "labeler": labeler.username,
        "submitted": 2,
        "stale": 0,
        "returned": 1,
        "accepted": 1,
        "median_active_ms": 1200.0,
        "pre_label_edits": None,
    }
