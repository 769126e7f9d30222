"""Requests with one `Idempotency-Key` that meet, or whose work fails."""

from __future__ import annotations

import threading
from typing import Any

import pytest
from django.db import connections
from django.test import Client

from atom.accounts.models import Project, User
from atom.core.models import IdempotencyRecord
from atom.datasets.models import Dataset
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db(transaction=True)


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
