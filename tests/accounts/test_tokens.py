"""API tokens: what programs sign in with."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from django.db import connection
from django.db.models import Model
from django.test import Client
from django.utils import timezone

from atom.accounts import actions
from atom.accounts.models import ApiToken, AuditEvent, Project, Unit, User
from tests.factories.accounts import make_member, make_project, make_user

pytestmark = pytest.mark.django_db

TOKENS = "/api/v1/tokens/"
ME = "/api/v1/users/me/"


def bearer(secret: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {secret}"}


def test_a_token_signs_in_and_only_its_hash_is_stored(client: Client) -> None:
    user = make_user()
    new = actions.create_token(user, "ci", ["read"])
    assert client.get(ME, headers=bearer(new.secret)).json()["username"] == user.username
    token = ApiToken.objects.get()
    assert token.secret_hash not in new.secret
    assert new.secret.rsplit("_", 1)[-1] not in str(ApiToken.objects.values().get())
    assert token.last_used_at is not None


@pytest.mark.parametrize("change", ["revoked", "expired", "tampered", "inactive"])
def test_a_token_that_is_no_longer_good_is_nobody(client: Client, change: str) -> None:
    new = actions.create_token(make_user(), "ci", ["read"])
    secret = new.secret
    if change == "revoked":
        actions.revoke_token(new.token, new.token.user)
    elif change == "expired":
        past = timezone.now() - timedelta(seconds=1)
        ApiToken.objects.update(expires_at=past)
    elif change == "inactive":
        new.token.user.is_active = False
        new.token.user.save()
    else:
        secret = secret[:-1] + ("a" if secret[-1] != "a" else "b")
    answer = client.get(ME, headers=bearer(secret))
    assert answer.status_code == 401
    assert answer["WWW-Authenticate"].startswith("Bearer")


def test_a_read_token_may_not_write(client: Client) -> None:
    new = actions.create_token(make_user(), "ci", ["read"])
    body = {"language": "zh"}
    answer = client.patch(ME, body, content_type="application/json", headers=bearer(new.secret))
    assert answer.status_code == 403
    assert answer.json()["code"] == "scope_missing"


def test_a_token_of_a_project_does_not_change_its_owner(client: Client) -> None:
    project = make_project("mine")
    user = make_member(project)
    bound = actions.create_token(user, "ci", ["write"], project=project)
    free = actions.create_token(user, "laptop", ["write"])

    def renamed(secret: str) -> Any:
        body = {"full_name": "Mallory", "language": "zh"}
        return client.patch(ME, body, content_type="application/json", headers=bearer(secret))

    refused = renamed(bound.secret)
    assert (refused.status_code, refused.json()["code"]) == (403, "token_of_project")
    user.refresh_from_db()
    assert (user.full_name, user.language) != ("Mallory", "zh")
    assert renamed(free.secret).status_code == 200


def test_a_token_bound_to_a_project_sees_no_other(client: Client) -> None:
    project = make_project("mine")
    user = make_member(project)
    actions.grant_role(user, "viewer", make_project("other"))
    new = actions.create_token(user, "ci", ["read"], project=project)
    rows = client.get("/api/v1/projects/", headers=bearer(new.secret)).json()["results"]
    assert [row["slug"] for row in rows] == ["mine"]


def test_the_secret_is_answered_once_and_the_creation_is_audited(client: Client) -> None:
    user = make_user()
    client.force_login(user)
    body = {"name": "ci", "scopes": ["read", "write"]}
    created = client.post(TOKENS, body, content_type="application/json")
    assert created.status_code == 201
    assert created.json()["secret"].startswith("atom_")
    assert "secret" not in client.get(TOKENS).json()["results"][0]
    event = AuditEvent.objects.get(verb="token.created")
    assert created.json()["secret"] not in str(event.data)


@pytest.mark.parametrize(
    ("body", "field"),
    [
        ({"name": "x", "scopes": []}, "scopes"),
        ({"name": "x", "scopes": ["root"]}, "scopes.0"),
        ({"name": "", "scopes": ["read"]}, "name"),
        ({"name": " \n", "scopes": ["read"]}, "name"),
        ({"name": "a\x1b[31mb", "scopes": ["read"]}, "name"),
        ({"name": "x" * 101, "scopes": ["read"]}, "name"),
        ({"name": "x", "scopes": ["read"], "expires_at": "2001-01-01T00:00:00Z"}, "expires_at"),
        ({"name": "x", "scopes": ["read"], "project": "not-mine"}, "project"),
    ],
)
def test_a_wrong_token_request_names_the_field(
    client: Client, body: dict[str, object], field: str
) -> None:
    make_project("not-mine")
    client.force_login(make_user())
    answer = client.post(TOKENS, body, content_type="application/json")
    assert answer.status_code == 400
    assert field in answer.json()["errors"]
    assert not ApiToken.objects.exists()


def test_a_token_cannot_be_revoked_by_somebody_else(client: Client) -> None:
    new = actions.create_token(make_user(), "ci", ["read"])
    client.force_login(make_user())
    assert client.delete(f"{TOKENS}{new.token.pk}/").status_code == 404
    assert ApiToken.objects.get().revoked_at is None


def test_a_token_without_admin_scope_makes_no_tokens(client: Client) -> None:
    new = actions.create_token(make_user(), "ci", ["write"])
    body = {"name": "more", "scopes": ["admin"]}
    answer = client.post(TOKENS, body, content_type="application/json", headers=bearer(new.secret))
    assert answer.status_code == 403
    assert ApiToken.objects.count() == 1


def test_a_token_of_a_project_makes_none_that_reaches_further(client: Client) -> None:
    mine, other = make_project("mine"), make_project("other")
    user = make_member(mine, "admin")
    actions.grant_role(user, "admin", other)
    bound = actions.create_token(user, "ci", ["admin"], project=mine)
    unbound = actions.create_token(user, "laptop", ["read"])

    def made(**fields: str) -> tuple[int, str]:
        body = {"name": "more", "scopes": ["admin"], **fields}
        answer = client.post(
            TOKENS, body, content_type="application/json", headers=bearer(bound.secret)
        )
        return answer.status_code, answer.json().get("code", "")

    assert made() == (403, "scope_missing")
    assert made(project="other") == (404, "not_found")
    assert made(project="mine")[0] == 201

    listed = client.get(TOKENS, headers=bearer(bound.secret)).json()["results"]
    assert {row["name"] for row in listed} == {"ci", "more"}
    revoked = client.delete(f"{TOKENS}{unbound.token.pk}/", headers=bearer(bound.secret))
    assert revoked.status_code == 404
    assert ApiToken.objects.get(pk=unbound.token.pk).revoked_at is None


def test_a_token_of_a_project_does_not_administer_the_installation(client: Client) -> None:
    project, root = make_project("mine"), make_user(is_superuser=True)
    bound = bearer(actions.create_token(root, "ci", ["admin"], project=project).secret)
    free = bearer(actions.create_token(root, "root", ["admin"]).secret)
    organisations = "/api/v1/organisations/"
    assert client.get(organisations, headers=bound).status_code == 404
    [found] = client.get(organisations, headers=free).json()["results"]
    body = {"organisation": found["id"], "name": "New"}
    for headers, status in ((bound, 403), (free, 201)):
        answer = client.post(
            "/api/v1/units/", body, content_type="application/json", headers=headers
        )
        assert answer.status_code == status, answer.json()


@pytest.mark.parametrize("model", [ApiToken, User, Project, Unit])
def test_what_each_request_looks_up_needs_no_conversion(model: type[Model]) -> None:
    """PostgreSQL itself is asked: a column whose value Django would convert must not be in it."""
    fields = model._meta.concrete_fields
    assert not [field.attname for field in fields if field.get_db_converters(connection)]
