"""Signing in and out, as the portal does it."""

from __future__ import annotations

import pytest
from django.test import Client

from tests.factories.accounts import PASSWORD, make_user

pytestmark = pytest.mark.django_db

LOGIN = "/api/v1/auth/login/"
SESSION = "/api/v1/auth/session/"


def sign_in(client: Client, username: str, password: str, csrf: str = "") -> int:
    body = {"username": username, "password": password}
    headers = {"X-CSRFToken": csrf}
    answer = client.post(LOGIN, body, content_type="application/json", headers=headers)
    return answer.status_code


def test_the_session_of_nobody_is_told_and_sets_the_csrf_cookie(client: Client) -> None:
    answer = client.get(SESSION)
    nobody = {"authenticated": False, "user": None, "lacks_second_factor": False}
    assert answer.json() == nobody
    assert answer.cookies["csrftoken"].value


def test_signing_in_and_out_changes_the_session(client: Client) -> None:
    user = make_user("alice")
    assert sign_in(client, "alice", PASSWORD) == 200
    assert client.get(SESSION).json()["user"]["id"] == str(user.pk)
    assert client.post("/api/v1/auth/logout/").json() == {"provider_url": None}
    assert client.get(SESSION).json()["authenticated"] is False


def test_a_name_may_be_written_in_other_capitals_unless_two_people_differ_by_them() -> None:
    alice = make_user("alice")
    assert sign_in(client := Client(), "Alice", PASSWORD) == 200
    assert client.get(SESSION).json()["user"]["id"] == str(alice.pk)
    make_user("ALICE")
    assert sign_in(Client(), "Alice", PASSWORD) == 401
    assert sign_in(Client(), "alice", PASSWORD) == 200


def test_a_wrong_password_does_not_say_which_part_was_wrong(client: Client) -> None:
    make_user("alice")
    body = {"username": "alice", "password": "wrong"}
    known = client.post(LOGIN, body, content_type="application/json")
    unknown = client.post(LOGIN, {**body, "username": "bob"}, content_type="application/json")
    assert known.status_code == unknown.status_code == 401
    assert known["Content-Type"] == "application/problem+json"
    assert known.json()["code"] == unknown.json()["code"] == "bad_credentials"
    assert known.json()["detail"] == unknown.json()["detail"]


def test_the_eleventh_failure_is_told_to_wait_even_with_the_right_password(client: Client) -> None:
    make_user("alice")
    for _ in range(10):
        assert sign_in(client, "alice", "wrong") == 401
    body = {"username": "alice", "password": PASSWORD}
    answer = client.post(LOGIN, body, content_type="application/json")
    assert answer.status_code == 429
    assert answer.json()["code"] == "too_many_attempts"
    assert int(answer["Retry-After"]) > 0


def test_signing_in_needs_the_csrf_token() -> None:
    make_user("alice")
    strict = Client(enforce_csrf_checks=True)
    assert sign_in(strict, "alice", PASSWORD) == 403
    token = strict.get(SESSION).cookies["csrftoken"].value
    assert sign_in(strict, "alice", PASSWORD, csrf=token) == 200


def test_a_write_that_another_site_may_have_caused_is_told_so() -> None:
    make_user("alice")
    strict = Client(enforce_csrf_checks=True)
    token = strict.get(SESSION).cookies["csrftoken"].value
    assert sign_in(strict, "alice", PASSWORD, csrf=token) == 200
    answer = strict.post("/api/v1/tokens/", {"name": "x"}, content_type="application/json")
    assert (answer.status_code, answer.json()["code"]) == (403, "csrf_failed")


@pytest.mark.parametrize("body", ["", "[]", '"text"', "{", '{"username": 1}', '{"username": {}}'])
def test_a_malformed_body_is_a_clear_error(client: Client, body: str) -> None:
    answer = client.post(LOGIN, body, content_type="application/json")
    assert answer.status_code == 400
    assert answer.json()["code"] in {"invalid", "malformed_body"}
