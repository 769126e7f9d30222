"""Every endpoint, asked as nobody and as a member of another project.

The addresses come from the URL table itself, so a new endpoint is covered on the day it is
added; one whose parameter is unknown here fails the test until somebody thinks about it.
"""

from __future__ import annotations

import re
import uuid
from collections.abc import Iterator
from typing import Any

import pytest
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

from atom.accounts import actions
from atom.accounts.actions.invitations import invite
from atom.accounts.actions.service_accounts import create_service_account
from atom.accounts.models import Session, User
from atom.cleaning.models import CleaningReport
from atom.core.clock import now
from atom.datasets.models import (
    CommitRequest,
    GarbageRun,
    LegalHold,
    SavedView,
    Source,
    SourceScan,
    Upload,
    WriteJob,
    Writer,
)
from atom.jobs.models import Artifact, CodeFetch, CodeSnapshot, RunComment
from atom.labeling.models import WorkSlot
from atom.models_registry.models import Alias, Model, ModelVersion
from atom.webhooks.models import Delivery, Webhook
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt, make_run
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db

SECRET_WORD = "zirconium"
METHODS = ("get", "post", "put", "patch", "delete")
# Anybody may ask these; what they answer is nobody's secret.
PUBLIC = {
    "auth/session/",
    "auth/login/",
    "auth/login/code/",
    "auth/oidc/",
    "auth/oidc/start/",
    "auth/oidc/callback/",
    "auth/forgotten/",
    "auth/reset/",
    "auth/reset/open/",
    "invitations/open/",
    "invitations/sign-up/",
    "schema/",
    "docs/",
}
# Every signed-in person may ask these: they answer with the caller's own things, or with what
# belongs to the installation. That they show nothing of others is asserted below.
OWN = {
    "auth/logout/",
    "auth/password/",
    "auth/second-factor/",
    "auth/second-factor/confirm/",
    "auth/second-factor/off/",
    "auth/second-factor/recovery-codes/",
    "invitations/accept/",
    "sessions/",
    "sessions/end-others/",
    "users/me/",
    "projects/",
    "units/",
    "tokens/",
    "s3-keys/",
    "clusters/",
    "workflows/",
    "workflows/<slug:slug>/",
    "labelx/audits/",
}
# A runner authenticates with its attempt's token, which names no other thing.
RUNNER_ONLY = "runner/"


def api_routes() -> Iterator[str]:
    """Routes below `/api/v1/`, with their parameters still in them."""
    yield from (route for route in _routes(get_resolver().url_patterns, "") if route)


def _routes(patterns: list[Any], prefix: str) -> Iterator[str]:
    for pattern in patterns:
        route = prefix + str(pattern.pattern)
        if isinstance(pattern, URLResolver):
            yield from _routes(pattern.url_patterns, route)
        elif isinstance(pattern, URLPattern) and route.startswith("api/v1/"):
            yield route.removeprefix("api/v1/")


@pytest.fixture
def foreign() -> dict[str, Any]:
    """One of everything in a project that the caller is not a member of."""
    project = make_project(f"{SECRET_WORD}-project")
    owner = make_member(project, "admin", f"{SECRET_WORD}-owner")
    task = make_task(project=project, creator=owner, name=f"{SECRET_WORD} task")
    version = task.dataset_version
    dataset = version.dataset
    run = make_run(project, owner, name=f"{SECRET_WORD} run")
    upload = Upload.objects.create(
        dataset=dataset, kind="pack", digest="a" * 64, size_bytes=1, part_size_bytes=1, key="k"
    )
    hold = LegalHold.objects.create(dataset=dataset, reason=SECRET_WORD)
    view = SavedView.objects.create(dataset=dataset, name=f"{SECRET_WORD}-view", prefix="a/")
    garbage_run = GarbageRun.objects.create(project=project)
    commit = CommitRequest.objects.create(dataset=dataset, branch="main", changes_upload=upload)
    writer = Writer.objects.create(dataset=dataset, target="main", staging="staging.a")
    write_job = WriteJob.objects.create(dataset=dataset, name=SECRET_WORD, target="main")
    source = Source.objects.create(
        project=project, dataset=dataset, name=f"{SECRET_WORD}-bucket", url="s3://bucket/"
    )
    code = CodeSnapshot.objects.create(project=project, digest="b" * 64, size_bytes=1, key="c")
    model = Model.objects.create(project=project, name=f"{SECRET_WORD}-model")
    model_version = ModelVersion.objects.create(
        model=model, number=1, run=run, artifact_path="model/", size_bytes=1, digest="d" * 64
    )
    Alias.objects.create(model=model, name="candidate", version=model_version)
    webhook = Webhook.objects.create(
        project=project, name=SECRET_WORD, url=f"https://{SECRET_WORD}.example/", events=[]
    )
    return {
        "project": project.slug,
        "unit_id": project.unit.pk,
        "user_id": owner.pk,
        "invitation_id": invite(project, owner, "viewer", "", 7).invitation.pk,
        "account_id": create_service_account(project, SECRET_WORD, "viewer", owner).pk,
        "session_id": Session.objects.create(
            session_key=SECRET_WORD, user=owner, expire_date=now()
        ).public_id,
        "webhook_id": webhook.pk,
        "delivery_id": Delivery.objects.create(webhook=webhook, kind="x", body="{}").pk,
        "dataset": dataset.name,
        "dataset_id": dataset.pk,
        "ref": version.ref,
        "upload_id": upload.pk,
        "commit_id": commit.pk,
        "operation_id": commit.pk,
        "hold_id": hold.pk,
        "view": view.name,
        "writer_id": writer.pk,
        "write_job_id": write_job.pk,
        "garbage_run_id": garbage_run.pk,
        "source": source.name,
        "scan_id": SourceScan.objects.create(source=source, state="done").pk,
        "run_id": run.pk,
        "comment_id": RunComment.objects.create(run=run, author=owner, text=SECRET_WORD).pk,
        "file_id": Artifact.objects.create(
            run=run, attempt=make_attempt(run), path=SECRET_WORD, size_bytes=1, kind="output"
        ).pk,
        "snapshot_id": code.pk,
        "fetch_id": CodeFetch.objects.create(project=project, url="https://host/code").pk,
        "model": model.name,
        "number": 1,
        "name": "main",
        "alias": "candidate",
        "ontology_id": task.ontology_version.ontology_id,
        "task_id": task.pk,
        "slot_id": WorkSlot.objects.filter(label_task=task).values_list("pk", flat=True)[0],
        "item_id": task.items.values_list("pk", flat=True)[0],
        "token_id": actions.create_token(owner, SECRET_WORD, ["read"]).token.pk,
        "s3_key_id": actions.create_s3_key_pair(owner, SECRET_WORD, project).pair.pk,
        "slug": "image-classification",
        "report_id": CleaningReport.objects.create(version=version, state="ready").pk,
    }


@pytest.fixture
def stranger() -> User:
    """An administrator of a project of their own."""
    return make_member(make_project("own"), "admin", "stranger")


def fill(route: str, values: dict[str, Any]) -> str:
    """Return the route's address with the foreign things in it."""
    return "/api/v1/" + re.sub(r"<(?:\w+:)?(\w+)>", lambda found: str(values[found[1]]), route)


def test_every_route_takes_known_parameters(foreign: dict[str, Any]) -> None:
    names = {name for route in api_routes() for name in re.findall(r"<(?:\w+:)?(\w+)>", route)}
    assert names - set(foreign) == set()


def test_nobody_gets_nothing(client: Client, foreign: dict[str, Any]) -> None:
    leaks = []
    for route in api_routes():
        if route in PUBLIC:
            continue
        for method in METHODS:
            answer = getattr(client, method)(fill(route, foreign), content_type="application/json")
            if answer.status_code not in {401, 403} or SECRET_WORD in answer.content.decode():
                leaks.append((method, route, answer.status_code))
    assert leaks == []


def test_a_member_of_another_project_learns_nothing(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    client.force_login(stranger)
    leaks = []
    for route in api_routes():
        if route in PUBLIC | OWN or route.startswith(RUNNER_ONLY):
            continue
        for method in METHODS:
            answer = getattr(client, method)(fill(route, foreign), content_type="application/json")
            # The audit trail answers an administrator with the events of their own projects.
            allowed = {200, 405} if route.startswith("audit/") else {404, 405}
            if answer.status_code not in allowed or SECRET_WORD in _said(answer):
                leaks.append((method, route, answer.status_code))
    assert leaks == []


def _said(answer: Any) -> str:
    return str(answer if answer.streaming else answer.content.decode())


def test_lists_of_ones_own_things_hold_nothing_of_others(
    client: Client, foreign: dict[str, Any], stranger: User
) -> None:
    client.force_login(stranger)
    for route in sorted(OWN - {"auth/logout/"}):
        answer = client.get(fill(route, foreign))
        assert answer.status_code in {200, 404, 405}, route
        assert SECRET_WORD not in answer.content.decode(), route


def test_a_run_token_opens_no_door_but_its_own(client: Client, foreign: dict[str, Any]) -> None:
    bearer = {"Authorization": f"Bearer atomrun_{uuid.uuid4().hex}"}
    for route in api_routes():
        if route in PUBLIC:
            continue
        assert client.get(fill(route, foreign), headers=bearer).status_code in {401, 403, 405}, (
            route
        )
