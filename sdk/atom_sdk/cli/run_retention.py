"""`atom keep` and `atom run-retention`: for how long logs and outputs of runs stay."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option("--days", type=click.IntRange(1), help="For so many days from now.")
@click.option("--forever", is_flag=True, help="Star the run: nothing of a starred run goes.")
@click.option("--default", "as_project", is_flag=True, help="As long as the project keeps runs.")
@pass_context
def keep(
    context: Context, run_name: str, days: int | None, forever: bool, as_project: bool
) -> None:
    """Say for how long the logs and outputs of RUN stay; takes back a notice of removal."""
    if sum((days is not None, forever, as_project)) != 1:
        raise click.UsageError("Give one of --days, --forever and --default.")
    runs = context.client.runs
    if forever or as_project:
        runs.describe(run_name, starred=forever)
    found = runs.keep(run_name, days)
    said = "for ever" if forever else "as the project has it"
    until = f"until {found['until'][:10]}" if found["until"] else said
    context.emit(found, lambda out: out.print(f"Logs and outputs of {run_name} stay {until}."))


@click.command(name="run-retention")
@click.option("--days", type=click.IntRange(1), help="Keep logs and outputs for so many days.")
@click.option("--forever", is_flag=True, help="Keep them for ever.")
@click.option("--dry-run", is_flag=True, help="Only show what would go.")
@pass_context
def run_retention(context: Context, days: int | None, forever: bool, dry_run: bool) -> None:
    """Show or set for how long the project keeps logs and outputs of ended runs.

    Logs and outputs to remove are announced on the run's page and removed three days later. Starred
    runs stay, and so do files that a model version, an evaluation or another run needs; parameters
    and metrics always stay.
    """
    if days is not None and forever:
        raise click.UsageError("Give one of --days and --forever.")
    runs = context.client.runs
    if dry_run or (days is None and not forever):
        found = runs.retention(0 if forever else days)
    else:
        found = runs.set_retention(days)
    context.emit(found, lambda out: _print(out, found))


def _print(out: Console, found: dict[str, Any]) -> None:
    kept = "for ever" if found["days"] is None else f"for {counted(found['days'], 'day')}"
    mib = found["due_bytes"] / 2**20
    out.print(
        f"Logs and outputs stay {kept}; {counted(found['due_count'], 'run')} due ({mib:.1f} MiB)."
    )
    if found["due"]:
        rows = [(row["number"], row["name"], row["finished_at"][:10]) for row in found["due"]]
        print_table(out, ("run", "name", "ended"), rows)


COMMANDS = (keep, run_retention)
