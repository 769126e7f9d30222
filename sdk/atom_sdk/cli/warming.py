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
@click.option(
    "--priority", type=click.IntRange(0, 100), help="Ten more count like an hour of waiting; 50."
)
@click.option("--keep", type=Ahead(), help="Keep it so long if there is room, such as 7d.")
@click.option(
    "--schedule", help='Warm the newest version of REF at these times, such as "0 3 * * *".'
)
@click.option("--timezone", help="The zone of --schedule, such as Europe/Berlin; UTC.")
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
    priority: int | None,
    keep: int | None,
    schedule: str | None,
    timezone: str | None,
    *,
    pin: bool,
    follow: bool,
) -> int:
    """Bring the bytes of REF to disks before a job needs them.

    Without --cluster to the machine that Atom runs on.
    """
    if cluster is None:
        if any((nodes, copies, rate, deadline, priority, keep, schedule, pin, follow)):
            raise click.UsageError("These options need --cluster.")
        _warm_here(context, ref)
        return 0
    if nodes and copies:
        raise click.UsageError("Choose --nodes or --copies, not both.")
    if timezone and not schedule:
        raise click.UsageError("--timezone needs --schedule.")
    options = _place(nodes, copies, rate, priority)
    if schedule:
        if pin or follow:
            raise click.UsageError("A schedule pins nothing and cannot be followed; use --keep.")
        times = {"cron": schedule, "timezone": timezone or "UTC"}
        _schedule(
            context, ref, cluster, {**times, "deadline_s": deadline, "keep_s": keep, **options}
        )
        return 0
    plan = context.client.datasets.warm_in(
        ref, cluster, deadline=_ahead(deadline), keep_until=_ahead(keep), pinned=pin, **options
    )
    if follow:
        plan = _follow(context, plan)
    context.emit(plan, lambda out: _print_plan(out, plan))
    return EXIT_FAILED if plan["state"] in ("failed", "cancelled") else 0


def _place(
    nodes: str | None, copies: int | None, rate: int | None, priority: int | None
) -> dict[str, Any]:
    names = [name.strip() for name in nodes.split(",") if name.strip()] if nodes else []
    options: dict[str, Any] = {"nodes": names, "copies": copies, "rate_bytes_s": rate}
    return options if priority is None else {**options, "priority": priority}


def _schedule(context: Context, ref: str, cluster: str, options: dict[str, Any]) -> None:
    row = context.client.datasets.warm_at(ref, cluster, **options)
    context.emit(row, lambda out: print_schedules(out, [row]))


def _ahead(seconds: int | None) -> str | None:
    return (datetime.now(UTC) + timedelta(seconds=seconds)).isoformat() if seconds else None


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
@click.option("--schedules", is_flag=True, help="List schedules, or show the one of PLAN_ID.")
@click.option("--pause", "verb", flag_value="pause", help="Start no plans of a schedule.")
@click.option("--resume", "verb", flag_value="resume", help="Start plans of a schedule again.")
@click.option("--delete", "verb", flag_value="delete", help="Remove a schedule; its plans stay.")
@pass_context
def warm_plans(
    context: Context, plan_id: str | None, verb: str | None, *, cancel: bool, schedules: bool
) -> None:
    """List the project's warm-up plans, or show PLAN_ID.

    With --schedules: the schedules that start plans.
    """
    if verb and not (schedules and plan_id):
        raise click.UsageError(f"--{verb} needs --schedules and the id of one.")
    if cancel and (schedules or plan_id is None):
        raise click.UsageError("Name the plan to cancel.")
    if schedules:
        _schedules(context, plan_id, verb)
        return
    plans = context.client.datasets.warm_plans
    if plan_id is None:
        rows = plans.list()
        context.emit(rows, lambda out: _print_plans(out, rows))
        return
    plan = plans.cancel(plan_id) if cancel else plans.get(plan_id)
    context.emit(plan, lambda out: _print_plan(out, plan))


def _schedules(context: Context, schedule_id: str | None, verb: str | None) -> None:
    schedules = context.client.datasets.warm_schedules
    if schedule_id is None:
        rows = schedules.list()
    elif verb == "delete":
        schedules.delete(schedule_id)
        context.emit({"id": schedule_id}, lambda out: out.print("The schedule is removed."))
        return
    elif verb:
        act = {"pause": schedules.pause, "resume": schedules.resume}[verb]
        rows = [act(schedule_id)]
    else:
        rows = [schedules.get(schedule_id)]
    shown = rows if schedule_id is None else rows[0]
    context.emit(shown, lambda out: print_schedules(out, rows))


def print_schedules(out: Console, rows: list[dict[str, Any]]) -> None:
    """Print schedules as a table."""
    cells = [
        (
            row["id"],
            f"{row['dataset']}@{row['ref']}",
            row["cluster"],
            ", ".join(row["nodes"]) or f"{row['copies']} nodes",
            f"{row['cron']} {row['timezone']}",
            row["next_at"] or "paused",
            row["last_plan_state"] or "",
            row["error"],
        )
        for row in rows
    ]
    columns = ("schedule", "version", "cluster", "nodes", "times", "next", "last plan", "error")
    print_table(out, columns, cells)


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
