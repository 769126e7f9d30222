"""The right of a run to write datasets: who may ask for it, what it gives, and when it ends."""

from __future__ import annotations

import re
from datetime import timedelta
from typing import Any

import pytest
from django.urls import resolve
from django.utils import timezone
from rest_framework.test import APIClient

from atom.accounts.models import ApiToken, AuditEvent, Project, User
from atom.accounts.permissions import require
from atom.clusters.actions import beat_local_node
from atom.datasets.models import Dataset
from atom.jobs import states
from atom.jobs.attempts.actions import write_access
from atom.jobs.attempts.actions.finalize import conclude
from atom.jobs.errors import InvalidRun
from atom.jobs.models import Run, Workflow
from atom.jobs.runs.actions.requests import WRITER_ROLE, RunRequest, plan_run
from atom.jobs.runs.actions.runs import create_run
from tests.architecture.test_access import api_routes
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt

pytestmark = pytest.mark.django_db


@pytest.fixture
def project() -> Project:
    beat_local_node()
    return make_project("vision")


@pytest.fixture
def person(project: Project) -> User:
    return make_member(project, "researcher")


@pytest.fixture
def api(person: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(person)
    return client


def create(api: APIClient, **body: Any) -> Any:
    return api.post("/api/v1/projects/vision/runs/", body)


def test_a_run_gets_a_token_when_it_was_asked_for_and_until_its_attempt_ends(
    api: APIClient, person: User
) -> None:
    reads = create(api, command=["true"]).json()
    assert reads["may_write"] is False
    assert write_access.grant(make_attempt(Run.objects.get(pk=reads["id"])), "http://atom") == {}

    writes = create(api, command=["true"], may_write=True).json()
    assert writes["may_write"] is True
    run = Run.objects.get(pk=writes["id"])
    attempt = make_attempt(run, states.FINALIZING, finalizing_since=timezone.now())
    given = write_access.grant(attempt, "http://atom")
    assert set(given) == {"ATOM_URL", "ATOM_TOKEN", "ATOM_PROJECT"}
    token = ApiToken.objects.get(name__startswith=f"run {run.number},")
    assert (token.user, token.project, token.scopes) == (person, run.project, ["push"])
    assert token.expires_at is not None
    assert timezone.now() < token.expires_at < timezone.now() + timedelta(days=8)

    attempt.evidence = {"no_more": True}
    assert conclude(run, attempt)
    token.refresh_from_db()
    assert token.revoked_at is not None
    events = AuditEvent.objects.filter(verb="run.created").order_by("pk")
    assert [event.data.get("may_write", False) for event in events] == [False, True]


def test_the_token_adds_versions_and_does_nothing_else(api: APIClient, person: User) -> None:
    run = Run.objects.get(pk=create(api, command=["true"], may_write=True).json()["id"])
    given = write_access.grant(make_attempt(run), "http://atom")
    inside = APIClient(headers={"Authorization": f"Bearer {given['ATOM_TOKEN']}"})
    base = "/api/v1/projects/vision/"
    made = inside.post(f"{base}datasets/", {"name": "made"})
    assert made.status_code == 201
    upload = {"kind": "pack", "digest": "0" * 64, "size_bytes": 4096}
    assert inside.post(f"{base}datasets/made/uploads/", upload).status_code == 201
    assert inside.get(f"{base}datasets/made/").status_code == 200
    for method, path in (
        ("post", f"{base}runs/"),
        ("post", f"{base}datasets/made/branches/"),
        ("post", f"{base}datasets/made/merges/"),
        ("post", f"{base}datasets/made/views/"),
        ("post", "/api/v1/tokens/"),
        ("post", "/api/v1/s3-keys/"),
        ("post", f"/api/v1/runs/{run.pk}/cancel/"),
    ):
        answer = getattr(inside, method)(path, {})
        assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing"), path


def test_the_token_takes_back_only_a_dataset_that_never_had_a_version(
    api: APIClient, person: User, project: Project
) -> None:
    Dataset.objects.create(project=project, name="of-another", created_by=make_member(project))
    run = Run.objects.get(pk=create(api, command=["true"], may_write=True).json()["id"])
    given = write_access.grant(make_attempt(run), "http://atom")
    inside = APIClient(headers={"Authorization": f"Bearer {given['ATOM_TOKEN']}"})
    base = "/api/v1/projects/vision/datasets/"
    assert inside.post(base, {"name": "made"}).status_code == 201
    assert inside.delete(f"{base}made/?name=made").status_code == 204
    assert inside.delete(f"{base}of-another/?name=of-another").status_code == 403


def test_what_a_token_that_pushes_may_write_is_this(project: Project) -> None:
    found = {
        route
        for route in api_routes()
        if getattr(_view_of(route), "write_scope", "write") == "push" and _writes(_view_of(route))
    }
    dataset = "projects/<str:project>/datasets/<str:dataset>/"
    assert {route.removeprefix(dataset) for route in found} == {
        "projects/<str:project>/datasets/",
        # Taking back what it made, as long as it is empty.
        "",
        "uploads/",
        "uploads/<uuid:upload_id>/parts/",
        "uploads/<uuid:upload_id>/complete/",
        "commits/",
        "writers/",
        "writers/<uuid:writer_id>/uploading/",
        "writers/<uuid:writer_id>/flushes/",
        "writers/<uuid:writer_id>/commit/",
        "writers/<uuid:writer_id>/abandon/",
        "write-jobs/",
        "write-jobs/<uuid:write_job_id>/tasks/",
        "write-jobs/<uuid:write_job_id>/commit/",
        "write-jobs/<uuid:write_job_id>/abort/",
    }


def _view_of(route: str) -> Any:
    value = {"slug": "x", "uuid": "00000000-0000-0000-0000-000000000000", "int": "1"}
    path = re.sub(r"<(\w+):\w+>", lambda found: value.get(found[1], "x"), route)
    return getattr(resolve(f"/api/v1/{path}").func, "view_class", None) or getattr(
        resolve(f"/api/v1/{path}").func, "cls", None
    )


def _writes(view: Any) -> bool:
    return any(hasattr(view, method) for method in ("post", "put", "patch", "delete"))


def test_the_token_ends_with_the_attempt_though_its_person_is_gone(
    api: APIClient, person: User
) -> None:
    run = Run.objects.get(pk=create(api, command=["true"], may_write=True).json()["id"])
    attempt = make_attempt(run, states.FINALIZING, finalizing_since=timezone.now())
    given = write_access.grant(attempt, "http://atom")
    User.objects.filter(pk=person.pk).update(is_active=False)
    inside = APIClient(headers={"Authorization": f"Bearer {given['ATOM_TOKEN']}"})
    assert inside.get("/api/v1/projects/vision/datasets/").status_code == 401
    # The run forgets who started it; the token does not depend on that.
    Run.objects.filter(pk=run.pk).update(created_by=None)
    attempt.run.refresh_from_db()
    write_access.withdraw(attempt)
    assert ApiToken.objects.get(user=person).revoked_at is not None


def test_a_clone_and_a_retry_keep_the_right(api: APIClient) -> None:
    run = create(api, command=["true"], may_write=True).json()
    clone = api.post(f"/api/v1/runs/{run['id']}/clone/").json()
    assert (clone["may_write"], Run.objects.get(pk=clone["id"]).may_write) == (True, True)
    Run.objects.filter(pk=run["id"]).update(state=states.FAILED)
    again = api.post(f"/api/v1/runs/{run['id']}/retry/")
    assert (again.status_code, again.json()["may_write"]) == (200, True)


def test_who_may_not_write_datasets_cannot_ask_for_it(project: Project) -> None:
    viewer, stranger = make_member(project, "viewer"), make_member(make_project(), "admin")
    for person in (viewer, stranger):
        with pytest.raises(InvalidRun) as refused:
            create_run(project, person, RunRequest(command=["true"], may_write=True))
        (said,) = refused.value.errors["may_write"]
        assert "needs the role researcher in vision" in said
        assert plan_run(project, person, RunRequest(command=["true"])).errors == {}
    client = APIClient()
    client.force_authenticate(viewer)
    assert create(client, command=["true"], may_write=True).status_code == 403
    assert not Run.objects.exists()


def test_the_role_that_is_asked_for_is_the_one_that_writing_needs(
    project: Project, person: User
) -> None:
    require(person, project, WRITER_ROLE)
    client = APIClient()
    client.force_authenticate(person)
    assert client.post("/api/v1/projects/vision/datasets/", {"name": "made"}).status_code == 201


def test_a_workflow_says_itself_whether_it_writes(api: APIClient, project: Project) -> None:
    common = {"parameters": [], "resources": {}, "requirements": "", "command": ["true"]}
    files = {"folder": "none", "code": []}
    for slug, writes in (("reads", False), ("writes", True)):
        definition = {**common, **files, "writes": writes}
        Workflow.objects.create(slug=slug, version="1", title=slug, definition=definition)
        assert create(api, workflow=slug).json()["may_write"] is writes
    refused = create(api, workflow="reads", may_write=True)
    assert (refused.status_code, refused.json()["code"]) == (400, "invalid_run")
    assert list(refused.json()["errors"]) == ["may_write"]
    wrongs: list[Any] = ["sometimes", None, 7, []]
    for wrong in wrongs:
        assert create(api, command=["true"], may_write=wrong).status_code == 400
