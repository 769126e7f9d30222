"""`atom webhook` against the real API, and a real receiver."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.webhooks.models import Webhook
from atom_sdk.cli.context import EXIT_FAILED, Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, NotFoundError
from atom_sdk.webhooks import verify
from tests.factories.accounts import make_member, make_project
from tests.webhooks.receiving import Receiver, receiver

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def place(settings: Any) -> Iterator[Receiver]:
    settings.ATOM_WEBHOOK_ALLOW = ["127.0.0.1"]
    with receiver() as found:
        yield found


@pytest.fixture
def run(live_server: Any) -> Any:
    """Run a command as an administrator of a project; returns its exit code and its JSON."""
    secret = create_token(make_member(make_project("vision"), "admin"), "cli", ["admin"]).secret

    def run(*words: str) -> tuple[Any, Any]:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(
                cli, ["--json", "webhook", *words], obj=context, standalone_mode=False
            )
        if done.exception is not None:
            raise done.exception
        return done.return_value, json.loads(done.stdout)

    return run


def test_a_webhook_is_made_tried_and_removed(run: Any, place: Receiver) -> None:
    _, made = run("create", "ci", place.url, "-e", "run.failed", "-e", "version.committed")
    code, tried = run("test", "ci")
    assert (code, tried["state"], tried["status_code"]) == (0, "delivered", 204)
    headers, body = place.requests[0]
    verify(made["secret"], body, headers["Atom-Signature"])
    _, rows = run("ls")
    assert [(row["name"], row["active"]) for row in rows] == [("ci", True)]
    assert made["secret"] not in json.dumps(rows)
    place.then(500)
    code, tried = run("test", made["id"])
    assert (code, tried["state"]) == (EXIT_FAILED, "failed")
    assert run("rm", "ci")[1] == {"removed": made["id"]}
    assert not Webhook.objects.exists()
    with pytest.raises(NotFoundError, match="no webhook 'ci'") as missing:
        run("test", "ci")
    assert missing.value.hint == "List them: atom webhook ls"
    with pytest.raises(ApiError) as refused:
        run("create", "x", place.url, "-e", "nope")
    assert '"nope" is not a valid choice. Choose from alias.moved, ' in str(refused.value.errors)
