"""`atom cluster cache` and `atom cluster coverage`: the caches of a cluster's nodes."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.options import Size
from atom_sdk.cli.render import print_table


@click.command()
@click.argument("name")
@click.option("--limit", type=Size(), help="The most bytes of each node's cache, such as 800GB.")
@click.option("--no-limit", is_flag=True, help="Let each cache grow as its disk allows.")
@click.option(
    "--replace-after",
    type=click.IntRange(60, 86_400),
    help="Seconds of silence after which another node takes a node's part in a plan.",
)
@pass_context
def cache(
    context: Context, name: str, limit: int | None, replace_after: int | None, *, no_limit: bool
) -> None:
    """Show how the caches of a cluster's nodes behave; with an option, change it."""
    if limit and no_limit:
        raise click.UsageError("Give --limit or --no-limit, not both.")
    clusters = context.client.clusters
    row = clusters.cache(name)
    if limit or no_limit or replace_after:
        row = clusters.set_cache(
            name,
            limit_bytes=None if no_limit else limit or row["limit_bytes"],
            replace_after_s=replace_after or row["replace_after_s"],
        )
    context.emit(row, lambda out: _print_cache(out, row))


def _print_cache(out: Console, row: dict[str, Any]) -> None:
    limit = row["limit_bytes"]
    out.print(f"limit: {size_text(limit) if limit else 'as the disk allows'}", markup=False)
    out.print(f"replace after: {row['replace_after_s']} s", markup=False)


@click.command()
@click.argument("name")
@click.option("--project", help="Show the versions of this project alone.")
@pass_context
def coverage(context: Context, name: str, project: str | None) -> None:
    """Show how much of each version is on each node of a cluster."""
    shown = context.client.clusters.coverage(name, project)
    context.emit(shown, lambda out: _print_coverage(out, shown))


def _print_coverage(out: Console, shown: dict[str, Any]) -> None:
    names = {
        row["id"]: f"{row['project']}/{row['dataset']}@{row['ref']}" for row in shown["versions"]
    }
    cells = [
        (
            cell["node"],
            names[cell["version"]],
            f"{cell['coverage']:.0%}",
            f"{size_text(cell['bytes_present'])} of {size_text(cell['bytes_total'])}",
            cell["need"],
        )
        for cell in shown["cells"]
    ]
    print_table(out, ("node", "version", "coverage", "bytes", "need"), cells)
    if shown["left_out"]:
        out.print(f"{shown['left_out']} versions with fewer bytes are left out.", markup=False)
