"""`atom unit …`: the tree of departments and teams on which projects hang."""

from __future__ import annotations

from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table
from atom_sdk.client.errors import NotFoundError

_INDENT = "  "


@click.group()
def unit() -> None:
    """List, add, rename, move and remove units, and the projects below them.

    A UNIT is named by its id, or by its name where only one has it.
    """


@unit.command(name="ls")
@click.option("--query", "q", help="Part of the name.")
@pass_context
def list_(context: Context, q: str | None) -> None:
    """List the units that you see, each below the one that it belongs to."""
    rows = list(context.client.http.pages("units/", q=q))
    cells = [
        (
            _INDENT * row["depth"] + row["name"],
            row["role"],
            str(row["unit_count"]),
            str(row["project_count"]),
            row["id"],
        )
        for row in rows
    ]
    columns = ("name", "your role", "units", "projects", "id")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@unit.command()
@click.argument("name")
@click.option("--below", metavar="UNIT", help="The unit above it.")
@click.option(
    "--organisation", help="Name or id: at the top, as an administrator of the installation."
)
@pass_context
def add(context: Context, name: str, below: str | None, organisation: str | None) -> None:
    """Add a unit below another one."""
    if (below is None) == (organisation is None):
        raise click.UsageError("Say where: --below UNIT, or --organisation at the top of a tree.")
    body = {"name": name}
    if below:
        body["parent"] = find_unit(context, below)["id"]
    else:
        body["organisation"] = _organisation(context, organisation or "")
    made = context.client.http.post("units/", body)
    context.emit(made, lambda out: out.print(made["id"], markup=False))


@unit.command()
@click.argument("unit")
@click.argument("name")
@pass_context
def rename(context: Context, unit: str, name: str) -> None:
    """Give a unit another name."""
    changed = _change(context, unit, {"name": name})
    context.emit(changed, lambda out: out.print(f"renamed to {name}", markup=False))


@unit.command()
@click.argument("unit")
@click.argument("below")
@pass_context
def move(context: Context, unit: str, below: str) -> None:
    """Move a unit with all that hangs on it below another one."""
    target = find_unit(context, below)
    changed = _change(context, unit, {"parent": target["id"]})
    context.emit(changed, lambda out: out.print(f"moved below {target['name']}", markup=False))


@unit.command()
@click.argument("unit")
@pass_context
def rm(context: Context, unit: str) -> None:
    """Remove a unit that holds nothing."""
    found = find_unit(context, unit)
    context.client.http.delete(f"units/{found['id']}/")
    said = f"removed {found['name']}"
    context.emit({"removed": found["id"]}, lambda out: out.print(said, markup=False))


@unit.command()
@click.argument("unit")
@pass_context
def projects(context: Context, unit: str) -> None:
    """List the projects that hang on this very unit."""
    rows = list(context.client.http.pages(f"units/{find_unit(context, unit)['id']}/projects/"))
    cells = [(row["slug"], row["name"]) for row in rows]
    context.emit(rows, lambda out: print_table(out, ("slug", "name"), cells))


@unit.command(name="add-project")
@click.argument("unit")
@click.argument("slug")
@click.option("--name", help="The name that people read; the slug unless it is given.")
@pass_context
def add_project(context: Context, unit: str, slug: str, name: str | None) -> None:
    """Add a project to a unit. Its slug is unique in the installation, and stays."""
    body = {"slug": slug, "name": name or slug, "unit": find_unit(context, unit)["id"]}
    made = context.client.http.post("projects/", body)
    context.emit(made, lambda out: out.print(f"project {made['slug']}", markup=False))


@unit.command(name="move-project")
@click.argument("slug")
@click.argument("unit")
@pass_context
def move_project(context: Context, slug: str, unit: str) -> None:
    """Move a project to another unit; one administers both."""
    target = find_unit(context, unit)
    path, body = f"projects/{slug}/", {"unit": target["id"]}
    moved = context.client.http.request("PATCH", path, json=body)
    context.emit(moved, lambda out: out.print(f"moved to {target['name']}", markup=False))


def _change(context: Context, unit: str, body: dict[str, str]) -> Any:
    path = f"units/{find_unit(context, unit)['id']}/"
    return context.client.http.request("PATCH", path, json=body)


def find_unit(context: Context, named: str) -> dict[str, Any]:
    """Return a unit by its id, or by its name if that is clear. Raises NotFoundError."""
    rows = [r for r in context.client.http.pages("units/") if named in {r["id"], r["name"]}]
    if not rows:
        raise NotFoundError(f"You see no unit {named!r}.", "List those you see: atom unit ls")
    if len(rows) > 1:
        ids = ", ".join(row["id"] for row in rows)
        raise click.UsageError(f"{len(rows)} units are called {named}; give the id: {ids}.")
    return rows[0]


def _organisation(context: Context, named: str) -> str:
    for row in context.client.http.pages("organisations/"):
        if named in {row["id"], row["name"]}:
            return str(row["id"])
    raise NotFoundError(f"There is no organisation {named!r}.")
