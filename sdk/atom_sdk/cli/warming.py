"""`atom data warm` and `atom data warm-plans`: versions on disks before a run needs them."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import size_text
from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.options import Size
from atom_sdk.cli.render import print_table

_EVERY_S = 2.0
_UNITS_S = {"m": 60, "h": 3600, "d": 86_400}


class Ahead(click.ParamType[int]):
    """A time from now, such as 90m, 2h or 1d, as seconds."""

    name = "time"

    def convert(self, value: Any, param: Any, ctx: Any) -> int:
        """Return the seconds."""
        number, unit = str(value)[:-1], str(value)[-1:]
        if unit not in _UNITS_S or not number.isdecimal() or int(number) == 0:
            self.fail("Write a time such as 90m, 2h or 1d.", param, ctx)
        return int(number) * _UNITS_S[unit]


@click.command()
@click.argument("ref")
@click.option("--cluster", help="Bring it to nodes of this cluster by their agents.")
@click.option("--nodes", help="Names of nodes, separated by commas.")
@click.option("--copies", type=click.IntRange(1), help="Choose so many nodes; 1 unless named.")
@click.option("--rate", type=Size(), help="The most a second for all nodes, such as 200MB.")
@click.option("--deadline", type=Ahead(), help="Fail unless it is done by then, such as 2h.")
@click.option("--pin", is_flag=True, help="Keep it needed afterwards, until the plan is cancelled.")
@click.option("--follow", is_flag=True, help="Wait for the end, and show each node.")
@pass_context
def warm(
    context: Context,
    ref: str,
    cluster: str | None,
    nodes: str | None,
    copies: int | None,
    rate: int | None,
    deadline: int | None,
    *,
    pin: bool,
    follow: bool,
) -> int:
    """Bring the bytes of REF to disks before a job needs them.

    Without --cluster to the machine that Atom runs on.
    """
    if cluster is None:
        if nodes or copies or rate or deadline or pin or follow:
            raise click.UsageError("These options need --cluster.")
        _warm_here(context, ref)
        return 0
    if nodes and copies:
        raise click.UsageError("Choose --nodes or --copies, not both.")
    ends_at = datetime.now(UTC) + timedelta(seconds=deadline) if deadline else None
    plan = context.client.datasets.warm_in(
        ref,
        cluster,
        nodes=[name.strip() for name in nodes.split(",") if name.strip()] if nodes else (),
        copies=copies,
        rate_bytes_s=rate,
        deadline=ends_at.isoformat() if ends_at else None,
        pinned=pin,
    )
    if follow:
        plan = _follow(context, plan)
    context.emit(plan, lambda out: _print_plan(out, plan))
    return EXIT_FAILED if plan["state"] in ("failed", "cancelled") else 0


def _warm_here(context: Context, ref: str) -> None:
    answer = context.client.datasets.warm(ref)
    context.emit(
        answer,
        lambda out: out.print(
            f"Warming {ref}; see the dataset's page or: atom data coverage {ref}"
        ),
    )


def _follow(context: Context, plan: dict[str, Any]) -> dict[str, Any]:
    shown = ""
    while plan["state"] == "running":
        if (line := _progress(plan)) != shown:
            context.err.print(line, markup=False)
            shown = line
        time.sleep(_EVERY_S)
        plan = context.client.datasets.warm_plans.get(plan["id"])
    return plan


def _progress(plan: dict[str, Any]) -> str:
    return "; ".join(
        f"{row['node']} {row['state']} {size_text(row['bytes_present'])}"
        f" of {size_text(row['bytes_total'])}"
        for row in plan["nodes"]
    )


def _print_plan(out: Console, plan: dict[str, Any]) -> None:
    named = f"{plan['dataset']}@{plan['ref']}"
    out.print(f"{plan['id']}  {named}  {plan['cluster']}  {plan['state']}", markup=False)
    if plan["error"]:
        out.print(plan["error"], markup=False)
    cells = [
        (
            row["node"],
            row["state"],
            f"{row['packs_present']}/{row['packs_total']}",
            f"{size_text(row['bytes_present'])} of {size_text(row['bytes_total'])}",
            f"{size_text(row['rate_bytes_s'])}/s" if row["rate_bytes_s"] else "",
            row["error"],
        )
        for row in plan["nodes"]
    ]
    print_table(out, ("node", "state", "packs", "bytes", "rate", "error"), cells)


@click.command(name="warm-plans")
@click.argument("plan_id", required=False)
@click.option("--cancel", is_flag=True, help="Cancel PLAN_ID, or release its pin.")
@pass_context
def warm_plans(context: Context, plan_id: str | None, *, cancel: bool) -> None:
    """List the project's warm-up plans, or show PLAN_ID."""
    plans = context.client.datasets.warm_plans
    if plan_id is None:
        if cancel:
            raise click.UsageError("Name the plan to cancel.")
        rows = plans.list()
        context.emit(rows, lambda out: _print_plans(out, rows))
        return
    plan = plans.cancel(plan_id) if cancel else plans.get(plan_id)
    context.emit(plan, lambda out: _print_plan(out, plan))


def _print_plans(out: Console, rows: list[dict[str, Any]]) -> None:
    cells = [
        (
            row["id"],
            f"{row['dataset']}@{row['ref']}",
            row["cluster"],
            ", ".join(part["node"] for part in row["nodes"]),
            row["state"],
            row["error"],
        )
        for row in rows
    ]
    print_table(out, ("plan", "version", "cluster", "nodes", "state", "error"), cells)
