"""`atom machines …`: what can run jobs, what is free there, and who is on it."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.group(invoke_without_command=True)
@click.pass_context
def machines(command: click.Context) -> None:
    """Show the machines: their state, free slots, disk and runs."""
    if command.invoked_subcommand is None:
        context: Context = command.find_object(Context) or Context()
        rows = context.client.machines.list()
        context.emit(rows, lambda out: _print(out, rows))


@machines.command()
@click.argument("name", metavar="MACHINE")
@click.option("--reason", required=True, help="Why; everybody sees it.")
@pass_context
def cordon(context: Context, name: str, reason: str) -> None:
    """Keep new runs off MACHINE, as an administrator; runs that are there go on."""
    row = context.client.machines.cordon(name, reason)
    _print_change(context, row, f"{row['name']} takes no new runs; {len(row['runs'])} go on there")


@machines.command()
@click.argument("name", metavar="MACHINE")
@pass_context
def uncordon(context: Context, name: str) -> None:
    """Let MACHINE take runs again, as an administrator."""
    row = context.client.machines.uncordon(name)
    _print_change(context, row, f"{row['name']} takes runs again")


def _print_change(context: Context, row: dict[str, Any], text: str) -> None:
    context.emit(row, lambda out: out.print(text, markup=False))


def _print(out: Console, rows: list[dict[str, Any]]) -> None:
    cells = [
        (
            row["name"],
            _state(row),
            f"{row['cpus'] - row['used']['cpus']}/{row['cpus']}",
            _free_gib(row),
            _gpus(row),
            _gib(row["disk_free_bytes"]) if row["disk_total_bytes"] else "–",
            _runs(row),
        )
        for row in rows
    ]
    heads = ("machine", "state", "free CPUs", "free GiB", "free GPUs", "disk GiB", "runs")
    print_table(out, heads, cells)


def _state(row: dict[str, Any]) -> str:
    cordon = row["cordon"]
    # A cluster that cordons its node gives no reason.
    return f"{row['state']}: {cordon['reason'] or 'by its cluster'}" if cordon else row["state"]


def _free_gib(row: dict[str, Any]) -> str:
    total = row["memory_bytes"]
    return f"{_gib(total - row['used']['memory_bytes'])}/{_gib(total)}"


def _gpus(row: dict[str, Any]) -> str:
    count = len(row["gpus"])
    if not count:
        return "0"
    return f"{count - row['used']['gpus']}/{count} {row['gpu_model']}"


def _runs(row: dict[str, Any]) -> str:
    names = [f"{run['project']}#{run['number']}" for run in row["runs"]]
    if elsewhere := row["elsewhere"]["runs"]:
        names.append(f"{elsewhere} of other projects")
    return ", ".join(names)


def _gib(count: int) -> str:
    return f"{count / 2**30:.1f}"
