"""`atom service-account …`: accounts for programs, and their tokens."""

from __future__ import annotations

from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.members import ROLES
from atom_sdk.cli.render import print_table
from atom_sdk.client.errors import NotFoundError

_SCOPES = click.Choice(["read", "push", "write", "admin"])
_unit = click.option("--unit", help="Id of a unit, instead of the project.")


@click.group(name="service-account")
def service_account() -> None:
    """List, make and change accounts for programs of the project, as its administrator."""


@service_account.command(name="ls")
@_unit
@pass_context
def list_(context: Context, unit: str | None) -> None:
    """List the accounts with their roles, and when a program last used one."""
    rows = list(context.client.http.pages(_base(context, unit)))
    cells = [
        (
            row["name"],
            row["username"],
            row["role"] or "–",
            "active" if row["is_active"] else "deactivated",
            str(row["token_count"]),
            (row["last_used_at"] or "never")[:16],
        )
        for row in rows
    ]
    columns = ("name", "user name", "role", "state", "tokens", "last used")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@service_account.command()
@click.argument("name")
@click.argument("role", type=ROLES)
@_unit
@pass_context
def add(context: Context, name: str, role: str, unit: str | None) -> None:
    """Make an account with a role here and nowhere else."""
    made = context.client.http.post(_base(context, unit), {"name": name, "role": role})
    context.emit(made, lambda out: out.print(f"{made['username']} is {role}", markup=False))


@service_account.command()
@click.argument("name")
@click.argument("role", type=ROLES)
@_unit
@pass_context
def role(context: Context, name: str, role: str, unit: str | None) -> None:
    """Change the role."""
    changed = _change(context, name, unit, {"role": role})
    context.emit(changed, lambda out: out.print(f"{changed['username']} is {role}", markup=False))


@service_account.command()
@click.argument("name")
@_unit
@pass_context
def deactivate(context: Context, name: str, unit: str | None) -> None:
    """Let the account do nothing any more; every token is revoked for good."""
    changed = _change(context, name, unit, {"is_active": False})
    context.emit(changed, lambda out: out.print("deactivated"))


@service_account.command()
@click.argument("name")
@_unit
@pass_context
def activate(context: Context, name: str, unit: str | None) -> None:
    """Let the account act again, with new tokens."""
    changed = _change(context, name, unit, {"is_active": True})
    context.emit(changed, lambda out: out.print("active"))


@service_account.command()
@click.argument("name")
@_unit
@pass_context
def tokens(context: Context, name: str, unit: str | None) -> None:
    """List the account's tokens that are in force."""
    rows = list(context.client.http.pages(f"{_address(context, name, unit)}tokens/"))
    cells = [
        (
            row["id"],
            row["name"],
            row["prefix"],
            " ".join(row["scopes"]),
            (row["expires_at"] or "never")[:16],
            (row["last_used_at"] or "never")[:16],
        )
        for row in rows
    ]
    columns = ("id", "name", "prefix", "scopes", "expires", "last used")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@service_account.command(name="add-token")
@click.argument("name")
@click.argument("token_name")
@click.option(
    "--scope", "scopes", multiple=True, default=("read",), show_default=True, type=_SCOPES
)
@click.option("--expires", metavar="TIME", help="With its zone, like 2027-01-31T08:00:00Z.")
@_unit
@pass_context
def add_token(  # one parameter per option
    context: Context,
    name: str,
    token_name: str,
    scopes: tuple[str, ...],
    expires: str | None,
    unit: str | None,
) -> None:
    """Make a token for the account; its secret is shown once."""
    body = {"name": token_name, "scopes": list(scopes), "expires_at": expires}
    made = context.client.http.post(f"{_address(context, name, unit)}tokens/", body)
    context.emit(made, lambda out: out.print(made["secret"], markup=False))


@service_account.command(name="revoke-token")
@click.argument("name")
@click.argument("token_id")
@_unit
@pass_context
def revoke_token(context: Context, name: str, token_id: str, unit: str | None) -> None:
    """Revoke one of the account's tokens at once."""
    context.client.http.delete(f"{_address(context, name, unit)}tokens/{token_id}/")
    context.emit({"revoked": token_id}, lambda out: out.print("revoked"))


def _base(context: Context, unit: str | None) -> str:
    place = f"units/{unit}/" if unit else f"projects/{context.client.project}/"
    return f"{place}service-accounts/"


def _address(context: Context, name: str, unit: str | None) -> str:
    base = _base(context, unit)
    for row in context.client.http.pages(base):
        if name in {row["id"], row["name"], row["username"]}:
            return f"{base}{row['id']}/"
    said = f"There is no service account {name!r} here."
    raise NotFoundError(said, "List them: atom service-account ls")


def _change(context: Context, name: str, unit: str | None, body: dict[str, Any]) -> Any:
    return context.client.http.request("PATCH", _address(context, name, unit), json=body)
