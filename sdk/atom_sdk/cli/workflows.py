"""Predefined jobs from the command line: `atom workflow ls`, `show`, `run`."""

from __future__ import annotations

from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.preflight import check_data
from atom_sdk.cli.render import print_table
from atom_sdk.cli.run_options import (
    check_awaiting,
    pairs,
    parameters_of,
    selectors,
    settings_of,
    with_awaiting,
    with_settings,
)
from atom_sdk.cli.run_watching import started


@click.group()
def workflow() -> None:
    """Predefined jobs: parameters, resources, go."""


@workflow.command(name="ls")
@pass_context
def workflow_list(context: Context) -> None:
    """List the workflows."""
    rows = context.client.workflows.list()
    cells = [(r["slug"], r["title"], r["description"].split("\n")[0]) for r in rows]
    context.emit(rows, lambda out: print_table(out, ("workflow", "title", "description"), cells))


@workflow.command(name="show")
@click.argument("slug")
@pass_context
def workflow_show(context: Context, slug: str) -> None:
    """Show the parameters of a workflow."""
    found = context.client.workflows.get(slug)
    cells = [
        (p["name"], p["type"], p.get("default"), p.get("help", "")) for p in found["parameters"]
    ]
    columns = ("parameter", "type", "default", "help")
    context.emit(found, lambda out: print_table(out, columns, cells))


@workflow.command(name="run")
@click.argument("slug")
@click.option("-p", "parameters", multiple=True, metavar="NAME=VALUE")
@click.option(
    "--where",
    multiple=True,
    metavar="NAME=QUERY",
    help="Only files that match, of a dataset that the workflow lets you narrow.",
)
@click.option(
    "--delivery",
    multiple=True,
    metavar="NAME=HOW",
    help="How a dataset parameter's data gets there: packs, mount or stream.",
)
@click.option(
    "--preflight/--no-preflight",
    default=True,
    show_default=True,
    help="Look at the data first, and start nothing that is sure to fail.",
)
@click.option(
    "--redraw",
    is_flag=True,
    help="Where the splits do not fit, draw new ones first: 20% test, 10% val, the rest train.",
)
@with_settings
@with_awaiting
@pass_context
def workflow_run(
    context: Context, /, slug: str, parameters: tuple[str, ...], **options: Any
) -> int:
    """Start a workflow: atom workflow run image-classification -p dataset=digits@v3.

    Data without the labels, classes, splits or files that the workflow needs ends this with exit
    code 1 before anything is started.
    """
    if options["redraw"] and not options["preflight"]:
        raise click.UsageError("--redraw needs the look at the data: leave --no-preflight out.")
    check_awaiting(options)
    values = parameters_of(parameters)
    body: dict[str, Any] = {"workflow": slug, "parameters": values, **settings_of(options)}
    if chosen := selectors(options["where"]):
        body["selectors"] = chosen
    if options["delivery"]:
        body["deliveries"] = pairs(options["delivery"], "--delivery")
    if options["preflight"]:
        check_data(context, body, redraw=options["redraw"])
    return started(context, context.client.runs.create(**body), options)
