"""`atom project …`: list projects, add one, choose the one that commands are about."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table
from atom_sdk.cli.units import find_unit
from atom_sdk.client import config
from atom_sdk.client.errors import NotFoundError


@click.group()
def project() -> None:
    """List and add projects, and choose the default one."""


@project.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the projects that you see."""
    rows = context.client.projects.list()
    cells = [(row["slug"], row["name"], row["role"], row["unit"]) for row in rows]
    columns = ("slug", "name", "your role", "unit")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@project.command()
@click.argument("slug")
@click.option("--name", help="The name that people read; the slug unless it is given.")
@click.option("--unit", help="Its unit, by name or id; the only one that you administer.")
@pass_context
def add(context: Context, slug: str, name: str | None, unit: str | None) -> None:
    """Add a project and make it the default one.

    Its slug is unique in the installation, and stays.
    """
    unit_id = find_unit(context, unit)["id"] if unit else None
    made = context.client.projects.create(slug, name, unit_id)
    _remember(context, made["slug"])
    context.emit(made, lambda out: out.print(f"project {made['slug']}", markup=False))


@project.command()
@click.argument("slug")
@pass_context
def use(context: Context, slug: str) -> None:
    """Make a project the default one of the next commands."""
    rows = [row for row in context.client.projects.list() if row["slug"] == slug]
    if not rows:
        raise NotFoundError(f"You see no project {slug!r}.", "List those you see: atom project ls")
    _remember(context, slug)
    answer: dict[str, Any] = {"project": slug}
    context.emit(answer, lambda out: out.print(f"project {slug}", markup=False))


def _remember(context: Context, slug: str) -> None:
    """Note the default project beside the server, where `atom login` has written that one."""
    saved = config.saved()
    if saved.url == context.client.config.url:
        config.save(replace(saved, project=slug))
