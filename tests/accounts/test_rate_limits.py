"""How often one may ask: each token, person and address for itself; guesses at the door less."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest
import redis
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext
from rest_framework.test import APIClient
from structlog.testing import capture_logs

from atom.accounts import actions
from atom.accounts.models import ApiToken, User
from atom.core import rate_limits
from atom.settings.rates import parse_rate
from tests.factories.accounts import PASSWORD, make_member, make_project, make_user

pytestmark = pytest.mark.django_db

PROJECTS = "/api/v1/projects/"
SESSION = "/api/v1/auth/session/"
LOGIN = "/api/v1/auth/login/"


@pytest.fixture(autouse=True)
def small(settings: Any) -> None:
    """Three at once, and the next one only after an hour's third."""
    settings.ATOM_RATE_SIGNED_IN = parse_rate("3/h")
    settings.ATOM_RATE_ANONYMOUS = parse_rate("2/h")


@pytest.fixture
def member() -> User:
    return make_member(make_project("vision"))


def signed_in(user: User) -> Client:
    client = Client()
    client.force_login(user)
    return client


def with_token(user: User, name: str = "ci") -> APIClient:
    client = APIClient()
    secret = actions.create_token(user, name, ["read"]).secret
    client.credentials(HTTP_AUTHORIZATION=f"Bearer {secret}")
    return client


def statuses(client: Client | APIClient, address: str, times: int, **more: Any) -> list[int]:
    return [client.get(address, **more).status_code for _ in range(times)]


def test_who_asks_too_often_is_refused_and_told_when_to_come_back(member: User) -> None:
    client = signed_in(member)
    left = [client.get(PROJECTS)["RateLimit-Remaining"] for _ in range(3)]
    assert left == ["2", "1", "0"]
    answer = client.get(PROJECTS)
    assert answer.status_code == 429
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert problem["code"] == "too_many_requests"
    assert problem["retry_after_s"] == int(answer["Retry-After"])
    assert 1100 < int(answer["Retry-After"]) <= 1200
    assert (answer["RateLimit-Limit"], answer["RateLimit-Remaining"]) == ("3", "0")
    assert 3500 < int(answer["RateLimit-Reset"]) <= 3600


def test_each_person_and_each_token_has_its_own_share(member: User) -> None:
    script, other_script = with_token(member), with_token(member, "other")
    assert statuses(script, PROJECTS, 4) == [200, 200, 200, 429]
    assert statuses(other_script, PROJECTS, 1) == [200]
    assert statuses(signed_in(member), PROJECTS, 1) == [200]
    assert statuses(signed_in(make_user()), PROJECTS, 1) == [200]


def test_two_sessions_of_one_person_share(member: User) -> None:
    assert statuses(signed_in(member), PROJECTS, 3) == [200, 200, 200]
    assert statuses(signed_in(member), PROJECTS, 1) == [429]


@pytest.mark.parametrize("first", ["atom_abc_def", "atomlog_x", "nothing"])
def test_wrong_tokens_count_for_the_address(client: Client, member: User, first: str) -> None:
    headers = {"Authorization": f"Bearer {first}"}
    assert statuses(client, PROJECTS, 2, headers=headers) == [401, 401]
    # Another wrong token is no new caller, and an address that does not exist is an address.
    again = {"Authorization": "Bearer atom_other_one"}
    assert statuses(client, PROJECTS, 1, headers=again) == [429]
    assert statuses(client, "/api/v1/no/such/thing/", 1) == [429]
    assert statuses(signed_in(member), PROJECTS, 1) == [200]


def test_a_token_is_looked_up_once(member: User) -> None:
    script = with_token(member)
    script.get("/api/v1/users/me/")
    with CaptureQueriesContext(connection) as queries:
        assert script.get("/api/v1/users/me/").status_code == 200
    found = [one["sql"] for one in queries if ApiToken._meta.db_table in one["sql"]]
    assert len(found) == 1


def test_addresses_are_told_apart_and_a_claimed_one_is_not_believed(client: Client) -> None:
    assert statuses(client, SESSION, 3, REMOTE_ADDR="192.0.2.1") == [200, 200, 429]
    claimed = {"X-Forwarded-For": "198.51.100.7", "Forwarded": "for=198.51.100.7"}
    assert statuses(client, SESSION, 1, REMOTE_ADDR="192.0.2.1", headers=claimed) == [429]
    assert statuses(client, SESSION, 1, REMOTE_ADDR="192.0.2.2") == [200]


def test_a_whole_ipv6_network_is_one_caller(client: Client) -> None:
    taken = [client.get(SESSION, REMOTE_ADDR=f"2001:db8::{n}").status_code for n in range(1, 4)]
    assert taken == [200, 200, 429]
    assert statuses(client, SESSION, 1, REMOTE_ADDR="2001:db8:0:1::1") == [200]
    # The same machine, written in two ways.
    assert statuses(client, SESSION, 2, REMOTE_ADDR="::ffff:192.0.2.9") == [200, 200]
    assert statuses(client, SESSION, 1, REMOTE_ADDR="192.0.2.9") == [429]


def test_what_was_taken_comes_back(
    member: User, redis_connection: redis.Redis, settings: Any
) -> None:
    client = signed_in(member)
    assert statuses(client, PROJECTS, 4)[-1] == 429
    (key,) = redis_connection.keys("limit:user:*")
    # An hour's third passes: what is owed was due that much earlier.
    assert redis_connection.pttl(key) <= 3_600_000
    redis_connection.decrby(key, 1_200_000_000)
    assert statuses(client, PROJECTS, 2) == [200, 429]


def test_off_means_that_nothing_is_counted(
    member: User, redis_connection: redis.Redis, settings: Any
) -> None:
    settings.ATOM_RATE_SIGNED_IN = parse_rate("off")
    client = signed_in(member)
    answers = [client.get(PROJECTS) for _ in range(5)]
    assert {answer.status_code for answer in answers} == {200}
    assert "RateLimit-Limit" not in answers[-1].headers
    assert redis_connection.keys("limit:*") == []


@pytest.mark.parametrize(
    ("address", "status"), [("/healthz", 200), ("/readyz", 200), ("/api/v1/runner/job/", 401)]
)
def test_probes_and_runners_are_not_counted(client: Client, address: str, status: int) -> None:
    answers = [client.get(address) for _ in range(4)]
    assert {answer.status_code for answer in answers} == {status}
    assert "RateLimit-Limit" not in answers[0].headers


@pytest.fixture
def no_valkey(settings: Any, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """Limits are counted where nothing listens; the rest has its Valkey."""
    monkeypatch.setattr(rate_limits, "_outage", rate_limits._Outage())
    known = settings.REDIS_URL
    settings.REDIS_URL = "redis://127.0.0.1:9/0"
    rate_limits._script.cache_clear()
    rate_limits._script()
    settings.REDIS_URL = known
    yield
    rate_limits._script.cache_clear()


def test_without_valkey_requests_pass_and_one_line_says_so(no_valkey: None, member: User) -> None:
    client = signed_in(member)
    with capture_logs() as lines:
        assert statuses(client, PROJECTS, 6) == [200] * 6
    told = [line for line in lines if line["event"] == "rate_limits_are_off"]
    assert len(told) == 1


class TestSigningIn:
    """Only failures count: ten with one name, and some more from one address."""

    @pytest.fixture(autouse=True)
    def rates(self, small: None, settings: Any) -> None:
        settings.ATOM_RATE_ANONYMOUS = parse_rate("1000/s")
        settings.ATOM_RATE_SIGN_IN_NAME = parse_rate("2/h")
        settings.ATOM_RATE_SIGN_IN_ADDRESS = parse_rate("3/h")
        make_user("alice")
        make_user("bob")

    def attempt(self, name: str, password: str, address: str = "192.0.2.1") -> int:
        body = {"username": name, "password": password}
        answer = Client().post(LOGIN, body, content_type="application/json", REMOTE_ADDR=address)
        return answer.status_code

    def test_a_name_is_guarded_whatever_address_the_guesses_come_from(self) -> None:
        assert self.attempt("alice", "wrong", "192.0.2.1") == 401
        assert self.attempt("ALICE", "wrong", "192.0.2.2") == 401
        assert self.attempt("alice", PASSWORD, "192.0.2.3") == 429
        assert self.attempt("bob", PASSWORD, "192.0.2.1") == 200

    def test_an_address_cannot_try_one_password_on_every_name(self) -> None:
        assert [self.attempt(f"user-{n}", "wrong") for n in range(4)] == [401, 401, 401, 429]
        assert self.attempt("bob", PASSWORD) == 429
        assert self.attempt("bob", PASSWORD, "192.0.2.2") == 200

    def test_signing_in_takes_nothing_and_wipes_nothing_out(self) -> None:
        assert self.attempt("alice", "wrong") == 401
        assert [self.attempt("alice", PASSWORD) for _ in range(5)] == [200] * 5
        assert self.attempt("alice", "wrong") == 401
        assert self.attempt("alice", "wrong") == 429

    def test_the_refusal_says_how_long(self) -> None:
        for _ in range(2):
            self.attempt("alice", "wrong")
        body = {"username": "alice", "password": PASSWORD}
        answer = Client().post(
            LOGIN, body, content_type="application/json", REMOTE_ADDR="192.0.2.1"
        )
        assert answer.json()["code"] == "too_many_attempts"
        assert 1700 < int(answer["Retry-After"]) <= 1800
        assert answer["RateLimit-Limit"] == "2"
