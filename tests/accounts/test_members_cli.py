"""`atom member` against the real API."""

from __future__ import annotations

import json
from typing import Any

import click
import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.accounts.models import RoleBinding
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from tests.factories.accounts import make_member, make_project, make_user


@pytest.fixture
def run(live_server: Any) -> Any:
    """Run a command as an administrator of a project; returns its JSON."""
    project = make_project("vision")
    admin = make_member(project, "admin", "ada")
    secret = create_token(admin, "cli", ["admin"]).secret

    def run(*words: str) -> Any:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(
                cli, ["--json", "member", *words], obj=context, standalone_mode=False
            )
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout)

    return run


def test_members_are_managed_by_command(run: Any) -> None:
    make_user("mia")
    assert run("add", "mia", "viewer")["direct_role"] == "viewer"
    assert run("role", "mia", "labeler")["role"] == "labeler"
    assert [row["username"] for row in run("ls")] == ["ada", "mia"]
    assert run("rm", "mia") == {"removed": "mia"}
    assert RoleBinding.objects.count() == 1
    with pytest.raises(click.UsageError, match="no member mia"):
        run("rm", "mia")
    assert "/invite/" in run("invite", "viewer")["link"]
