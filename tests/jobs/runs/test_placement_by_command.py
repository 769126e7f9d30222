"""`atom placements preview`, against the real API."""

from __future__ import annotations

from pathlib import Path

import click
import pytest

from tests.jobs.runs.test_accelerators_by_command import Command, command

__all__ = ["command"]

pytestmark = pytest.mark.django_db(transaction=True)


def test_the_preview_compares_places_and_says_what_it_assumes(command: Command) -> None:
    asked = ("placements", "preview", "--gpus", "3", "--accelerator", "A100", "--", "true")
    decision = command(*asked)
    assert decision["chosen"] == "west"
    assert [row["fits"] for row in decision["candidates"]] == ["now", "never"]
    text = command(*asked, as_json=False)
    assert "Only west takes this run." in text
    assert "Failures and evicted data cost 0" in text


def test_without_a_place_the_preview_says_so(command: Command) -> None:
    text = command("placements", "preview", "--gpus", "99", as_json=False)
    assert "No place takes this run." in text


def test_a_workflow_and_a_command_exclude_each_other(command: Command) -> None:
    with pytest.raises(click.UsageError):
        command("placements", "preview", "--workflow", "detection", "--", "true")


def test_why_says_where_a_run_is_what_was_assumed_and_what_a_full_place_waits_for(
    command: Command, tmp_path: Path
) -> None:
    start = ("run", "--code", str(tmp_path), "--cluster", "auto")
    made = command(*start, "--gpus", "3", "--accelerator", "A100", "--", "true")
    assert made["placement_decision"]["chosen"] == "west"
    number = str(made["number"])
    answer = command("why", number)
    assert answer["placement_decision"]["by"] == "auto"
    text = command("why", number, as_json=False)
    assert "Atom chose west. Only west takes this run." in text
    assert "assumed" in text
    nowhere = command(*start, "--gpus", "99", "--", "true")
    text = command("why", str(nowhere["number"]), as_json=False)
    assert "No place takes it now" in text
    assert "- west: " in text
