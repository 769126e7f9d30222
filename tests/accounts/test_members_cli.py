"""`atom member` against the real API."""

from __future__ import annotations

import json
from typing import Any

import pytest
from click.testing import CliRunner
from django.core.management import CommandError, call_command

from atom.accounts.actions import create_token
from atom.accounts.models import RoleBinding, User
from atom_sdk.cli.context import EXIT_NOT_FOUND, Context, exit_code_of
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import NotFoundError
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
    with pytest.raises(NotFoundError, match="no member mia") as gone:
        run("rm", "mia")
    assert exit_code_of(gone.value) == EXIT_NOT_FOUND
    assert "/invite/" in run("invite", "viewer")["link"]


@pytest.mark.django_db
@pytest.mark.parametrize("weak", ["1", "password", "mia-the-labeler"])
def test_the_servers_command_takes_no_password_that_the_portal_refuses(
    monkeypatch: pytest.MonkeyPatch, weak: str
) -> None:
    make_project("vision")
    asked = ("add_member", "mia-the-labeler", "--project", "vision", "--role", "labeler")
    monkeypatch.setenv("ATOM_MEMBER_PASSWORD", weak)
    with pytest.raises(CommandError, match="ATOM_MEMBER_PASSWORD is refused: "):
        call_command(*asked)
    assert not User.objects.exists()

    monkeypatch.setenv("ATOM_MEMBER_PASSWORD", "correct horse battery staple")
    call_command(*asked)
    assert User.objects.get().check_password("correct horse battery staple")


@pytest.mark.django_db
def test_the_servers_command_names_nobody_like_a_service_account(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    make_project("vision")
    monkeypatch.setenv("ATOM_MEMBER_PASSWORD", "correct horse battery staple")
    with pytest.raises(CommandError, match="service account"):
        call_command("add_member", "ci@vision", "--project", "vision", "--role", "labeler")
    assert not User.objects.exists()
