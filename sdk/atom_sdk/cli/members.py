"""`atom member …`: who has which role in the project, or in a unit."""

from __future__ import annotations

from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table
from atom_sdk.client.errors import NotFoundError

ROLES = click.Choice(["viewer", "labeler", "researcher", "admin"])
_unit = click.option("--unit", help="Id of a unit, instead of the project.")


@click.group()
def member() -> None:
    """List, add, change, remove and invite members of the project, as its administrator."""


@member.command(name="ls")
@click.option("--query", "q", help="Part of the name or address.")
@_unit
@pass_context
def list_(context: Context, q: str | None, unit: str | None) -> None:
    """List the members with their roles, and where these are from."""
    rows = list(context.client.http.pages(f"{_place(context, unit)}members/", q=q))
    cells = [(r["username"], r["full_name"], r["email"], r["role"], _sources(r)) for r in rows]
    columns = ("name", "full name", "e-mail", "role", "from")
    context.emit(rows, lambda out: print_table(out, columns, cells))


def _sources(row: dict[str, Any]) -> str:
    through = (source["through"] for source in row["sources"])
    return ", ".join(unit["name"] if unit else "here" for unit in through)


@member.command()
@click.argument("username")
@click.argument("role", type=ROLES)
@_unit
@pass_context
def add(context: Context, username: str, role: str, unit: str | None) -> None:
    """Give somebody who has an account a role."""
    body = {"username": username, "role": role}
    made = context.client.http.post(f"{_place(context, unit)}members/", body)
    context.emit(made, lambda out: out.print(f"{username} is {role}", markup=False))


@member.command()
@click.argument("username")
@click.argument("role", type=ROLES)
@_unit
@pass_context
def role(context: Context, username: str, role: str, unit: str | None) -> None:
    """Change the role that was given here."""
    path = _address(context, username, unit)
    changed = context.client.http.request("PATCH", path, json={"role": role})
    context.emit(changed, lambda out: out.print(f"{username} is {role}", markup=False))


@member.command()
@click.argument("username")
@_unit
@pass_context
def rm(context: Context, username: str, unit: str | None) -> None:
    """Take the role away, and the person's keys of what it opened."""
    context.client.http.delete(_address(context, username, unit))
    context.emit({"removed": username}, lambda out: out.print("removed"))


@member.command()
@click.argument("role", type=ROLES)
@click.option("--email", default="", help="Mail the link there, where mail is set up.")
@click.option("--days", type=click.IntRange(1, 30), default=7, show_default=True)
@_unit
@pass_context
def invite(context: Context, role: str, email: str, days: int, unit: str | None) -> None:
    """Print a link that gives somebody an account and the role, once."""
    body = {"role": role, "email": email, "days": days}
    made = context.client.http.post(f"{_place(context, unit)}invitations/", body)
    context.emit(made, lambda out: out.print(made["link"], markup=False, soft_wrap=True))


def _place(context: Context, unit: str | None) -> str:
    return f"units/{unit}/" if unit else f"projects/{context.client.project}/"


def _address(context: Context, username: str, unit: str | None) -> str:
    place = _place(context, unit)
    for row in context.client.http.pages(f"{place}members/", q=username):
        if row["username"] == username:
            return f"{place}members/{row['id']}/"
    raise NotFoundError(f"There is no member {username} here.", "List them: atom member ls")
