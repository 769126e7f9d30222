"""`atom cluster queues`: the queue of Kueue that runs use in a cluster."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.cluster_profiles import read_json
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table

Row = dict[str, Any]


@click.command()
@click.argument("name")
@click.option(
    "--from", "file", metavar="FILE", help="All queues as --json prints them; - reads input."
)
@pass_context
def queues(context: Context, name: str, file: str | None) -> None:
    """Show the queues of a cluster and their state; with --from, replace all of them."""
    clusters = context.client.clusters
    if file is not None:
        body = read_json(file, "--from")
        # As --json prints it.
        body.pop("kueue", None)
        if unknown := sorted(body.keys() - {"every_project", "projects"}):
            message = f"{file} has {', '.join(unknown)}; known are every_project and projects"
            raise click.BadParameter(message, param_hint="--from")
        row = clusters.set_queues(name, **body)
    else:
        row = clusters.queues(name)
    context.emit(row, lambda out: _print(out, row))


def _print(out: Console, row: Row) -> None:
    states = {one["name"]: one for one in row["kueue"]["cluster_queues"]}
    rows = [(one["project"], one) for one in row["projects"]]
    if row["every_project"] is not None:
        rows.append(("*", row["every_project"]))
    if not rows:
        out.print("Runs use no queue of Kueue there.")
        return
    cells = [(project, *_cells(queue, states)) for project, queue in rows]
    print_table(out, ("project", "ClusterQueue", "LocalQueue", "state", "quota of"), cells)
    if not row["kueue"]["version"]:
        out.print("The cluster serves no version of Kueue that Atom knows.")
    elif row["kueue"]["gates"] is False:
        out.print("A run that waits for its data joins the queue afterwards: Kueue is older than "
                  "0.19.")  # fmt: skip


def _cells(queue: Row, states: dict[str, Row]) -> tuple[str, str, str, str]:
    name = queue["cluster_queue"]
    if not name:
        return "–", "–", "–", "–"
    seen = states.get(name) or {}
    state = seen.get("state") or "not checked yet"
    if seen.get("reason"):
        state = f"{state}: {seen['reason']}"
    return name, queue["local_queue"] or name, state, ", ".join(seen.get("covered") or ()) or "–"
