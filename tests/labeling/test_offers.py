"""Pages, overview and mails offer exactly the allowed actions: for each role and situation."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest
from django.db import transaction

from atom.accounts.models import Project, User
from atom.core.models import OutboxEvent
from atom.labeling import permissions, states
from atom.labeling.actions import label_tasks, leases, publishing, skips
from atom.labeling.models import LabelTask, WorkSlot
from tests.factories.accounts import make_member, make_project
from tests.factories.labeling import make_task
from tests.labeling.asking import Api
from tests.labeling.work import rule, submit_all

pytestmark = pytest.mark.django_db

ROLES = ("viewer", "labeler", "researcher", "admin")
CALLS: dict[str, tuple[str, str, Any]] = {
    permissions.LABEL: ("POST", "lease/?n=1", {}),
    permissions.AUDIT: ("POST", "audit-lease/?n=1", {}),
    permissions.START: ("POST", "start/", None),
    permissions.PAUSE: ("POST", "pause/", None),
    permissions.PUBLISH: ("POST", "publish/", {"partial": True}),
    permissions.SETTLE_SKIPPED: ("POST", "skipped/", {"how": "reopen"}),
    permissions.CONTINUE: ("POST", "continue/", None),
    permissions.CHANGE: ("PATCH", "", {"audit_percent": 50}),
}


def submitted_by(task: LabelTask, person: User, n: int) -> None:
    submit_all(leases.lease_labels(task, person, n), person)


def fresh(task: LabelTask, me: User, other: User) -> None:
    """A task without any work."""


def own_work(task: LabelTask, me: User, other: User) -> None:
    submitted_by(task, me, 4)


def work_of_others(task: LabelTask, me: User, other: User) -> None:
    submitted_by(task, other, 4)


def mixed(task: LabelTask, me: User, other: User) -> None:
    submitted_by(task, me, 2)
    submitted_by(task, other, 1)
    [slot] = leases.lease_labels(task, me, 1)
    skips.skip(slot, me, slot.lease_no)


def accepted(task: LabelTask, me: User, other: User) -> None:
    submitted_by(task, other, 2)
    third = make_member(task.project, "researcher")
    for slot in leases.lease_audits(task, third, 2):
        rule(slot, third, states.ACCEPT)


def paused(task: LabelTask, me: User, other: User) -> None:
    accepted(task, me, other)
    submitted_by(task, other, 1)
    label_tasks.pause_task(task, other)


def published(task: LabelTask, me: User, other: User) -> None:
    accepted(task, me, other)
    publishing.request_publish(task, other, partial=True)


def sent_back(task: LabelTask, me: User, other: User) -> None:
    submitted_by(task, me, 1)
    third = make_member(task.project, "researcher")
    [slot] = leases.lease_audits(task, third, 1)
    rule(slot, third, states.RETURN)


SITUATIONS = (fresh, own_work, work_of_others, mixed, accepted, paused, published, sent_back)


def allowed(ask: Api, task: LabelTask, action: str) -> bool:
    """Try it, for real, and take it back."""
    method, path, body = CALLS[action]
    with transaction.atomic():
        answer = ask(method, f"labelx/tasks/{task.pk}/{path}", body)
        transaction.set_rollback(True)
    if answer.status_code >= 400:
        return False
    found = answer.json()
    if action == permissions.AUDIT:
        return bool(found["lease"])
    return bool(found.get("count") != 0)


@pytest.mark.parametrize("situation", SITUATIONS)
def test_what_is_offered_is_allowed_and_what_is_not_is_refused(
    situation: Callable[[LabelTask, User, User], None],
    django_capture_on_commit_callbacks: Any,
) -> None:
    project = make_project("vision")
    tasks = {role: make_task(4, project=project, name=role, audit_percent=100) for role in ROLES}
    other = make_member(project, "researcher")
    for role, task in tasks.items():
        # They did it while they were allowed to; their role may be lower by now.
        me = make_member(project, "researcher", role)
        with django_capture_on_commit_callbacks(execute=True):
            situation(task, me, other)
        me.role_bindings.update(role=role)
        ask = Api(me)
        offers = ask("GET", f"labelx/tasks/{task.pk}/").json()["offers"]
        can = {action for action in CALLS if allowed(ask, task, action)}
        # Starting what is started is fine, and so on: what repeats a state is not offered.
        repeats = {permissions.START, permissions.PAUSE, permissions.PUBLISH} & can - set(offers)
        assert set(offers) == can - repeats, (role, situation.__name__)
        assert not repeats or permissions.may(role, permissions.START)
        assert_needs_are_allowed(ask, project)


def assert_needs_are_allowed(ask: Api, project: Project) -> None:
    """Follow each item of the overview about labels: it leads to that much work."""
    for need in ask("GET", f"projects/{project.slug}/overview/").json()["needs"]:
        at = f"labelx/tasks/{need['id']}"
        paths = {
            "label": f"{at}/lease/?n=200",
            "audit": f"{at}/audit-lease/?n=200",
            "label_returned": f"{at}/take-up/",
        }
        with transaction.atomic():
            answer = ask("POST", paths[need["code"]], {})
            transaction.set_rollback(True)
        assert answer.status_code == 200, (need, answer.content)
        found = answer.json()
        assert len(found.get("lease", found.get("results"))) == need["count"], need


@pytest.mark.parametrize("role", ROLES)
def test_only_who_may_audit_is_told_that_audits_wait(role: str) -> None:
    project = make_project()
    boss = make_member(project, "researcher")
    task = make_task(2, project=project, creator=boss, audit_percent=100)
    boss.role_bindings.update(role=role)
    submitted_by(task, make_member(project, "labeler"), 2)
    told = OutboxEvent.objects.filter(kind="label_task.submitted").exists()
    assert told == permissions.may(role, permissions.AUDIT)


def test_the_page_of_ones_own_work_says_that_another_person_must_audit_it() -> None:
    task = make_task(2, audit_percent=100)
    me = make_member(task.project, "researcher")
    submitted_by(task, me, 2)
    seen = Api(me)("GET", f"labelx/tasks/{task.pk}/").json()
    assert seen["progress"]["audit"] == 2
    assert (seen["my"]["to_audit"], seen["my"]["own_audits"]) == (0, 2)
    assert WorkSlot.objects.filter(role=states.AUDIT_ROLE, state=states.OPEN).count() == 2
