"""`--start`: when a run starts relative to its data."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any, Final

import click

from atom_sdk.cli.options import StrType
from atom_sdk.cli.render import duration_text

_SHARE: Final = "at:"
_WORDS: Final = {"when-there": "data_there", "now": "now"}


class StartType(StrType):
    """`when-there`, `at:80` or `now`; `auto` lets Atom choose."""

    name = "when-there|at:PERCENT|now|auto"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> Any:
        """Return the start as the API takes it. Raises click.BadParameter."""
        text = str(value)
        if text == "auto":
            return {"when": None}
        if text in _WORDS:
            return {"when": _WORDS[text]}
        percent = text.removeprefix(_SHARE)
        if text.startswith(_SHARE) and percent.isdecimal() and 1 <= int(percent[:4]) <= 99:
            return {"when": "share", "percent": int(percent)}
        self.fail(f"{text!r}: write when-there, at:80 (1 to 99 %), now or auto", param, ctx)


def with_start(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add `--start`; `start_of` reads it."""
    return click.option(
        "--start",
        type=StartType(),
        help="Start when all data is there, at a percentage of it, or now. Else Atom chooses.",
    )(command)


def start_of(options: Mapping[str, Any]) -> dict[str, Any]:
    """Return the part of a request that `--start` asks for."""
    start = options["start"]
    if start is None:
        return {}
    return {"start": start if start["when"] else None}


def start_rows(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the rows about the start of a run; none for a run of an older server."""
    start, gate = run.get("start"), run.get("data_gate")
    rows = [("start", start_text(start))] if start else []
    if not gate:
        return rows
    rows.append(("started", f"{start_text(gate)}: {gate['why']['sentence']}"))
    if not gate["opened_at"]:
        rows.append(("data", _progress(gate)))
    if gate["notice"]:
        rows.append(("notice", gate["notice"]["sentence"]))
    return rows


def start_text(start: Mapping[str, Any]) -> str:
    """Return a start in words."""
    if start["when"] == "share":
        return f"at {start['percent']} % of the data"
    return "when all data is there" if start["when"] == "data_there" else "at once"


def _progress(gate: Mapping[str, Any]) -> str:
    if not gate["nodes"]:
        return "nodes for it are being chosen"
    there = f"{gate['percent_there']} % on {', '.join(gate['nodes'])}"
    left = gate["eta_s"]
    return there if left is None else f"{there}, {duration_text(left)} to go"
