"""Service accounts: programs that act under a role of their own."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client
from rest_framework.test import APIClient

from atom.accounts import actions
from atom.accounts.models import ApiToken, Project, ServiceAccount, User
from tests.factories.accounts import make_member, make_project, make_unit, make_user

pytestmark = pytest.mark.django_db
AT = "/api/v1/projects/vision/service-accounts/"


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def api(project: Project) -> APIClient:
    client = APIClient()
    client.force_authenticate(make_member(project, "admin", "ada"))
    return client


def made(api: APIClient, role: str = "researcher") -> dict[str, Any]:
    answer = api.post(AT, {"name": "ci", "role": role})
    assert answer.status_code == 201, answer.content
    return dict(answer.json())


def token_of(api: APIClient, account: dict[str, Any], **body: Any) -> dict[str, Any]:
    path = f"{AT}{account['id']}/tokens/"
    return dict(api.post(path, {"name": "nightly", "scopes": ["write"], **body}).json())


def bearer(secret: str) -> APIClient:
    return APIClient(headers={"Authorization": f"Bearer {secret}"})


def test_a_program_acts_under_the_role_of_its_account(api: APIClient, project: Project) -> None:
    account = made(api)
    assert (account["username"], account["role"]) == ("ci@vision", "researcher")
    token = token_of(api, account)
    program = bearer(token["secret"])
    assert program.post("/api/v1/projects/vision/datasets/", {"name": "x"}).status_code == 201
    assert program.get("/api/v1/projects/vision/members/").status_code == 403
    (listed,) = api.get(AT).json()["results"]
    assert (listed["token_count"], listed["last_used_at"] is not None) == (1, True)
    (shown,) = api.get(f"{AT}{account['id']}/tokens/").json()["results"]
    assert "secret" not in shown
    assert ApiToken.objects.get().project == project
    names = [
        row["username"] for row in api.get("/api/v1/projects/vision/members/").json()["results"]
    ]
    assert names == ["ada"]
    assert api.post(AT, {"name": "ci", "role": "viewer"}).json()["code"] == "already_exists"


def test_nobody_signs_in_as_a_program(api: APIClient, client: Client) -> None:
    made(api)
    for password in ("", "!", "ci@vision"):
        body = {"username": "ci@vision", "password": password}
        answer = client.post("/api/v1/auth/login/", body, content_type="application/json")
        assert answer.status_code in {400, 401}


def test_a_program_makes_no_keys_of_its_own(api: APIClient) -> None:
    account = made(api, "admin")
    program = bearer(token_of(api, account, scopes=["admin"])["secret"])
    body = {"name": "more", "scopes": ["admin"]}
    assert program.post("/api/v1/tokens/", body).status_code == 403
    key = {"name": "s3", "project": "vision"}
    assert program.post("/api/v1/s3-keys/", key).status_code == 403


def test_deactivating_ends_its_tokens_for_good(api: APIClient) -> None:
    account = made(api)
    secret = token_of(api, account)["secret"]
    one = f"{AT}{account['id']}/"
    assert api.patch(one, {"is_active": False}).json()["token_count"] == 0
    assert bearer(secret).get("/api/v1/projects/").status_code == 401
    refused = api.post(f"{one}tokens/", {"name": "x", "scopes": ["read"]})
    assert (refused.status_code, refused.json()["code"]) == (409, "account_inactive")
    assert api.patch(one, {"is_active": True}).json()["is_active"] is True
    assert bearer(secret).get("/api/v1/projects/").status_code == 401


def test_a_role_is_changed_and_a_token_revoked(api: APIClient) -> None:
    account = made(api)
    one = f"{AT}{account['id']}/"
    assert api.patch(one, {"role": "viewer"}).json()["role"] == "viewer"
    token = token_of(api, account)
    program = bearer(token["secret"])
    assert program.post("/api/v1/projects/vision/datasets/", {"name": "x"}).status_code == 403
    assert api.delete(f"{one}tokens/{token['id']}/").status_code == 204
    assert program.get("/api/v1/projects/").status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"name": "Not a slug", "role": "viewer"},
        {"name": "ci", "role": "root"},
        {"name": "ci", "role": "viewer", "is_superuser": True},
    ],
)
def test_a_wrong_account_is_refused(api: APIClient, body: dict[str, Any]) -> None:
    assert api.post(AT, body).status_code == 400
    assert not ServiceAccount.objects.exists()


def test_accounts_of_another_project_are_not_found(api: APIClient) -> None:
    account = made(api)
    token = token_of(api, account)
    other = APIClient()
    other.force_authenticate(make_member(make_project("other"), "admin"))
    base = f"/api/v1/projects/other/service-accounts/{account['id']}/"
    assert other.patch(base, {"is_active": False}).status_code == 404
    assert other.get(f"{base}tokens/").status_code == 404
    assert other.delete(f"{base}tokens/{token['id']}/").status_code == 404
    # Nor is the program added to another project as if it were a person.
    body = {"username": "ci@vision", "role": "admin"}
    assert other.post("/api/v1/projects/other/members/", body).status_code == 400


def test_a_unit_with_programs_is_deleted_after_they_are_deactivated() -> None:
    top = make_unit()
    below = make_unit(top)
    boss = make_user()
    actions.grant_role(boss, "admin", top)
    client = APIClient()
    client.force_authenticate(boss)
    base = f"/api/v1/units/{below.pk}/"
    account = client.post(f"{base}service-accounts/", {"name": "ci", "role": "viewer"}).json()
    assert client.delete(base).json()["service_accounts"] == 1
    client.patch(f"{base}service-accounts/{account['id']}/", {"is_active": False})
    assert client.delete(base).status_code == 204
    assert ServiceAccount.objects.get().unit == top
    assert not User.objects.get(username=account["username"]).is_active
