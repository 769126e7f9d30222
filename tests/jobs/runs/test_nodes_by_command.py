"""Runs on several nodes on the command line, against the real API."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from atom.core import clock
from atom.jobs import states
from atom.jobs.logs.actions import logs
from atom.jobs.models import Attempt, Rank, Run
from atom_sdk.runner import frames
from atom_sdk.runner.frames import Frame
from tests.factories.jobs import make_attempt
from tests.jobs.runs.test_accelerators_by_command import Command, command  # noqa: F401

pytestmark = pytest.mark.django_db(transaction=True)


def write(attempt: Attempt, rank: int, at_ns: int, text: bytes) -> None:
    """Append a line to a rank's log."""
    start = logs.length(logs.stream_of(attempt, rank))
    body = frames.encode([Frame(1, 0, at_ns, text.count(b"\n"), text)])
    logs.append(attempt, start, body, rank)


def test_a_run_asks_for_nodes_and_a_launcher_and_its_copy_keeps_them(
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    asked = ("--code", str(tmp_path), "--cluster", "west", "--nodes", "2")
    run = command("run", *asked, "--launcher", "torchrun", "--", "python", "main.py")
    assert (run["nodes"], run["launcher"]) == (2, "torchrun")
    shown = command("get", str(run["number"]), as_json=False)
    assert "2 × (" in shown
    assert "torchrun" in shown
    copy = command("clone", str(run["number"]))
    assert (copy["nodes"], copy["launcher"]) == (2, "torchrun")
    alone = command("clone", str(run["number"]), "--nodes", "1")
    assert (alone["nodes"], alone["launcher"]) == (1, "plain")
    choices = {one["name"]: one for one in command("cluster", "choices", "--nodes", "2")}
    assert choices["local"]["reason"]["code"] == "jobs.nodes_without_cluster"


def test_logs_are_those_of_a_rank_or_of_all_by_time(
    command: Command,  # noqa: F811
    tmp_path: Path,
) -> None:
    asked = ("--code", str(tmp_path), "--cluster", "west", "--nodes", "2")
    run = Run.objects.get(pk=command("run", *asked, "--", "true")["id"])
    attempt = make_attempt(run, state=states.RUNNING, evidence={"rank": 1})
    attempt.ranks.all().delete()
    for rank in (0, 1):
        Rank.objects.create(attempt=attempt, number=rank, identity={"pod": f"pod-{rank}"})
    attempt.ranks.filter(number=1).update(exit_code=3, ended_at=clock.now())
    write(attempt, 0, 1, b"first\n")
    write(attempt, 1, 2, b"second\n")
    write(attempt, 0, 3, b"third\n")
    number = str(run.number)
    assert command("logs", number, as_json=False) == "first\nthird\n"
    assert command("logs", number, "--rank", "1", as_json=False) == "second\n"
    together = command("logs", number, "--rank", "all", as_json=False)
    assert together.splitlines() == ["[0] first", "[1] second", "[0] third"]
    assert command("logs", number, "--rank", "1", "--search", "sec", as_json=False) == "1:second\n"
    shown = command("get", number, as_json=False)
    assert "pod-1" in shown
    assert "ended with exit code 3" in shown
    assert "failed first" in shown
    with pytest.raises(click.UsageError, match="one rank"):
        command("logs", number, "--rank", "all", "--search", "x", as_json=False)
    with pytest.raises(click.BadParameter, match="or all"):
        command("logs", number, "--rank", "first", as_json=False)
