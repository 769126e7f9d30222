"""The ranks of a run on several nodes: where each runs, how it ended, and their lines together."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

import click
from rich.console import Console

from atom_sdk.cli.context import Context
from atom_sdk.cli.options import IntType
from atom_sdk.cli.render import print_table

# No rank has this number.
ALL_RANKS: Final = -1


class RankName(IntType):
    """The number of a rank, or `all`."""

    name = "K|all"

    def convert(self, value: Any, param: click.Parameter | None, ctx: click.Context | None) -> int:
        """Return the number, ALL_RANKS for `all`. Raises click.BadParameter."""
        text = str(value)
        if text == "all" or value == ALL_RANKS:
            return ALL_RANKS
        if not text.isdecimal():
            self.fail(f"{text!r}: write the number of a rank, or all", param, ctx)
        return int(text)


def nodes_rows(run: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Return the rows about nodes; none for a run on one, or of an older server."""
    if run.get("nodes", 1) == 1:
        return []
    rows = [("nodes", str(run["nodes"])), ("launcher", str(run["launcher"]))]
    failed = (run.get("evidence") or {}).get("rank")
    return rows if failed is None else [*rows, ("failed first", f"rank {failed}")]


def print_ranks(out: Console, run: Mapping[str, Any]) -> None:
    """Print the ranks of the last attempt, if there are several."""
    attempts = run.get("attempts") or []
    ranks = attempts[-1]["ranks"] if attempts else []
    if len(ranks) < 2:
        return
    rows = [(one["number"], one["node"] or "", one["pod"] or "", _state_of(one)) for one in ranks]
    print_table(out, ("rank", "node", "pod", "state"), rows)


def _state_of(rank: Mapping[str, Any]) -> str:
    if rank["ended_at"]:
        if rank["signal"]:
            return f"ended by signal {rank['signal']}"
        code = rank["exit_code"]
        return str(rank["exit_reason"]) if code is None else f"ended with exit code {code}"
    if rank["started_at"]:
        return "running"
    return "waits for the others" if rank["pod"] else "waits for a node"


def print_lines(context: Context, lines: Iterable[dict[str, Any]]) -> None:
    """Print the lines of several ranks, each behind its rank, or as lines of JSON."""
    for line in lines:
        if context.as_json:
            context.emit_line(line)
        else:
            click.echo(f"[{line['rank']}] {line['text']}")
