"""`atom data replicate` and `atom data replicas`: versions in second stores before runs."""

from __future__ import annotations

import time
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import size_text
from atom_sdk.cli.context import EXIT_FAILED, Context, pass_context
from atom_sdk.cli.options import Size
from atom_sdk.cli.render import print_table
from atom_sdk.cli.warming import Ahead

_EVERY_S = 2.0
_OPEN = ("waiting", "copying", "verifying")


@click.command()
@click.argument("ref")
@click.option("--store", required=True, help="The second store; see: atom stores list")
@click.option("--until", type=Ahead(), help="Remove it after a time such as 12h or 30d.")
@click.option("--pin", is_flag=True, help="Keep it until somebody removes it.")
@click.option("--rate", type=Size(), help="The most a second, such as 200MB.")
@click.option("--dry-run", is_flag=True, help="Only show the bytes and the price.")
@click.option("--follow", is_flag=True, help="Wait until it is there.")
@pass_context
def replicate(
    context: Context,
    ref: str,
    store: str,
    until: int | None,
    rate: int | None,
    *,
    pin: bool,
    dry_run: bool,
    follow: bool,
) -> int:
    """Copy REF (digits@v3) into a second store, so that runs near it read it there.

    Only packs that the store lacks are sent; each is read back before it counts.
    """
    datasets = context.client.datasets
    if dry_run:
        expected = datasets.replicas.preview(ref, store)
        context.emit(expected, lambda out: _print_preview(out, expected))
        return 0
    if pin == (until is not None):
        raise click.UsageError("Choose --until or --pin.")
    ends_at = datetime.now(UTC) + timedelta(seconds=until) if until else None
    replica = datasets.replicas.start(
        ref,
        store,
        pinned=pin,
        ends_at=ends_at.isoformat() if ends_at else None,
        rate_bytes_s=rate,
    )
    if follow:
        replica = _follow(context, ref, replica)
    context.emit(replica, lambda out: _print_replica(out, replica))
    return EXIT_FAILED if replica["state"] in ("failed", "removing") else 0


def _follow(context: Context, ref: str, replica: dict[str, Any]) -> dict[str, Any]:
    shown = ""
    while replica["state"] in _OPEN:
        line = _progress(replica)
        if line != shown:
            context.err.print(line, markup=False)
            shown = line
        time.sleep(_EVERY_S)
        replica = context.client.datasets.replicas.get(ref, replica["store"])
    return replica


def _progress(replica: dict[str, Any]) -> str:
    total = size_text(replica["bytes_total"])
    copied, verified = size_text(replica["bytes_copied"]), size_text(replica["bytes_verified"])
    return f"{replica['state']}: {copied} copied and {verified} verified of {total}"


def price_text(amount: str | None, currency: str) -> str:
    """Return a price to read, "unknown" without one."""
    if amount is None:
        return "unknown"
    return f"{Decimal(amount).quantize(Decimal('0.01'))} {currency}".strip()


def _print_preview(out: Console, expected: dict[str, Any]) -> None:
    moving, total = size_text(expected["bytes_to_copy"]), size_text(expected["bytes_total"])
    once = price_text(expected["cost"], expected["currency"])
    month = price_text(expected["cost_per_month"], expected["currency"])
    out.print(
        f"{moving} of {total} would move to {expected['store']} "
        f"({expected['packs_to_copy']} of {expected['packs_total']} packs).",
        markup=False,
    )
    out.print(f"Price: {once} once, {month} a month.", markup=False)


def _print_replica(out: Console, replica: dict[str, Any]) -> None:
    named = f"{replica['dataset']}@{replica['ref']}"
    out.print(f"{named} in {replica['store']}: {_progress(replica)}.", markup=False)
    if replica["error"]:
        out.print(f"{replica['error']['detail']} {replica['error']['action']}", markup=False)


@click.command()
@click.argument("ref", required=False)
@click.option("--store", help="With --remove, --pin and --until: the store of the replica.")
@click.option("--remove", is_flag=True, help="Remove the replica of REF in --store.")
@click.option("--pin", is_flag=True, help="Keep the replica of REF in --store.")
@click.option("--until", type=Ahead(), help="Remove the replica of REF in --store after a time.")
@pass_context
def replicas(
    context: Context,
    ref: str | None,
    store: str | None,
    until: int | None,
    *,
    remove: bool,
    pin: bool,
) -> None:
    """List the project's replicas or those of REF; change or remove one."""
    datasets = context.client.datasets
    changes = [remove, pin, until is not None].count(True)
    if changes and (ref is None or store is None or changes > 1):
        raise click.UsageError("Name REF and --store, and one of --remove, --pin and --until.")
    if ref is not None and store is not None and remove:
        datasets.replicas.remove(ref, store)
    elif ref is not None and store is not None and changes:
        ends_at = datetime.now(UTC) + timedelta(seconds=until) if until else None
        end = {"ends_at": ends_at.isoformat()} if ends_at else {"pinned": True}
        datasets.replicas.change(ref, store, **end)
    rows = datasets.replicas.of(ref) if ref else datasets.replicas.list()
    context.emit(rows, lambda out: _print_replicas(out, rows))


def _print_replicas(out: Console, rows: list[dict[str, Any]]) -> None:
    cells = [
        (
            f"{row['dataset']}@{row['ref']}",
            row["store"],
            row["state"],
            f"{size_text(row['bytes_verified'])} of {size_text(row['bytes_total'])}",
            "pinned" if row["pinned"] else row["ends_at"],
            price_text(row["cost"], row["currency"]),
            row["error"]["detail"] if row["error"] else "",
        )
        for row in rows
    ]
    print_table(out, ("version", "store", "state", "verified", "until", "price", "error"), cells)
