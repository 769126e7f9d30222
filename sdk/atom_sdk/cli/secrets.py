"""`atom secret …`: values that the project's runs get as variables."""

from __future__ import annotations

import sys
from typing import TextIO
from urllib.parse import quote

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.group()
def secret() -> None:
    """Keep, list and remove the secrets that runs of the project get."""


@secret.command(name="ls")
@pass_context
def list_(context: Context) -> None:
    """List the names; nobody can read the values back."""
    rows = list(context.client.http.pages(f"projects/{context.client.project}/secrets/"))
    cells = [
        (
            r["name"],
            r["set_by"] or "–",
            r["set_at"][:16],
            (r["last_used_at"] or "never")[:16],
            r["description"],
        )
        for r in rows
    ]
    columns = ("name", "set by", "set", "last used", "what for")
    context.emit(rows, lambda out: print_table(out, columns, cells))


@secret.command(name="set")
@click.argument("name")
@click.option(
    "--from",
    "file",
    type=click.File(encoding="utf-8"),
    help="A file that holds the value, a private key for instance; - is the standard input.",
)
@click.option("--description", help="The purpose of the secret.")
@pass_context
def set_(context: Context, name: str, file: TextIO | None, description: str | None) -> None:
    """Keep a value under NAME, in place of the one before; asks for it unless --from is given."""
    body = {"value": _value_of(file)}
    if description is not None:
        body["description"] = description
    kept = context.client.http.put(_path(context, name), body)
    context.emit(kept, lambda out: out.print(f"kept {name}", markup=False))


@secret.command()
@click.argument("name")
@pass_context
def rm(context: Context, name: str) -> None:
    """Remove a secret; runs that name it and have not started will fail."""
    context.client.http.delete(_path(context, name))
    context.emit({"removed": name}, lambda out: out.print(f"removed {name}", markup=False))


def _path(context: Context, name: str) -> str:
    return f"projects/{context.client.project}/secrets/{quote(name, safe='')}/"


def _value_of(file: TextIO | None) -> str:
    """The value; never an argument, which other users of the machine and the history would see."""
    if file is None:
        if not sys.stdin.isatty():
            raise click.UsageError("No terminal can ask for the value: give it with --from -.")
        return str(click.prompt("Value", hide_input=True))
    try:
        value = file.read()
    except UnicodeDecodeError as error:
        raise click.BadParameter("the file is not text in UTF-8", param_hint="--from") from error
    # The line's end of `echo value` is no part of it; those of a key are.
    return value[:-1] if value.count("\n") == 1 and value.endswith("\n") else value
