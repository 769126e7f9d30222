"""`atom placements …`: where Atom would place a run, and for how much."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.options import Size
from atom_sdk.cli.render import duration_text, print_table
from atom_sdk.cli.run_options import pairs
from atom_sdk.cli.start_option import start_text

Row = dict[str, Any]


@click.group()
def placements() -> None:
    """Compare the places that could take a run (docs/placement.md)."""


# Arguments after the command's first word belong to the command, as with `atom run`.
@placements.command(context_settings={"allow_interspersed_args": False})
@click.option(
    "--data", multiple=True, metavar="ALIAS=REF", help="A dataset version to read: d=digits@v3."
)
@click.option("--cpus", type=click.IntRange(1))
@click.option("--memory", type=Size(), help="For instance 2g.")
@click.option("--gpus", type=click.IntRange(0))
@click.option("--accelerator", metavar="KIND", help="The kind of the GPUs; else any.")
@click.option("--nodes", type=click.IntRange(1, 256), help="How many nodes have these each.")
@click.option("--image", metavar="REF", help="The image that a cluster starts.")
@click.option("--workflow", metavar="NAME", help="A workflow; earlier runs give the run time.")
@click.option("--priority", type=int, help="It decides the value of an hour.")
@click.argument("command", nargs=-1, type=click.UNPROCESSED)
@pass_context
def preview(context: Context, /, command: tuple[str, ...], **options: Any) -> None:
    """Show where a run would go, with the cost of each place; starts nothing.

    Earlier runs of COMMAND or of the workflow give the run time.
    """
    if command and options["workflow"]:
        raise click.UsageError("Give --workflow or a command, not both.")
    named = {
        "memory_bytes": options.pop("memory"),
        "inputs": pairs(options.pop("data"), "--data"),
        "command": list(command),
        **options,
    }
    body = {name: value for name, value in named.items() if value is not None}
    decision = context.client.runs.placements_preview(**body)
    context.emit(decision, lambda out: print_decision(out, decision))


def print_decision(out: Console, decision: Row) -> None:
    """Print the choice with its reason, a line for each place and what is assumed."""
    if decision["chosen"] is None:
        out.print("No place takes this run.", markup=False)
    else:
        out.print(f"{decision['chosen']}: {decision['why']['sentence']}", markup=False)
    _print_places(out, decision)


def print_kept(out: Console, decision: Row) -> None:
    """Print why a run is where it is, the places, and what was assumed beside what came."""
    chooser = "Atom" if decision["by"] == "auto" else "A person"
    if decision["chosen"] is None:
        out.print("No place takes this run.", markup=False)
    else:
        why = f" {decision['why']['sentence']}" if decision["why"] else ""
        out.print(f"{chooser} chose {decision['chosen']}.{why}", markup=False)
    _print_places(out, decision)
    assumed, came = decision["assumed"], decision["came"]
    if assumed is None:
        return
    rows = [
        ("start", _interval(assumed["start_s"]), _seconds(came["start_s"])),
        *((name, _seconds(assumed[f"{name}_s"]), _seconds(came[f"{name}_s"])) for name in _PARTS),
        ("run", _interval(assumed["run_s"]), _seconds(came["run_s"])),
        (
            "cost",
            _money(assumed["cost"], assumed["currency"]),
            _money(came["cost"], assumed["currency"], "–"),
        ),
    ]
    print_table(out, ("", "assumed", "came"), rows)


_PARTS = ("queue", "data", "image")


def _print_places(out: Console, decision: Row) -> None:
    columns = ("place", "fits", "starts in", "data there", "to fetch", "price", "cost", "reason")
    print_table(out, columns, map(_cells, decision["candidates"]))
    _print_ways(out, decision["candidates"])
    for row in decision["candidates"]:
        # An older server does not tell them.
        if (classes := row.get("preempted_by")) and row["rank"]:
            text = f"- {row['name']}: pods of these classes may preempt it: {', '.join(classes)}."
            out.print(text, markup=False)
    for assumption in decision["assumptions"]:
        out.print(f"- {assumption['sentence']}", markup=False)


def _print_ways(out: Console, candidates: list[Row]) -> None:
    """Print when the run starts in each place by each way; an older server tells none."""
    rows = [
        (row["name"], start_text(way), _interval(way["start"]), _note(way))
        for row in candidates
        for way in row.get("ways") or ()
    ]
    if rows:
        print_table(out, ("place", "start", "starts in", ""), rows)


def _note(way: Row) -> str:
    parts = [(way["note"] or {}).get("sentence", ""), "Atom's choice." if way["is_default"] else ""]
    return " ".join(part for part in parts if part)


def _cells(row: Row) -> tuple[str, ...]:
    reason = (row["reason"] or {}).get("sentence", "")
    if row["rank"] is None:
        return (row["name"], row["fits"], "", "", "", "", "", reason)
    price, cost = row["price"], row["cost"]
    fetched = sum(part["bytes_to_fetch"] for part in row["data"])
    return (
        row["name"],
        row["fits"],
        _interval(row["start"]),
        f"{int(row['coverage'] * 100)} %" if row["data"] else "–",
        size_text(fetched) if fetched else "–",
        _money(price["total"], price["currency"]),
        _money(cost["total"], cost["currency"]),
        reason or row["start"]["basis"]["sentence"],
    )


def _interval(estimate: Row) -> str:
    if not estimate["known"]:
        return "unknown"
    low, high = duration_text(estimate["p50_s"]), duration_text(estimate["p90_s"])
    return low if low == high else f"{low} to {high}"


def _seconds(seconds: float | None) -> str:
    return "–" if seconds is None else duration_text(seconds)


def _money(amount: str | None, currency: str, unknown: str = "unknown") -> str:
    return unknown if amount is None else f"{amount} {currency}".rstrip()
