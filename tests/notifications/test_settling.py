"""Notices of a matter that is over are read, whoever did the work; others and newer ones stay."""

from __future__ import annotations

from typing import Any
from uuid import UUID, uuid4

import pytest
from pytest_django import DjangoCaptureOnCommitCallbacks

from atom.accounts.models import Project, User
from atom.core import outbox
from atom.datasets.browsing.actions.dismissals import dismiss_operation
from atom.jobs import events
from atom.jobs import states as job_states
from atom.jobs.models import Run
from atom.jobs.runs.actions.runs import retry_run
from atom.labeling.actions.audits import Decision, decide
from atom.labeling.actions.leases import lease_audits, lease_labels
from atom.labeling.actions.submissions import Submission, submit
from atom.labeling.models import LabelTask, WorkSlot
from atom.needs import needs_of
from atom.notifications.actions import telling
from atom.notifications.events import KINDS, SETTLED_BY
from atom.notifications.models import Notification
from atom.webhooks import states
from atom.webhooks.actions import hooks
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset
from tests.factories.jobs import make_run
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def ada(project: Project) -> User:
    return make_member(project, "researcher", "ada")


def unread(user: User) -> list[str]:
    telling.tick()
    rows = Notification.objects.unread().filter(user=user).order_by("at", "id")
    return list(rows.values_list("kind", flat=True))


ENDS = [(end, kind) for end, kinds in SETTLED_BY.items() for kind in kinds]


@pytest.mark.parametrize(("end", "kind"), ENDS, ids=[f"{end}-{kind}" for end, kind in ENDS])
def test_an_event_ends_what_it_settles_and_nothing_else(
    project: Project, ada: User, end: str, kind: str
) -> None:
    bo = make_member(project, "researcher", "bo")
    mine, other = str(uuid4()), str(uuid4())
    for subject in (mine, other):
        outbox.emit(project.pk, kind, people=[ada.pk, bo.pk], subject=subject)
    telling.tick()
    # The end itself concerns nobody and settles all the same.
    outbox.emit(project.pk, end, subject=mine)
    assert (unread(ada), unread(bo)) == ([kind], [kind])
    assert Notification.objects.unread().filter(subject=other).count() == 2
    # After the end: it begins anew.
    outbox.emit(project.pk, kind, people=[ada.pk], subject=mine)
    assert unread(ada) == [kind, kind]


def test_each_kind_that_is_settled_is_one_that_people_are_told_of() -> None:
    assert {kind for kinds in SETTLED_BY.values() for kind in kinds} <= set(KINDS)


def end(run: Run, *steps: str) -> None:
    for step in steps:
        events.move(run, step)


def test_a_failed_run_that_is_tried_again_with_success(project: Project, ada: User) -> None:
    run = make_run(project, ada, state=job_states.RUNNING)
    end(run, job_states.FINALIZING, job_states.FAILED)
    assert unread(ada) == ["run.failed"]
    assert [need.code for need in needs_of(ada, project)] == ["run_failed"]
    run = retry_run(run.pk, make_member(project, "researcher", "bo"))
    type(run).objects.filter(pk=run.pk).update(state=job_states.RUNNING)
    run.refresh_from_db()
    end(run, job_states.FINALIZING, job_states.SUCCEEDED)
    assert unread(ada) == ["run.succeeded"]
    assert needs_of(ada, project) == []


def submitted(task: LabelTask, labeler: User, slots: list[WorkSlot]) -> dict[UUID, UUID]:
    document = {"label_id": task.ontology_version.labels[0]["id"]}
    made = [
        Submission(one.pk, one.lease_no, f"{one.pk}-{one.lease_no}", document, 1) for one in slots
    ]
    done = submit(task.project, labeler, made)
    return {one.revision.work_item_id: one.revision.pk for one in done if one.revision}


def ruled(task: LabelTask, auditor: User, revisions: dict[UUID, UUID], verdict: str) -> None:
    slots = lease_audits(task, auditor, 2)
    back = [Decision(a.pk, a.lease_no, revisions[a.work_item_id], verdict, "x") for a in slots]
    assert all(ruling.error is None for ruling in decide(task.project, auditor, back))


def test_audits_and_corrections_that_others_did(
    project: Project,
    ada: User,
    django_capture_on_commit_callbacks: DjangoCaptureOnCommitCallbacks,
) -> None:
    labeler, bo = make_member(project, "labeler"), make_member(project, "researcher", "bo")
    task = make_task(2, project=project, creator=ada, audit_percent=100)
    revisions = submitted(task, labeler, lease_labels(task, labeler, 2))
    assert unread(ada) == ["label_task.submitted"]
    with django_capture_on_commit_callbacks(execute=True):
        ruled(task, bo, revisions, "return")
    assert unread(ada) == []
    assert unread(labeler) == ["label_task.started", "label_task.returned"]
    slots = list(WorkSlot.objects.filter(label_task=task, user=labeler).select_related("work_item"))
    with django_capture_on_commit_callbacks(execute=True):
        revisions = submitted(task, labeler, slots[:1])
    assert unread(labeler) == ["label_task.started", "label_task.returned"]
    with django_capture_on_commit_callbacks(execute=True):
        revisions |= submitted(task, labeler, slots[1:])
    assert (unread(labeler), unread(ada)) == (["label_task.started"], ["label_task.submitted"])
    with django_capture_on_commit_callbacks(execute=True):
        ruled(task, bo, revisions, "accept")
    # The last item is finished: so is the task.
    assert (unread(labeler), unread(ada)) == ([], [])
    assert needs_of(labeler, project) == needs_of(bo, project) == []


def test_an_operation_that_one_person_dismissed(project: Project, ada: User) -> None:
    bo = make_member(project, "researcher", "bo")
    dataset = make_dataset(project)
    request = dataset.commit_requests.create(
        branch="main", created_by=ada, operation="merge", state="conflict"
    )
    people = [ada.pk, bo.pk]
    outbox.emit(project.pk, "commit.conflict", people=people, subject=request.pk)
    assert unread(ada) == ["commit.conflict"]
    dismiss_operation(dataset, request.pk, ada)
    assert (unread(ada), unread(bo)) == ([], ["commit.conflict"])


def test_a_webhook_that_is_on_again(project: Project, ada: User, settings: Any) -> None:
    admin = make_member(project, "admin")
    settings.ATOM_WEBHOOK_ALLOW = ["127.0.0.0/8"]
    hook = hooks.create_webhook(project, ada, "ci", "http://127.0.0.1:9/", ["run.failed"]).webhook
    hooks.switch_off(hook, states.BY_FAILURE)
    assert unread(ada) == ["webhook.disabled"]
    hook.refresh_from_db()
    hooks.change_webhook(hook, admin, {"active": True})
    assert unread(ada) == []
