"""Rules that hold for every endpoint."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db


@pytest.mark.parametrize(
    "address",
    ["/api/v1/projects/a%00b/runs/", "/api/v1/audit/?actor=%00", "/api/v1/projects/%00/models/x/"],
)
def test_a_nul_in_the_address_is_a_clear_error(client: Client, address: str) -> None:
    client.force_login(make_member(make_project(), "admin"))
    answer = client.get(address)
    assert answer.status_code == 400
    assert answer["Content-Type"] == "application/problem+json"


def test_an_unknown_address_below_the_api_is_a_problem_document(client: Client) -> None:
    answer = client.get("/api/v1/no/such/thing/")
    assert answer.status_code == 404
    assert answer.json()["code"] == "not_found"


@pytest.mark.parametrize("limit", ["0", "-1", "201", "many", "1.5", ""])
def test_a_wrong_limit_names_the_parameter(client: Client, limit: str) -> None:
    client.force_login(make_member(make_project(), "admin"))
    answer = client.get("/api/v1/projects/", {"limit": limit})
    assert answer.status_code == 400
    assert "limit" in answer.json()["errors"]


@pytest.mark.parametrize("cursor", ["x", "W10", "WyJhIl0x", "%%%", "WzFd" * 50])
def test_a_cursor_that_we_did_not_hand_out_is_refused(client: Client, cursor: str) -> None:
    project = make_project()
    client.force_login(make_member(project, "admin"))
    answer = client.get(f"/api/v1/projects/{project.slug}/runs/", {"cursor": cursor})
    assert answer.status_code == 400


def test_pages_follow_each_other_without_a_gap_or_a_repetition(client: Client) -> None:
    user = make_member(make_project("p00"), "viewer")
    from atom.accounts import actions

    names = [f"p{number:02d}" for number in range(1, 12)]
    for name in names:
        actions.grant_role(user, "viewer", make_project(name))
    client.force_login(user)
    seen: list[str] = []
    cursor: str | None = ""
    while cursor is not None:
        query = {"limit": 5} | ({"cursor": cursor} if cursor else {})
        page = client.get("/api/v1/projects/", query).json()
        seen += [row["slug"] for row in page["results"]]
        cursor = page["next"]
    assert seen == ["p00", *names]


def test_the_same_idempotency_key_creates_once(client: Client) -> None:
    project = make_project()
    client.force_login(make_member(project, "researcher"))
    address = f"/api/v1/projects/{project.slug}/datasets/"

    def create(name: str) -> tuple[int, str]:
        answer = client.post(
            address,
            {"name": name},
            content_type="application/json",
            headers={"Idempotency-Key": "one"},
        )
        return answer.status_code, answer.json().get("id") or answer.json()["code"]

    first = create("digits")
    assert first[0] == 201
    assert create("digits") == first
    assert create("other") == (409, "idempotency_key_reused")
