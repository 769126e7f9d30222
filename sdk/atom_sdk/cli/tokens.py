"""`atom token …`: the caller's API tokens."""

from __future__ import annotations

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.group()
def token() -> None:
    """List, make and revoke API tokens."""


@token.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the tokens that are in force."""
    rows = list(context.client.http.pages("tokens/"))
    cells = [
        (
            r["id"],
            r["name"],
            r["prefix"],
            " ".join(r["scopes"]),
            r["project"] or "all",
            (r["expires_at"] or "never")[:16],
            (r["last_used_at"] or "never")[:16],
        )
        for r in rows
    ]
    columns = ("id", "name", "prefix", "scopes", "project", "expires", "last used")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@token.command()
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    default=("read",),
    show_default=True,
    type=click.Choice(["read", "push", "write", "admin"]),
)
@click.option("--project", help="Bind the token to one project.")
@pass_context
def create(context: Context, name: str, scopes: tuple[str, ...], project: str | None) -> None:
    """Make a token; its secret is shown once."""
    body = {"name": name, "scopes": list(scopes), "project": project}
    new = context.client.http.post("tokens/", body)
    context.emit(new, lambda out: out.print(new["secret"], markup=False))


@token.command()
@click.argument("token_id")
@pass_context
def revoke(context: Context, token_id: str) -> None:
    """Revoke a token at once."""
    context.client.http.delete(f"tokens/{token_id}/")
    context.emit({"revoked": token_id}, lambda out: out.print("revoked"))
