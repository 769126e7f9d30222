"""`atom data retention|restore|hold …`: what of a dataset is kept."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table


@click.command()
@click.argument("dataset")
@click.option("--all", "keep_all", is_flag=True, help="Keep every version.")
@click.option("--last", type=click.IntRange(1), help="Keep the last N versions of main.")
@click.option("--days", type=click.IntRange(1), help="Keep the versions of the last D days.")
@pass_context
def retention(
    context: Context, dataset: str, keep_all: bool, last: int | None, days: int | None
) -> None:
    """Show which versions of DATASET stay by themselves, or set it with one option.

    Heads of branches, tagged, used and held versions stay in any case. Other versions that leave
    retention expire in the next night. They can be restored until their files are collected.
    """
    chosen: list[tuple[str, int | None]] = [("all", None)] if keep_all else []
    chosen += [(kind, limit) for kind, limit in (("last", last), ("days", days)) if limit]
    if len(chosen) > 1:
        raise click.UsageError("Give one of --all, --last and --days.")
    policies = context.client.retention
    found = policies.set_policy(dataset, *chosen[0]) if chosen else policies.policy(dataset)
    context.emit(found, lambda out: _print_retention(out, dataset, found))


def _print_retention(out: Console, dataset: str, found: dict[str, Any]) -> None:
    words = {
        "all": "keeps every version",
        "last": f"keeps the last {counted(found['limit'], 'version')} of main",
        "days": f"keeps the versions of the last {counted(found['limit'], 'day')}",
    }
    out.print(f"{dataset} {words[found['kind']]}.")
    if found["due_count"]:
        more = ", …" if found["due_count"] > len(found["due"]) else ""
        names = ", ".join(found["due"]) + more
        out.print(f"{counted(found['due_count'], 'expires', 'expire')} in the next night: {names}")


@click.command()
@click.argument("ref")
@pass_context
def restore(context: Context, ref: str) -> None:
    """Keep the expired version REF (digits@v3) again, as long as its files are there."""
    found = context.client.retention.restore(ref)
    context.emit(found, lambda out: out.print(f"{ref} is {found['state']}."))


@click.command()
@click.argument("dataset")
@click.option("--confirm", "typed", metavar="NAME", help="The dataset's name again; asked for.")
@click.option("--yes", "is_sure", is_flag=True, help="Do not ask, as in a script.")
@pass_context
def delete(context: Context, dataset: str, typed: str | None, is_sure: bool) -> None:
    """Delete DATASET with all its versions; for 30 days it can be taken back.

    Its name stays taken until its files are collected. Refused while a hold keeps it, or runs,
    label tasks or commits need it.
    """
    if is_sure and typed is None:
        typed = dataset
    if typed is None:
        typed = click.prompt(f"Type {dataset} to delete it", err=True)
    if typed != dataset:
        raise click.UsageError("The name does not match: nothing was deleted.")
    context.client.retention.delete(dataset)
    said = f"{dataset} is deleted. Take it back: atom data undelete {dataset}"
    context.emit({"deleted": dataset}, lambda out: out.print(said))


@click.command()
@pass_context
def deleted(context: Context) -> None:
    """List the deleted datasets that can be taken back."""
    rows = list(context.client.retention.deleted())
    context.emit(rows, lambda out: _print_deleted(out, rows))


def _print_deleted(out: Console, rows: list[dict[str, Any]]) -> None:
    if not rows:
        out.print("No deleted dataset can be taken back.")
        return
    cells = [
        (row["name"], str(row["versions_count"]), row["deleted_at"], row["restorable_until"])
        for row in rows
    ]
    print_table(out, ("name", "versions", "deleted", "can be taken back until"), cells)


@click.command()
@click.argument("dataset")
@pass_context
def undelete(context: Context, dataset: str) -> None:
    """Take back the deletion of DATASET, with all that it had."""
    found = context.client.retention.undelete(dataset)
    context.emit(found, lambda out: out.print(f"{found['name']} is back."))


@click.group()
def hold() -> None:
    """Legal holds: nothing of what is held expires or is collected."""


@hold.command()
@click.argument("ref")
@click.option("--reason", required=True, help="Why it must be kept.")
@pass_context
def place(context: Context, ref: str, reason: str) -> None:
    """Hold a dataset (digits) or one version (digits@v3) until the hold is released."""
    found = context.client.retention.place_hold(ref, reason)
    context.emit(found, lambda out: out.print(f"{ref} is held: {found['id']}"))


@hold.command(name="list")
@click.argument("dataset")
@pass_context
def list_(context: Context, dataset: str) -> None:
    """List the holds of DATASET, released ones too."""
    rows = list(context.client.retention.holds(dataset))
    context.emit(rows, lambda out: _print_holds(out, dataset, rows))


def _print_holds(out: Console, dataset: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        out.print(f"{dataset} has no hold. Place one: atom data hold place {dataset} --reason …")
        return
    cells = [
        (row["id"], row["ref"] or "everything", row["reason"], row["released_at"] or "held")
        for row in rows
    ]
    print_table(out, ("id", "holds", "reason", "released"), cells)


@hold.command()
@click.argument("dataset")
@click.argument("hold_id")
@pass_context
def release(context: Context, dataset: str, hold_id: str) -> None:
    """End the hold HOLD_ID of DATASET."""
    found = context.client.retention.release_hold(dataset, hold_id)
    context.emit(found, lambda out: out.print(f"Released at {found['released_at']}."))


COMMANDS: tuple[click.Command, ...] = (retention, restore, delete, deleted, undelete, hold)
