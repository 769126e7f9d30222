"""Runs once more from the command line: `atom retry`, `move`, `clone`."""

from __future__ import annotations

from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.options import Size
from atom_sdk.cli.run_options import (
    check_awaiting,
    parameters_of,
    resources_of,
    with_awaiting,
    with_nodes,
)
from atom_sdk.cli.run_watching import started
from atom_sdk.cli.start_option import start_of, with_start


@click.command()
@click.argument("run_name", metavar="RUN")
@with_awaiting
@pass_context
def retry(context: Context, /, run_name: str, **options: Any) -> int:
    """Start RUN again from its last durable checkpoint."""
    check_awaiting(options)
    return started(context, context.client.runs.retry(run_name), options)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.argument("cluster", metavar="CLUSTER")
@click.option("--image", help="Another image to start there; without it, the run's own.")
@click.option(
    "--accelerator", metavar="KIND", help="Another kind of GPUs there; without it, the run's own."
)
@with_awaiting
@pass_context
def move(
    context: Context,
    /,
    run_name: str,
    cluster: str,
    image: str | None,
    accelerator: str | None,
    **options: Any,
) -> int:
    """Let RUN go on in CLUSTER, from its last checkpoint; auto: Atom chooses the cluster.

    The command may store a checkpoint first. This works too when the run's cluster is away.
    """
    check_awaiting(options)
    moved = context.client.runs.move(run_name, cluster, image, accelerator)
    return started(context, moved, options)


@click.command()
@click.argument("run_name", metavar="RUN")
@click.option(
    "-p",
    "parameters",
    multiple=True,
    metavar="NAME=VALUE",
    help="Another value of a parameter; the others stay.",
)
@click.option("--cpus", type=click.IntRange(1))
@click.option("--memory", type=Size(), help="For instance 2g.")
@click.option("--gpus", type=click.IntRange(0))
@click.option(
    "--accelerator",
    metavar="KIND",
    help="Another kind of GPUs: atom cluster choices. An empty text: any.",
)
@click.option(
    "--cluster",
    metavar="NAME",
    help="Another cluster; 'local' for Atom's own machines, 'auto' for Atom's choice.",
)
@click.option("--image", metavar="REF", help="Another image that the cluster starts.")
@with_nodes
@with_start
@with_awaiting
@pass_context
def clone(context: Context, /, run_name: str, parameters: tuple[str, ...], **options: Any) -> int:
    """Start a new run of the same code, data, parameters and resources as RUN.

    The options change the new run alone.
    """
    check_awaiting(options)
    changed: dict[str, Any] = {
        name: options[name]
        for name in ("accelerator", "cluster", "image", "nodes", "launcher")
        if options[name] is not None
    }
    changed |= start_of(options)
    if parameters:
        changed["parameters"] = parameters_of(parameters)
    if resources := resources_of(options):
        changed["resources"] = resources
    return started(context, context.client.runs.clone(run_name, **changed), options)


COMMANDS = (retry, move, clone)
