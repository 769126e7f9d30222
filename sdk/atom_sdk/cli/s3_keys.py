"""`atom s3-key …`: the caller's S3 key pairs."""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.group(name="s3-key")
def s3_key() -> None:
    """List, make and revoke key pairs that read versions with any S3 tool."""


@s3_key.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the key pairs that are in force."""
    rows = list(context.client.http.pages("s3-keys/"))
    cells = [
        (
            r["id"],
            r["name"],
            r["access_key_id"],
            r["project"],
            (r["expires_at"] or "never")[:16],
            (r["last_used_at"] or "never")[:16],
        )
        for r in rows
    ]
    columns = ("id", "name", "access key id", "project", "expires", "last used")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@s3_key.command()
@click.argument("name")
@click.option("--project", help="The project that it reads; the present one when left out.")
@click.option("--days", type=click.IntRange(1, 3650), help="Expires after so many days.")
@pass_context
def create(context: Context, name: str, project: str | None, days: int | None) -> None:
    """Make a key pair; its secret is shown once.

    It prints what most S3 tools read from the environment.
    """
    expires = datetime.now(UTC) + timedelta(days=days) if days else None
    body = {
        "name": name,
        "project": project or context.client.project,
        "expires_at": expires.isoformat() if expires else None,
    }
    new = context.client.http.post("s3-keys/", body)
    context.emit(new, lambda out: _print_environment(out, new))


def _print_environment(out: Console, new: dict[str, Any]) -> None:
    for variable, value in (
        ("AWS_ACCESS_KEY_ID", new["access_key_id"]),
        ("AWS_SECRET_ACCESS_KEY", new["secret_access_key"]),
        ("AWS_ENDPOINT_URL", new["endpoint_url"]),
        ("AWS_REGION", "us-east-1"),
    ):
        out.print(f"export {variable}={value}", markup=False)


@s3_key.command()
@click.argument("key_id")
@pass_context
def revoke(context: Context, key_id: str) -> None:
    """Revoke a key pair by its id or access key id; it is refused within a minute."""
    rows = context.client.http.pages("s3-keys/")
    found = next((row["id"] for row in rows if row["access_key_id"] == key_id), key_id)
    context.client.http.delete(f"s3-keys/{found}/")
    context.emit({"revoked": found}, lambda out: out.print("revoked"))
