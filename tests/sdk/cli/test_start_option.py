"""`--start`: the words of the command line, and the start of a run in words."""

from __future__ import annotations

from typing import Any

import click
import pytest

from atom_sdk.cli.start_option import StartType, start_of, start_rows

GATE: dict[str, Any] = {
    **{"when": "share", "percent": 80, "percent_there": 12, "nodes": ["n1"], "eta_s": 60.0},
    **{"why": {"sentence": "A person chose this."}, "notice": None, "opened_at": None},
}


@pytest.mark.parametrize(
    ("text", "start"),
    [
        ("when-there", {"when": "data_there"}),
        ("at:80", {"when": "share", "percent": 80}),
        ("now", {"when": "now"}),
        ("auto", None),
    ],
)
def test_the_words_are_those_of_the_api(text: str, start: Any) -> None:
    options = {"start": StartType().convert(text, None, None)}
    assert start_of(options) == {"start": start}
    assert start_of({"start": None}) == {}


@pytest.mark.parametrize("text", ["at:0", "at:100", "at:", "at:x", "at:99999", "later", "at:-1"])
def test_other_words_are_refused(text: str) -> None:
    with pytest.raises(click.BadParameter):
        StartType().convert(text, None, None)


def test_a_run_that_waits_shows_its_data() -> None:
    rows = dict(start_rows({"start": {"when": "now", "percent": None}, "data_gate": GATE}))
    assert rows["start"] == "at once"
    assert rows["started"] == "at 80 % of the data: A person chose this."
    assert rows["data"].startswith("12 % on n1, ")
    assert start_rows({}) == []
