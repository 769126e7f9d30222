"""`atom cluster quotas`: the most that the pods of a project hold in a cluster."""

from __future__ import annotations

from collections.abc import Callable
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
    """Show the quotas of a cluster as used/limit; with --from, replace all of them."""
    clusters = context.client.clusters
    if file is not None:
        body = read_json(file, "--from")
        # As --json prints it.
        body.pop("used", None)
        if unknown := sorted(body.keys() - {"every_project", "projects"}):
            said = f"{file} has {', '.join(unknown)}; known are every_project and projects"
            raise click.BadParameter(said, param_hint="--from")
        row = clusters.set_quotas(name, **body)
    else:
        row = clusters.quotas(name)
    context.emit(row, lambda out: _print(out, row))


def _print(out: Console, row: Row) -> None:
    used = {one["project"]: one for one in row.get("used", ())}
    limits = {one["project"]: one for one in row["projects"]}
    rows = [
        (name, limits.get(name, row["every_project"]) or {}, used.get(name))
        for name in [*limits, *(name for name in used if name not in limits)]
    ]
    if row["every_project"] is not None:
        rows.append(("*", row["every_project"], None))
    cells = [
        (
            project,
            _cell(limit, held, "cpus"),
            _cell(limit, held, "memory_bytes", _gib),
            _cell(limit, held, "pods"),
            _accelerators(limit, held),
        )
        for project, limit, held in rows
    ]
    print_table(out, ("project", "CPUs", "GiB", "pods", "accelerators"), cells)


def _cell(limit: Row, held: Row | None, name: str, text: Callable[[int], str] = str) -> str:
    """Return `used/limit`, the limit alone where no project is meant, – for no limit."""
    most = "–" if limit.get(name) is None else text(limit[name])
    return most if held is None else f"{text(held[name])}/{most}"


def _accelerators(limit: Row, held: Row | None) -> str:
    limits: Row = limit.get("accelerators") or {}
    counts: Row = (held or {}).get("accelerators") or {}
    cells = []
    for name in [*limits, *(name for name in counts if name not in limits)]:
        most = str(limits.get(name, "–"))
        cells.append(f"{most if held is None else f'{counts.get(name, 0)}/{most}'} {name}")
    return ", ".join(cells) or "–"


def _gib(count: int) -> str:
    return f"{count / _GIB:.1f}"
