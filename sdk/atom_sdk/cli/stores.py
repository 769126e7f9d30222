"""`atom stores …`: buckets beside the installation's own, for replicas of versions."""

from __future__ import annotations

import os
from collections.abc import Callable
from decimal import Decimal, InvalidOperation
from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.options import StrType
from atom_sdk.cli.render import print_table

# Never options: what is on a command line is in the shell's history and in every `ps`.
_KEY = "ATOM_STORE_ACCESS_KEY_ID"
_SECRET = "ATOM_STORE_SECRET_ACCESS_KEY"  # a variable's name
_SESSION = "ATOM_STORE_SESSION_TOKEN"
_UNKNOWN = "unknown"
_FEES = {
    "egress_per_gib": "egress/GiB",
    "write_per_gib": "write/GiB",
    "keep_per_gib_month": "keep/GiB month",
}


class Fee(StrType):
    """A price of at least 0, with at most 6 decimals, or `unknown`."""

    name = "fee"

    def convert(self, value: str, param: click.Parameter | None, ctx: click.Context | None) -> str:
        """Return the fee as text; another text is a usage error."""
        text = value.strip().lower()
        if text == _UNKNOWN:
            return text
        try:
            fee = Decimal(text)
        except InvalidOperation:
            fee = Decimal(-1)
        exponent = fee.as_tuple().exponent
        if not fee.is_finite() or fee < 0 or not isinstance(exponent, int) or exponent < -6:
            self.fail(f"{value!r} is not a price like 0.09, nor {_UNKNOWN}", param, ctx)
        return text


def _fees(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add the options of the fees."""
    for option in (
        click.option("--currency", metavar="CODE", help="Three letters, such as EUR."),
        click.option("--keep", type=Fee(), help="Keeping a GiB for a month; or unknown."),
        click.option("--write", type=Fee(), help="Writing a GiB; or unknown."),
        click.option("--egress", type=Fee(), help="A GiB out of Atom's own store; or unknown."),
    ):
        command = option(command)
    return command


def _fee_fields(options: dict[str, Any]) -> dict[str, str | None]:
    """Take the fees from options that were given, as the API names them; None: unknown."""
    named = {
        "egress_per_gib": options.pop("egress"),
        "write_per_gib": options.pop("write"),
        "keep_per_gib_month": options.pop("keep"),
        "currency": options.pop("currency"),
    }
    given = {name: value for name, value in named.items() if value is not None}
    return {name: None if value == _UNKNOWN else value for name, value in given.items()}


@click.group()
def stores() -> None:
    """List, add and check second stores (docs/replicas.md).

    \b
      atom stores add frankfurt https://s3.eu-central-1.amazonaws.com mirror --egress 0.09 --currency EUR
      atom data replicate digits@v3 --store frankfurt --pin
    """  # noqa: D301, E501  # click wants the character itself before lines that it keeps apart


@stores.command(name="list")
@pass_context
def list_(context: Context) -> None:
    """List the second stores with their fees and the last check."""
    rows = context.client.stores.list()
    context.emit(rows, lambda out: _print_stores(out, rows))


@stores.command()
@click.argument("name")
@click.argument("endpoint")
@click.argument("bucket")
@click.option("--prefix", help="The beginning of all keys that Atom writes there.")
@click.option("--region")
@_fees
@pass_context
def add(context: Context, /, name: str, endpoint: str, bucket: str, **options: Any) -> None:
    """Add BUCKET of the S3 service at ENDPOINT as the store NAME.

    The keys are taken from ATOM_STORE_ACCESS_KEY_ID and ATOM_STORE_SECRET_ACCESS_KEY, or asked
    for. A store where Atom cannot write, list, read and delete is not added.
    """
    fees = _fee_fields(options)
    place = {key: value for key, value in options.items() if value is not None}
    row = context.client.stores.add(name, endpoint, bucket, **place, **fees, **_keys())
    context.emit(row, lambda out: _print_stores(out, [row]))


@stores.command()
@click.argument("name")
@pass_context
def check(context: Context, name: str) -> int:
    """Write, list, read and delete a small object in a store; exit code 1 if that fails."""
    row = context.client.stores.check(name)
    context.emit(row, lambda out: _print_check(out, row))
    return EXIT_FAILED if row["problem"] else 0


@stores.command()
@click.argument("name")
@_fees
@pass_context
def fees(context: Context, /, name: str, **options: Any) -> None:
    """Show the fees of a store; with an option, change them."""
    changes, client = _fee_fields(options), context.client.stores
    row = client.change(name, **changes) if changes else client.get(name)
    context.emit(row, lambda out: _print_stores(out, [row]))


@stores.command()
@click.argument("name")
@pass_context
def keys(context: Context, name: str) -> None:
    """Give a store new keys, which are checked first; from variables as in `atom stores add`."""
    row = context.client.stores.change(name, **_keys())
    context.emit(row, lambda out: _print_check(out, row))


@stores.command()
@click.argument("name")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask, as in a script.")
@pass_context
def remove(context: Context, name: str, *, is_sure: bool) -> None:
    """Forget a store and its keys; refused while replicas are there."""
    typed = name if is_sure else click.prompt(f"Type {name} to remove it", err=True)
    if typed != name:
        raise click.UsageError("The name does not match: nothing was removed.")
    context.client.stores.remove(name)
    context.emit({"removed": name}, lambda out: out.print(f"removed {name}", markup=False))


def _keys() -> dict[str, str]:
    key = os.environ.get(_KEY) or click.prompt("Access key id", err=True)
    secret = os.environ.get(_SECRET) or click.prompt("Secret key", hide_input=True, err=True)
    session = os.environ.get(_SESSION, "")
    return {
        "access_key_id": key,
        "secret_access_key": secret,
        **({"session_token": session} if session else {}),
    }


def _fee_text(amount: str | None, currency: str) -> str:
    """Return a fee to read, with all its digits."""
    return _UNKNOWN if amount is None else f"{Decimal(amount).normalize():f} {currency}".strip()


def _print_stores(out: Console, rows: list[dict[str, Any]]) -> None:
    cells = [
        (
            row["name"],
            row["region"],
            "failed" if row["problem"] else "passed",
            *(_fee_text(row[name], row["currency"]) for name in _FEES),
            row["replica_count"],
        )
        for row in rows
    ]
    titles = ("store", "region", "last check", *_FEES.values(), "replicas")
    print_table(out, titles, cells)


def _print_check(out: Console, row: dict[str, Any]) -> None:
    if problem := row["problem"]:
        out.print(f"{row['name']}: {problem['detail']} {problem['action']}", markup=False)
    else:
        out.print(f"{row['name']}: the check passed", markup=False)
