"""The first page: what needs somebody, for whom, and at which cost."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import F
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient

from atom.accounts import actions as accounts
from atom.accounts.actions.invitations import invite
from atom.accounts.models import Invitation, Project, User
from atom.core import clock, outbox
from atom.datasets.models import CommitRequest, DismissedOperation, Source, Upload
from atom.jobs import states as job_states
from atom.jobs.models import Run
from atom.labeling import states as label_states
from atom.labeling.models import WorkSlot
from atom.notifications.actions import fan_out
from tests.factories.accounts import make_member, make_project
from tests.factories.datasets import make_dataset
from tests.factories.jobs import make_run
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db
AT = "/api/v1/projects/vision/overview/"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def ada(project: Project) -> User:
    return make_member(project, "researcher", "ada")


def seen(user: User) -> dict[str, Any]:
    client = APIClient()
    client.force_authenticate(user)
    answer = client.get(AT)
    assert answer.status_code == 200, answer.content
    found: dict[str, Any] = answer.json()
    return found


def needs(user: User) -> list[tuple[str, str, int]]:
    return [(need["code"], need["name"], need["count"]) for need in seen(user)["needs"]]


def failed(project: Project, user: User, name: str) -> Run:
    run = make_run(
        project, user, name=name, state=job_states.FAILED, failure_class="OOM_HOST",
        finished_at=clock.now(),
    )  # fmt: skip
    said = {"run": str(run.pk), "name": name}
    outbox.emit(project.pk, "run.failed", people=[user.pk], subject=run.pk, **said)
    fan_out.tick()
    return run


def test_a_new_project_needs_nobody(ada: User) -> None:
    found = seen(ada)
    assert (found["needs"], found["runs"]["mine"], found["runs"]["recent"]) == ([], [], [])


def test_a_failed_run_needs_who_started_it_until_they_look_at_it(
    project: Project, ada: User
) -> None:
    run = failed(project, ada, "digits")
    assert needs(ada) == [("run_failed", "digits", 1)]
    assert needs(make_member(project, "researcher")) == []
    client = APIClient()
    client.force_authenticate(ada)
    client.post("/api/v1/notifications/read/", {"subject": str(run.pk)}, format="json")
    assert needs(ada) == []
    # It is tried again and fails again.
    Run.objects.update(finished_at=clock.now() + timedelta(hours=1))
    assert needs(ada) == [("run_failed", "digits", 1)]
    Run.objects.update(finished_at=clock.now() - timedelta(days=8))
    assert needs(ada) == []


def test_ones_own_runs_that_go_on_are_apart(project: Project, ada: User) -> None:
    mine = make_run(project, ada)
    make_run(project, make_member(project))
    runs = seen(ada)["runs"]
    assert ([one["id"] for one in runs["mine"]], runs["queued"]) == ([str(mine.pk)], 2)


def test_work_waits_for_those_who_may_do_it(project: Project, ada: User) -> None:
    task = make_task(3, project=project, creator=ada)
    labeler, viewer = make_member(project, "labeler"), make_member(project, "viewer")
    assert needs(labeler) == [("label", task.name, 3)]
    assert needs(viewer) == []
    slot = WorkSlot.objects.filter(label_task=task).order_by("position")[0]
    WorkSlot.objects.filter(pk=slot.pk).update(state=label_states.SUBMITTED, user=labeler)
    audit = WorkSlot.objects.create(
        work_item=slot.work_item, label_task=task, role=label_states.AUDIT_ROLE, position=0
    )
    assert ("audit", task.name, 1) in needs(ada)
    assert needs(labeler) == [("label", task.name, 2)], "nobody audits their own work"
    audit.delete()
    WorkSlot.objects.filter(pk=slot.pk).update(state=label_states.RETURNED)
    assert needs(labeler) == [("label_returned", task.name, 1), ("label", task.name, 2)]


def test_what_failed_with_data_needs_who_asked_until_they_dismiss_it(
    project: Project, ada: User
) -> None:
    dataset = make_dataset(project)
    upload = Upload.objects.create(
        dataset=dataset, kind="changes", digest="a" * 64, size_bytes=1, part_size_bytes=1, key="k"
    )
    asked = CommitRequest.objects.create(
        dataset=dataset, branch="main", changes_upload=upload, created_by=ada, state="conflict"
    )
    Source.objects.create(
        project=project, dataset=dataset, name="bucket", url="s3://b/", state="drifted",
        created_by=ada,
    )  # fmt: skip
    assert needs(ada) == [("conflict", dataset.name, 1), ("source_drifted", "bucket", 1)]
    assert needs(make_member(project, "researcher")) == []
    assert needs(make_member(project, "admin")) == [("source_drifted", "bucket", 1)]
    DismissedOperation.objects.create(request=asked, user=ada)
    assert needs(ada) == [("source_drifted", "bucket", 1)]


def test_administrators_see_invitations_and_everybody_their_keys(
    project: Project, ada: User
) -> None:
    boss = make_member(project, "admin")
    for _ in range(2):
        invite(project, boss, "viewer", "", 7)
    first = Invitation.objects.order_by("pk")[0]
    Invitation.objects.filter(pk=first.pk).update(expires_at=F("created_at"))
    accounts.create_token(ada, "ci", ["read"], expires_at=clock.now() + timedelta(days=2))
    assert needs(boss) == [("invitations_over", "Vision", 1), ("invitations_open", "Vision", 1)]
    assert needs(ada) == [("token_expires", "ci", 1)]


def test_the_page_costs_the_same_queries_however_much_there_is(project: Project, ada: User) -> None:
    def cost() -> int:
        with CaptureQueriesContext(
            connection,
        ) as found:
            seen(ada)
        return len(found)

    task = make_task(2, project=project, creator=ada)
    failed(project, ada, "one")
    make_run(project, ada)
    before = cost()
    make_task(2, project=project, creator=ada, name="second", version=task.dataset_version)
    for number in range(12):
        failed(project, ada, f"more {number}")
        make_run(project, ada)
    assert cost() == before
    assert before < 45
    assert sum(code == "run_failed" for code, _, _ in needs(ada)) == 3
