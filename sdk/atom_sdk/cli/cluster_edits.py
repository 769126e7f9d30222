"""`atom cluster edit`: who may use a cluster, its namespace, and its ways to stores."""

from __future__ import annotations

import re
from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context

_ROUTE = re.compile(
    r"(?P<store>[^=]+)=(?P<rate>\?|\d+(?:\.\d+)?):(?P<fee>\d+(?:\.\d+)?):(?P<currency>[A-Z]{3})"
)
_MEGABYTE = 1_000_000


@click.command()
@click.argument("name")
@click.option("--namespace", help="The namespace of Atom's jobs; runs that are there stay.")
@click.option("--project", "projects", multiple=True, help="These projects may use it, no others.")
@click.option("--all-projects", is_flag=True, help="All projects may use it.")
@click.option("--no-projects", is_flag=True, help="No project may use it.")
@click.option(
    "--route",
    "routes",
    multiple=True,
    metavar="STORE=RATE:FEE:CURRENCY",
    help="MB/s from a store (? if not known) and the price of a GiB out of it, such as "
    "atom=125:0.08:EUR; these take the place of all before.",
)
@click.option("--no-routes", is_flag=True, help="Take all ways to stores away.")
@pass_context
def edit(context: Context, /, name: str, namespace: str | None, **options: Any) -> None:
    """Change which projects may use a cluster, its namespace, and its ways to stores."""
    changes: dict[str, Any] = {}
    if namespace is not None:
        changes["namespace"] = namespace
    changes |= _access(options["projects"], options["all_projects"], options["no_projects"])
    if options["routes"] and options["no_routes"]:
        raise click.UsageError("Give --route or --no-routes, not both.")
    if options["routes"] or options["no_routes"]:
        changes["stores"] = [parse_route(text) for text in options["routes"]]
    if not changes:
        raise click.UsageError("Give at least one option: nothing is to be changed.")
    row = context.client.clusters.change(name, **changes)
    context.emit(row, lambda out: out.print(f"{name} is changed", markup=False))


def _access(projects: tuple[str, ...], is_all: bool, is_none: bool) -> dict[str, Any]:
    if sum((bool(projects), is_all, is_none)) > 1:
        raise click.UsageError("Give one of --project, --all-projects and --no-projects.")
    if is_all:
        return {"projects": None}
    return {"projects": list(projects)} if projects or is_none else {}


def parse_route(text: str) -> dict[str, Any]:
    """Return a way to a store, as the API takes it. Raises BadParameter."""
    parts = _ROUTE.fullmatch(text)
    if parts is None:
        said = f"{text!r} is no STORE=RATE:FEE:CURRENCY, such as atom=125:0.08:EUR"
        raise click.BadParameter(said, param_hint="--route")
    rate = parts["rate"]
    return {
        "store": parts["store"],
        "bandwidth_bytes_per_s": None if rate == "?" else round(float(rate) * _MEGABYTE),
        "egress_per_gib": parts["fee"],
        "currency": parts["currency"],
    }
