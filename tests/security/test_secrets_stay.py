"""Secrets in every place of a request, and then a look for them wherever something is kept.

Each place has a secret of its own, so that what is found says where it got out.
"""

from __future__ import annotations

import base64
import json
import logging
import secrets
from collections.abc import Iterator
from typing import Any

import pytest
from django.core import mail
from django.db import connection
from django.test import Client

from atom.jobs.code.actions import code_fetches
from atom.jobs.models import CodeFetch
from atom.webhooks.actions import deliveries
from tests.factories.accounts import PASSWORD, make_member, make_project
from tests.webhooks.receiving import Receiver, receiver

pytestmark = pytest.mark.usefixtures("committing_db")

API = "/api/v1/"
HERE = f"{API}projects/vision/"


class Secrets:
    """Makes secrets, and looks for them in texts; `add_secret` is for those in one answer."""

    def __init__(self) -> None:
        self.made: dict[str, str] = {}

    def of(self, place: str) -> str:
        return self.made.setdefault(place, f"Zq9{secrets.token_hex(12)}")

    def add_secret(self, place: str, secret: str) -> None:
        assert len(secret) >= 6, place
        self.made[place] = secret

    def found_in(self, text: str) -> list[str]:
        return [place for place, secret in self.made.items() if secret in text]


class Visitor:
    """Asks as a browser does; no problem document may repeat what was sent."""

    def __init__(self, kept: Secrets) -> None:
        self.kept, self.client = kept, Client(raise_request_exception=False)

    def ask(self, method: str, path: str, body: Any = None, **headers: str) -> Any:
        content = body if isinstance(body, str) else json.dumps(body)
        sent = {"data": content, "content_type": "application/json"} if body is not None else {}
        answer = getattr(self.client, method)(path, headers=headers, **sent)
        assert answer.status_code < 500 or answer.status_code == 502, (path, answer.content)
        if answer.status_code >= 400:
            assert self.kept.found_in(answer.content.decode()) == [], path
        return answer

    def post(self, path: str, body: Any, status: int) -> Any:
        answer = self.ask("post", path, body)
        assert answer.status_code == status, (path, answer.content)
        return answer.json() if answer.content else None


@pytest.fixture
def place(settings: Any) -> Iterator[Receiver]:
    settings.ATOM_WEBHOOK_ALLOW = settings.ATOM_SOURCE_ALLOW = ["127.0.0.1"]
    with receiver() as found:
        yield found


def _everywhere(visitor: Visitor, kept: Secrets) -> None:
    """Where a request can carry something, whatever is asked."""
    for name in ("Authorization", "X-Api-Key", "Cookie", "Referer"):
        for form in ("Bearer atom_{}", "Basic {}", "Token {}", "atom_session={}"):
            secret = kept.of(f"{name} {form}")
            if form.startswith("Basic"):
                secret = base64.b64encode(f"me:{secret}".encode()).decode()
            for path in (f"{API}users/me/", f"{API}runner/hello/", "/api/mlflow/vision/x"):
                visitor.ask("get", path, **{name: form.format(secret)})
    for path in ("runs/", "auth/oidc/callback/", "auth/session/", "nowhere/"):
        names = ("token", "code", "state", "password", "access_token")
        query = "&".join(f"{name}={kept.of(f'query {name}')}" for name in names)
        visitor.ask("get", f"{API}{path}?{query}&{kept.of('query, bare')}")
    for broken in ('{{"password": "{}"', '["{}"]', '"{}"', '{{"password": {{"a": "{}"}}}}'):
        for path in ("auth/login/", "auth/password/", "tokens/", "auth/reset/"):
            visitor.ask("post", API + path, broken.format(kept.of(f"body {broken}")))


def _signing_in(visitor: Visitor, kept: Secrets) -> None:
    wrong = {"username": "owner", "password": kept.of("wrong password")}
    visitor.post(f"{API}auth/login/", wrong, 401)
    visitor.post(f"{API}auth/login/", {"username": "owner", "password": PASSWORD}, 200)
    for current, new, status in (
        (kept.of("guessed password"), kept.of("refused password"), 400),
        (PASSWORD, "12345678", 400),
        (PASSWORD, kept.of("password"), 204),
    ):
        body = {"current_password": current, "new_password": new}
        answer = visitor.ask("post", f"{API}auth/password/", body)
        assert answer.status_code in {status, 200}, answer.content
    mine = {"password": kept.of("password")}
    kept.add_secret("second factor", visitor.post(f"{API}auth/second-factor/", mine, 200)["secret"])
    code = {"code": kept.of("code of a second factor")[:20]}
    visitor.ask("post", f"{API}auth/second-factor/confirm/", code)
    visitor.ask("post", f"{API}auth/reset/", {"link": kept.of("link"), "password": kept.of("r")})


def _things(visitor: Visitor, kept: Secrets, place: Receiver) -> None:
    token = visitor.post(f"{API}tokens/", {"name": "t", "scopes": ["read"]}, 201)
    kept.add_secret("token", token["secret"])
    pair = visitor.post(f"{API}s3-keys/", {"name": "k", "project": "vision"}, 201)
    kept.add_secret("S3 key", pair["secret_access_key"])
    value = {"value": kept.of("project's secret")}
    assert visitor.ask("put", f"{HERE}secrets/KEY/", value).status_code < 300
    visitor.ask("put", f"{HERE}secrets/KEY/", {"value": [kept.of("list as a secret")]})
    hook = {"name": "h", "url": place.url, "events": ["run.failed"], "secret": kept.of("hook")}
    made = visitor.post(f"{HERE}webhooks/", hook, 201)
    visitor.ask("post", f"{HERE}webhooks/", {**hook, "events": ["nonsense"]})
    visitor.ask("post", f"{HERE}webhooks/{made['id']}/test/", {})
    rotated = {"secret": kept.of("rotated hook"), "overlap_hours": 1}
    visitor.ask("post", f"{HERE}webhooks/{made['id']}/rotate-secret/", rotated)
    link = visitor.post(f"{HERE}invitations/", {"role": "viewer", "email": "a@b.test"}, 201)
    kept.add_secret("invitation", str(link.get("link") or link["url"]).rpartition("/")[2])
    run = visitor.post(f"{HERE}runs/", {"command": ["true"]}, 201)
    shared = visitor.post(f"{API}runs/{run['id']}/shares/", {"note": "for Bo"}, 201)
    kept.add_secret("link to a run", shared["token"])
    for token in (shared["token"], kept.of("wrong link to a run")):
        for path in ("", "metrics/", "log/"):
            visitor.ask("get", f"{API}shared-run/{path}", **{"Atom-Share": token})
    robot = visitor.post(f"{HERE}service-accounts/", {"name": "robot", "role": "viewer"}, 201)
    path = f"{HERE}service-accounts/{robot['id']}/tokens/"
    kept.add_secret("robot", visitor.post(path, {"name": "t", "scopes": ["read"]}, 201)["secret"])


def _sources(visitor: Visitor, kept: Secrets, place: Receiver) -> None:
    closed, there = "http://127.0.0.1:9", place.url.rpartition("/")[0]
    account = {"client_email": "a@b.test", "private_key": kept.of("PEM"), "token_uri": closed}
    names = ("access_key_id", "secret_access_key", "session_token")
    keys: tuple[dict[str, Any], ...] = (
        {"url": "s3://bucket", **{name: kept.of(name) for name in names}},
        {"url": "az://acct/data", "account_key": kept.of("account key")},
        {"url": "az://acct/data", "sas_token": f"?sig={kept.of('SAS')}"},
        {"url": "gs://data", "service_account": json.dumps(account)},
        {"url": "webhdfs://127.0.0.1:9/lake", "delegation_token": kept.of("delegation")},
        {"url": f"http://me:{kept.of('userinfo')}@127.0.0.1:9/list.txt"},
    )
    for number, body in enumerate(keys):
        for endpoint in (closed, there):
            more = {"endpoint": endpoint} if body["url"][:2] in {"s3", "az", "gs"} else {}
            visitor.ask("post", f"{HERE}source-tests/", {**body, **more})
            named = {"name": f"s{number}", "dataset": "d", **body, **more}
            visitor.ask("post", f"{HERE}sources/", named, **{"Idempotency-Key": f"{number}"})
    git = {"url": f"{there}/code.git", "secret": "KEY"}
    made = visitor.post(f"{HERE}code-fetches/", git, 202)
    code_fetches.run_fetch(CodeFetch.objects.get(pk=made["id"]).pk)
    visitor.ask("post", f"{HERE}code-fetches/", {"url": f"https://me:{kept.of('git')}@host/code"})


def _rows() -> str:
    """Everything that the database holds, except what Django keeps sessions by."""
    with connection.cursor() as cursor:
        cursor.execute(
            "SELECT table_name FROM information_schema.tables WHERE table_schema='public'"
        )
        tables = [name for (name,) in cursor.fetchall()]
        found = []
        for table in tables:
            cursor.execute(f'SELECT row_to_json(t)::text FROM "{table}" t')
            found += [f"{table} {text}" for (text,) in cursor.fetchall()]
    return "\n".join(found)


def test_no_secret_is_logged_kept_in_clear_or_sent_on(
    caplog: pytest.LogCaptureFixture, place: Receiver
) -> None:
    caplog.set_level(logging.INFO)
    project = make_project("vision")
    make_member(project, "admin", "owner")
    kept = Secrets()
    visitor = Visitor(kept)
    _everywhere(visitor, kept)
    _signing_in(visitor, kept)
    _things(visitor, kept, place)
    _sources(visitor, kept, place)
    deliveries.tick()
    assert len(kept.made) > 40
    # All of them were sent, and the log has a line of each request: nothing was looked for in vain.
    said = "\n".join(f"{record.__dict__}" for record in caplog.records)
    assert said.count("request_finished") > 100
    rows = _rows()
    assert "webhook.created" in rows
    bodies = "\n".join(f"{headers} {body!r}" for headers, body in place.requests)
    mails = "\n".join(f"{one.subject} {one.body}" for one in mail.outbox)
    assert place.requests
    leaks = {
        "log": kept.found_in(said),
        "database": [row[:60] for row in rows.split("\n") if kept.found_in(row)],
        "webhooks": [name for name in kept.found_in(bodies) if name in {"hook", "rotated hook"}],
        "mails": kept.found_in(mails),
    }
    assert leaks == {name: [] for name in leaks}
