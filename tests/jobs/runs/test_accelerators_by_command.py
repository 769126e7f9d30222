"""Kinds of accelerators on the command line, against the real API."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner

from atom.accounts.actions import create_token
from atom.accounts.models import Project
from atom.clusters.models import Cluster, Node
from atom.jobs import states
from atom.jobs.models import Attempt, Rank, Run
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run
from tests.jobs.runs.test_accelerators import add_node, labelled

pytestmark = pytest.mark.django_db(transaction=True)

Command = Callable[..., Any]


@pytest.fixture
def command(live_server: Any, project: Project, tmp_path: Path) -> Command:
    """Return what runs `atom` and gives its JSON, in a project with a cluster of two kinds."""
    west = Cluster.objects.create(name="west", kind="kubernetes", server="https://k.example")
    add_node(west, "w1", "A100", 4, **labelled("A100"))
    add_node(west, "w2", "H100", 2, **labelled("H100"))
    secret = create_token(make_member(project, "researcher"), "cli", ["write"]).secret

    (tmp_path / "main.py").write_text("pass")

    def run(*words: str, as_json: bool = True) -> Any:
        context = Context()
        with Client(live_server.url, secret, "vision") as client:
            context._client = client
            options = ["--json"] if as_json else []
            done = CliRunner().invoke(cli, [*options, *words], obj=context, standalone_mode=False)
        if done.exception is not None:
            raise done.exception
        return json.loads(done.stdout) if as_json else done.stdout

    return run


def test_a_run_asks_for_a_kind_and_moves_with_another(command: Command, tmp_path: Path) -> None:
    asked = ("--code", str(tmp_path), "--cluster", "west", "--gpus", "2")
    run = command("run", *asked, "--accelerator", "H100", "--", "true")
    assert (run["cluster"], run["accelerator"], run["resources"]["gpus"]) == ("west", "H100", 2)
    assert "2 GPU H100" in command("get", str(run["number"]), as_json=False)
    with pytest.raises(ApiError) as refused:
        command("run", *asked, "--accelerator", "T4", "--", "true")
    assert "A100, H100" in refused.value.errors["accelerator"][0]
    east = Cluster.objects.create(name="east", kind="kubernetes", server="https://e.example")
    add_node(east, "e1", "MI300X", 8, resource="amd.com/gpu")
    moved = command("move", str(run["number"]), "east", "--accelerator", "MI300X")
    assert moved["cluster"] == "east"
    # If its attempt in west has begun, the kind holds from the next one on.
    now = Run.objects.get(pk=run["id"])
    assert "MI300X" in (now.accelerator, now.move_accelerator)


def test_choices_are_those_for_a_kind(command: Command) -> None:
    own, west = command("cluster", "choices", "--gpus", "3", "--accelerator", "A100")
    assert (own["fits"], west["fits"]) == ("never", "now")
    text = command("cluster", "choices", "--gpus", "3", "--accelerator", "H100", as_json=False)
    assert "2 of 2 H100" in text


def test_nodes_are_printed_with_what_runs_leave_free(command: Command, project: Project) -> None:
    west = Cluster.objects.get(name="west")
    run = make_run(project, cluster=west, gpus=3, cpus=2, memory_bytes=1 << 30)
    Run.objects.filter(pk=run.pk).update(state=states.RUNNING)
    attempt = Attempt.objects.create(run=run, number=1, state=states.RUNNING, cluster=west)
    Rank.objects.create(attempt=attempt, node=Node.objects.get(name="w1"))
    text = command("cluster", "show", "west", as_json=False)
    rows = [line.split() for line in text.splitlines() if line.startswith(("w1", "w2"))]
    assert rows == [
        ["w1", "yes", "6/8", "31.0/32.0", "1/4", "–"],
        ["w2", "yes", "8/8", "32.0/32.0", "–", "2/2"],
    ]
