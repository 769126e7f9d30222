"""S3 key pairs: made by a person for one project, shown once, revoked."""

from __future__ import annotations

import re

import pytest
from django.test import Client

from atom.accounts import actions
from atom.accounts.models import AuditEvent, Project, S3KeyPair
from atom.core.crypto import decrypt
from tests.factories.accounts import make_member, make_project, make_user

pytestmark = pytest.mark.django_db

KEYS = "/api/v1/s3-keys/"
JSON = "application/json"


@pytest.fixture
def project() -> Project:
    return make_project("mine")


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_the_secret_is_answered_once_and_stored_encrypted(client: Client, project: Project) -> None:
    client.force_login(make_member(project))
    created = client.post(KEYS, {"name": "rclone", "project": "mine"}, content_type=JSON)
    assert created.status_code == 201
    key = created.json()
    assert re.fullmatch(r"ATOM[A-Z2-7]{16}", key["access_key_id"])
    assert key["endpoint_url"].startswith("http://")

    pair = S3KeyPair.objects.get()
    assert key["secret_access_key"] not in str(S3KeyPair.objects.values().get())
    assert decrypt(pair.encrypted_secret) == key["secret_access_key"]
    row = client.get(KEYS).json()["results"][0]
    assert row == {name: value for name, value in key.items() if name != "secret_access_key"}
    event = AuditEvent.objects.get(verb="s3_key_pair.created")
    assert key["secret_access_key"] not in str(event.data)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "x"}, "project"),
        ({"name": "x", "project": None}, "project"),
        ({"name": "x", "project": "not-mine"}, "project"),
        ({"name": "", "project": "mine"}, "name"),
        ({"name": "a\nb", "project": "mine"}, "name"),
        ({"name": "x" * 101, "project": "mine"}, "name"),
        ({"name": "x", "project": "mine", "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "x", "project": "mine", "scopes": ["write"]}, "scopes"),
    ],
)
def test_a_wrong_request_names_the_field(
    client: Client, project: Project, body: dict[str, object], field: str
) -> None:
    make_project("not-mine")
    client.force_login(make_member(project))
    answer = client.post(KEYS, body, content_type=JSON)
    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert not S3KeyPair.objects.exists()


def test_a_revoked_pair_is_gone_from_the_list_and_audited_once(
    client: Client, project: Project
) -> None:
    user = make_member(project)
    pair = actions.create_s3_key_pair(user, "rclone", project).pair
    client.force_login(user)
    for _ in range(2):
        assert client.delete(f"{KEYS}{pair.pk}/").status_code == 204
    assert client.get(KEYS).json()["results"] == []
    assert AuditEvent.objects.filter(verb="s3_key_pair.revoked").count() == 1


def test_somebody_elses_pair_is_neither_listed_nor_revoked(
    client: Client, project: Project
) -> None:
    pair = actions.create_s3_key_pair(make_member(project), "theirs", project).pair
    client.force_login(make_member(project))
    assert client.get(KEYS).json()["results"] == []
    assert client.delete(f"{KEYS}{pair.pk}/").status_code == 404
    assert S3KeyPair.objects.get().revoked_at is None


def test_a_token_makes_no_pair_that_could_outlive_or_outrank_it(
    client: Client, project: Project
) -> None:
    user = make_member(project)
    body = {"name": "more", "project": "mine"}
    write = actions.create_token(user, "ci", ["write"])
    answer = client.post(KEYS, body, content_type=JSON, headers=bearer(write.secret))
    assert (answer.status_code, answer.json()["code"]) == (403, "scope_missing")

    other = make_project("other")
    actions.grant_role(user, "viewer", other)
    bound = actions.create_token(user, "ci", ["admin"], project=other)
    answer = client.post(KEYS, body, content_type=JSON, headers=bearer(bound.secret))
    assert answer.status_code == 404
    assert not S3KeyPair.objects.exists()


def test_nobody_lists_nothing(client: Client) -> None:
    actions.create_s3_key_pair(make_user(), "x", make_project())
    assert client.get(KEYS).status_code == 401
