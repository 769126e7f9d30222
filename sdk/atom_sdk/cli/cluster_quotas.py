"""`atom cluster quotas`: the most that the pods of a project hold in a cluster."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.cluster_profiles import read_json
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table

Row = dict[str, Any]
_GIB = 1 << 30


@click.command()
@click.argument("name")
@click.option(
    "--from", "file", metavar="FILE", help="All quotas as --json prints them; - reads input."
)
@pass_context
def quotas(context: Context, name: str, file: str | None) -> None:
    """Show the quotas of a cluster; with --from, replace all of them."""
    clusters = context.client.clusters
    if file is not None:
        body = read_json(file, "--from")
        if unknown := sorted(body.keys() - {"every_project", "projects"}):
            said = f"{file} has {', '.join(unknown)}; known are every_project and projects"
            raise click.BadParameter(said, param_hint="--from")
        row = clusters.set_quotas(name, **body)
    else:
        row = clusters.quotas(name)
    context.emit(row, lambda out: _print(out, row))


def _print(out: Console, row: Row) -> None:
    rows = [(one["project"], one) for one in row["projects"]]
    if row["every_project"] is not None:
        rows.append(("*", row["every_project"]))
    cells = [
        (
            project,
            _limit(limits["cpus"]),
            _limit(limits["memory_bytes"] and f"{limits['memory_bytes'] / _GIB:.1f}"),
            _limit(limits["pods"]),
            ", ".join(f"{count} {name}" for name, count in limits["accelerators"].items()) or "–",
        )
        for project, limits in rows
    ]
    print_table(out, ("project", "CPUs", "GiB", "pods", "accelerators"), cells)


def _limit(value: Any) -> str:
    return "–" if value is None else str(value)
