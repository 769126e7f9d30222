"""`atom unit`, `atom service-account` and `atom audit` against the real API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import click
import pytest
from click.testing import CliRunner

from atom.accounts import audit
from atom.accounts.actions import create_token, grant_role
from atom.accounts.models import AuditEvent, Project, ServiceAccount, Unit, User
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client, config
from atom_sdk.client.errors import ApiError, NotFoundError
from tests.factories.accounts import make_project, make_unit, make_user

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def unit() -> Unit:
    return make_unit()


@pytest.fixture
def ada(unit: Unit) -> User:
    """An administrator of a unit, and so of the project `vision` below it."""
    make_project("vision", unit)
    user = make_user("ada")
    grant_role(user, "admin", unit)
    return user


@pytest.fixture
def run_text(live_server: Any, ada: User) -> Any:
    """Run a command as Ada; returns what it writes."""
    secret = create_token(ada, "cli", ["admin"]).secret

    def run(*words: str) -> str:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            done = CliRunner().invoke(cli, words, obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return done.stdout

    return run


@pytest.fixture
def run(run_text: Any) -> Any:
    """Run a command as Ada; returns its JSON."""
    return lambda *words: json.loads(run_text("--json", *words))


def test_the_tree_is_kept_by_command(run: Any, run_text: Any, unit: Unit) -> None:
    vision = run("unit", "add", "Vision", "--below", unit.name)
    speech = run("unit", "add", "Speech", "--below", str(unit.pk))
    inner = run("unit", "add", "Inner", "--below", "Vision")
    assert inner["parent"] == vision["id"]
    assert "  Vision" in run_text("unit", "ls")
    assert run("unit", "move", "Inner", "Speech")["parent"] == speech["id"]
    assert run("unit", "rename", "Inner", "Lab")["name"] == "Lab"
    assert run("unit", "add-project", "Lab", "ears")["slug"] == "ears"
    with pytest.raises(ApiError, match="projects: 1,"):
        run("unit", "rm", "Lab")
    run("unit", "move-project", "ears", "Speech")
    assert Project.objects.get(slug="ears").unit.name == "Speech"
    assert [row["slug"] for row in run("unit", "projects", "Speech")] == ["ears"]
    assert run("unit", "rm", "Lab") == {"removed": inner["id"]}
    assert {row["name"] for row in run("unit", "ls")} == {unit.name, "Vision", "Speech"}


def test_a_first_project_is_added_and_chosen_by_command(
    run: Any, unit: Unit, live_server: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ATOM_CONFIG", str(tmp_path / "config.json"))
    config.save(config.Config(live_server.url, "atom_x"))
    made = run("project", "add", "flowers")
    assert (made["name"], made["unit_name"]) == ("flowers", unit.name)
    assert config.saved().project == "flowers"
    run("project", "add", "cells", "--unit", unit.name)
    assert run("project", "use", "flowers") == {"project": "flowers"}
    assert config.saved() == config.Config(live_server.url, "atom_x", "flowers")
    assert [row["slug"] for row in run("project", "ls")] == ["cells", "flowers", "vision"]
    with pytest.raises(NotFoundError, match="no project 'none'"):
        run("project", "use", "none")


def test_a_unit_is_named_so_that_one_is_meant(run: Any, unit: Unit) -> None:
    for parent in (unit.name, run("unit", "add", "A", "--below", unit.name)["id"]):
        run("unit", "add", "Twin", "--below", parent)
    with pytest.raises(click.UsageError, match="2 units are called Twin"):
        run("unit", "rm", "Twin")
    with pytest.raises(NotFoundError, match="no unit 'Nowhere'"):
        run("unit", "rm", "Nowhere")
    with pytest.raises(click.UsageError, match="Say where"):
        run("unit", "add", "Lost")
    # The top of a tree is for administrators of the installation.
    with pytest.raises(ApiError):
        run("unit", "add", "Top", "--organisation", unit.organisation.name)


@pytest.mark.parametrize("of_unit", [False, True])
def test_accounts_of_programs_are_kept_by_command(run: Any, unit: Unit, of_unit: bool) -> None:
    place = ("--unit", str(unit.pk)) if of_unit else ()
    account = ("service-account",)
    made = run(*account, "add", "ci", "researcher", *place)
    assert (made["name"], made["role"]) == ("ci", "researcher")
    assert run(*account, "role", "ci", "labeler", *place)["role"] == "labeler"
    token = run(*account, "add-token", "ci", "night", "--scope", "push", *place)
    assert token["secret"].startswith("atom_")
    listed = run(*account, "tokens", "ci", *place)
    assert [row["name"] for row in listed] == ["night"]
    assert "secret" not in listed[0]
    run(*account, "revoke-token", "ci", token["id"], *place)
    assert run(*account, "tokens", "ci", *place) == []
    assert run(*account, "deactivate", "ci", *place)["is_active"] is False
    with pytest.raises(ApiError, match="deactivated"):
        run(*account, "add-token", "ci", "late", *place)
    assert run(*account, "activate", made["username"], *place)["is_active"] is True
    assert [row["name"] for row in run(*account, "ls", *place)] == ["ci"]
    with pytest.raises(NotFoundError, match="no service account 'other'"):
        run(*account, "deactivate", "other", *place)
    assert ServiceAccount.objects.count() == 1


# The tests' server is no ASGI server, and says that it has to collect a stream.
@pytest.mark.filterwarnings("ignore:StreamingHttpResponse must consume:Warning")
def test_the_audit_log_is_written_to_a_file_when_it_is_whole(
    run: Any, run_text: Any, tmp_path: Path, ada: User
) -> None:
    project = Project.objects.get(slug="vision")
    for number in range(3):
        audit.record(ada, "version.published", project, project, number=number, word="数据")
    lines = run_text(
        "audit", "export", "--format", "jsonl", "--verb", "version.published", "--actor", "ada",
        "--only", "vision", "--from", "2020-01-01T00:00:00Z",
    )  # fmt: skip
    events = [json.loads(line) for line in lines.splitlines()]
    assert [event["data"]["number"] for event in events] == [2, 1, 0]
    file = tmp_path / "audit.csv"
    assert run("audit", "export", "--object", str(project.pk), "-o", str(file)) == {
        "written": str(file)
    }
    assert "数据" in file.read_text(encoding="utf-8")
    before = file.read_bytes()
    with pytest.raises(ApiError, match=r"2026-01-31T08:00:00Z|not valid"):
        run("audit", "export", "--from", "yesterday", "-o", str(file))
    assert (file.read_bytes(), list(tmp_path.iterdir())) == (before, [file])
    assert AuditEvent.objects.filter(verb="version.published").count() == 3
