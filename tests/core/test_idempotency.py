"""Requests with one `Idempotency-Key` that meet, or whose work fails; and which routes take one."""

from __future__ import annotations

import threading
from datetime import timedelta
from typing import Any

import pytest
from django.db import connections
from django.db.models.functions import Now
from django.test import Client
from drf_spectacular.generators import SchemaGenerator

from atom.accounts.models import Project, User
from atom.core.idempotency import forget_old
from atom.core.models import IdempotencyRecord
from atom.core.schema import takes_key
from atom.datasets.models import Dataset
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.usefixtures("committing_db")


@pytest.fixture
def project() -> Project:
    return make_project()


@pytest.fixture
def user(project: Project) -> User:
    return make_member(project, "researcher")


def create(project: Project, user: User, name: str) -> tuple[int, dict[str, Any]]:
    client = Client()
    client.force_login(user)
    answer = client.post(
        f"/api/v1/projects/{project.slug}/datasets/",
        {"name": name},
        content_type="application/json",
        headers={"Idempotency-Key": "one"},
    )
    return answer.status_code, answer.json()


@pytest.mark.django_db(transaction=True)
def test_requests_that_meet_create_one_dataset_and_get_one_answer(
    project: Project, user: User
) -> None:
    barrier = threading.Barrier(3)
    answers: list[tuple[int, str]] = []

    def ask() -> None:
        try:
            barrier.wait()
            status, body = create(project, user, "digits")
            answers.append((status, body.get("id") or body["code"]))
        finally:
            connections.close_all()

    threads = [threading.Thread(target=ask) for _ in range(3)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert answers == [(201, str(Dataset.objects.get().pk))] * 3


def test_work_that_failed_leaves_no_key(project: Project, user: User) -> None:
    status, body = create(project, user, "no name/at all")
    assert (status, body["code"]) == (400, "invalid")
    assert not IdempotencyRecord.objects.exists()
    assert create(project, user, "digits")[0] == 201


def test_the_key_is_of_one_request(project: Project, user: User) -> None:
    assert create(project, user, "digits")[0] == 201
    status, body = create(project, user, "letters")
    assert (status, body["code"]) == (409, "idempotency_key_reused")
    # Another person's key is another key.
    assert create(project, make_member(project, "researcher"), "letters")[0] == 201


def test_answers_are_forgotten_after_a_day(project: Project, user: User) -> None:
    create(project, user, "digits")
    assert forget_old() == 0
    IdempotencyRecord.objects.update(created_at=Now() - timedelta(hours=25))
    assert forget_old() == 1


# Reasons why a POST that answers 201 or 202 takes no key. Each other operation must take one.
WITHOUT_KEY = {
    "tokens_create": "the secret is in this one answer, and may be stored nowhere",
    "projects_service_accounts_tokens_create": "the secret is in this one answer",
    "units_service_accounts_tokens_create": "the secret is in this one answer",
    "projects_invitations_create": "the link is in this one answer; a pending one is made anew",
    "units_invitations_create": "the link is in this one answer; a pending one is made anew",
    "person_reset_link": "the link is in this one answer; a new one replaces the one before",
    "runs_shares_create": "the link is in this one answer; a lost one is ended in the list",
    "cluster_try_pod": "one pod is tried at a time; asking again shows how far it is",
    "cluster_register": "a name is registered once; asking again says that it is taken",
    "s3_keys_create": "the secret is in this one answer, and may be stored nowhere",
    "projects_webhooks_create": "the secret is in this one answer, and may be stored nowhere",
    "code_snapshots_create": "named by the digest of its bytes: twice is once",
    "projects_datasets_uploads_create": "named by the digest of its bytes: twice is once",
    "projects_datasets_uploads_complete_create": "the upload moves from one state to the next once",
    "labelx_guideline_pictures_create": "named by the digest of its bytes: twice is once",
    "labelx_slots_submit_create": "fenced by the number of the lease, and by the revision before",
    "labelx_tasks_continue_create": "one task goes on with the rest; asking again shows it",
    "labelx_tasks_publish_create": "a task is published once; asking again shows how far it is",
    "version_warm": "asks for a state: what is warm, or becomes so, stays as it is",
    "version_evict": "asks for a state: what is gone stays gone",
}
# Answers 200, and does something new each time.
ALSO_WITH_KEY = {"runs_retry", "runs_move"}


def test_every_route_that_creates_takes_a_key_or_says_why_not() -> None:
    schema = SchemaGenerator().get_schema(request=None, public=True)  # type: ignore[no-untyped-call]
    posts = [path["post"] for path in schema["paths"].values() if "post" in path]
    creating = {one["operationId"] for one in posts if {"201", "202"} & set(one["responses"])}
    keyed = {one["operationId"] for one in posts if takes_key(one)}
    assert (creating | ALSO_WITH_KEY) - keyed == set(WITHOUT_KEY)
    (header,) = {
        parameter["description"]
        for one in posts
        for parameter in one.get("parameters", ())
        if parameter["name"] == "Idempotency-Key"
    }
    assert "idempotency_key_reused" in header
    assert all("409" in one["responses"] for one in posts if takes_key(one))
