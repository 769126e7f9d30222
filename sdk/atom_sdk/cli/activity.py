"""`atom activity DATASET`: who did what to a dataset."""

from __future__ import annotations

from itertools import islice
from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table

KINDS = (
    "versions", "refs", "labels", "views", "keeping", "sources", "moving", "writers", "cleaning",
    "dataset",
)  # fmt: skip


@click.command()
@click.argument("dataset")
@click.option("--kind", "kinds", multiple=True, type=click.Choice(KINDS), help="Only these.")
@click.option("--by", "actor", metavar="USERNAME", help="Only what this person did.")
@click.option("--limit", type=click.IntRange(1, 10_000), default=50, show_default=True)
@pass_context
def activity(
    context: Context, dataset: str, kinds: tuple[str, ...], actor: str | None, limit: int
) -> None:
    """Show who did what to DATASET, newest first: versions, labels, tags, retention, scans."""
    rows = list(islice(context.client.datasets.activity(dataset, kinds, actor), limit))
    cells = [(row["at"][:19], row["actor"] or "Atom", row["verb"], _words(row)) for row in rows]
    context.emit(rows, lambda out: print_table(out, ("when", "who", "what", ""), cells))


def _words(row: dict[str, Any]) -> str:
    version = row["version"]
    if version:
        title = version["message"].split("\n")[0]
        return f"{version['ref']}: {title}" if title else str(version["ref"])
    data = row["data"]
    told = [data[name] for name in ("name", "branch", "ref", "source", "reason") if data.get(name)]
    return ", ".join(map(str, [*told, *data.get("versions", [])]))
