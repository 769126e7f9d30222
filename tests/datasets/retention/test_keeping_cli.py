"""`atom data retention|restore|hold` against the real API."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atom.accounts.actions import grant_role
from atom.datasets.models import Dataset
from atom.datasets.retention.actions.retention import expire_versions
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError, DatasetNotFoundError
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, new_pusher, png


@pytest.fixture
def pusher(transactional_db: None) -> Pusher:
    """Three versions, by an administrator."""
    return made_once(push_three)


def push_three() -> Pusher:
    pusher = new_pusher()
    grant_role(pusher.user, "admin", pusher.project)
    for number in range(3):
        pusher.push({f"{number}.png": png(number)})
    return pusher


@pytest.fixture
def run(client: Client) -> Any:
    """Run a command as an administrator; returns its JSON."""

    def run(*words: str) -> Any:
        context = Context()
        context._client = client
        done = CliRunner().invoke(cli, ["--json", "data", *words], obj=context)
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout)

    return run


def test_versions_expire_and_are_restored_by_command(run: Any, client: Client) -> None:
    assert run("retention", "digits")["kind"] == "all"
    assert run("retention", "digits", "--last", "1")["due"] == ["v1", "v2"]
    expire_versions(Dataset.objects.get())
    context = Context()
    context._client = client
    listed = CliRunner().invoke(cli, ["data", "log", "digits"], obj=context).output
    assert listed.count("(expired)") == 2

    with pytest.raises(ApiError, match="can be restored") as refused:
        run("ls", "digits@v1")
    assert (refused.value.status, refused.value.code) == (410, "version_expired")
    assert run("restore", "digits@v1")["state"] == "kept"
    assert run("ls", "digits@v1")["results"]


def test_holds_are_placed_listed_and_released_by_command(run: Any) -> None:
    hold = run("hold", "place", "digits@v2", "--reason", "a dispute")
    assert (hold["ref"], run("hold", "place", "digits", "--reason", "all")["ref"]) == ("v2", None)
    assert run("hold", "release", "digits", hold["id"])["released_at"]
    assert [row["reason"] for row in run("hold", "list", "digits")] == ["all", "a dispute"]


def test_a_dataset_is_saved_deleted_and_brought_back_by_command(run: Any, tmp_path: Path) -> None:
    assert run("archive", "save", "digits", str(tmp_path), "--ref", "v2")["versions"] == 3
    assert run("archive", "check", str(tmp_path))["is_whole"] is True
    assert run("archive", "load", str(tmp_path), "--name", "copied")["versions_with_files"] == 1
    with pytest.raises(SystemExit):
        run("delete", "digits", "--confirm", "other")

    with pytest.raises(SystemExit):  # --yes does not stand in for a name that is wrong
        run("delete", "digits", "--yes", "--confirm", "other")

    assert run("delete", "digits", "--yes") == {"deleted": "digits"}
    with pytest.raises(ApiError) as gone:
        run("ls", "digits@v2")
    assert (gone.value.status, gone.value.code) == (410, "dataset_deleted")
    assert [row["name"] for row in run("deleted")] == ["digits"]
    assert run("undelete", "digits")["versions_count"] == 3
    with pytest.raises(DatasetNotFoundError):
        run("undelete", "digits")


def test_two_policies_at_once_are_refused(run: Any) -> None:
    with pytest.raises(SystemExit):
        run("retention", "digits", "--last", "1", "--days", "2")
    assert run("retention", "digits")["kind"] == "all"
