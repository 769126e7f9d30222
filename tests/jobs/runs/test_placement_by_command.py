"""`atom placements preview`, against the real API."""

from __future__ import annotations

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
