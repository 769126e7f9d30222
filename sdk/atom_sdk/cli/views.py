"""`atom data views …`: named questions about a dataset."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table
from atom_sdk.client.refs import parse_ref


def _line(text: str) -> str:
    """Return the text in one line; unlike a path's, its backslashes are part of the language."""
    escaped = (c if c.isprintable() else c.encode("unicode_escape").decode() for c in text)
    return "".join(escaped)


@click.group()
def views() -> None:
    """Saved queries, to be used wherever --where is: --view NAME, digits@v3?view=NAME."""


@views.command(name="list")
@click.argument("dataset")
@pass_context
def list_(context: Context, dataset: str) -> None:
    """List the views of DATASET."""
    rows = context.client.views.list(dataset)
    context.emit(rows, lambda out: _print_views(out, dataset, rows))


def _print_views(out: Console, dataset: str, rows: list[dict[str, Any]]) -> None:
    if not rows:
        out.print(f"{dataset} has no view. Save one: atom data views save {dataset} NAME --where …")
        return
    cells = [(row["name"], _line(row["query"]), _who(row)) for row in rows]
    print_table(out, ("view", "query", "by"), cells)


def _who(row: dict[str, Any]) -> str:
    return str((row["created_by"] or {}).get("username", ""))


@views.command()
@click.argument("dataset")
@click.argument("name")
@click.option("--where", default="", metavar="QUERY", help="As after SQL's WHERE.")
@click.option("--split", "splits", multiple=True, metavar="NAME", help="Only this; repeatable.")
@click.option("--prefix", default="", metavar="FOLDER/", help="Only paths that begin with this.")
@click.option("--replace", is_flag=True, help="Change the view of that name, if there is one.")
@pass_context
def save(
    context: Context,
    dataset: str,
    name: str,
    where: str,
    splits: tuple[str, ...],
    prefix: str,
    *,
    replace: bool,
) -> None:
    """Save a question about DATASET as the view NAME."""
    saved = context.client.views.save(dataset, name, where, prefix, splits, replace=replace)
    context.emit(saved, lambda out: _print_saved(out, dataset, saved))


def _print_saved(out: Console, dataset: str, view: dict[str, Any]) -> None:
    name = parse_ref(dataset).dataset
    out.print(f"{view['name']}: {_line(view['query'])}", markup=False)
    out.print(f"atom data pull {name} ./{name} --view {view['name']}", markup=False)


@views.command()
@click.argument("dataset")
@click.argument("name")
@click.argument("new_name")
@pass_context
def rename(context: Context, dataset: str, name: str, new_name: str) -> None:
    """Give the view NAME of DATASET another name."""
    changed = context.client.views.change(dataset, name, name=new_name)
    context.emit(changed, lambda out: _print_saved(out, dataset, changed))


@views.command()
@click.argument("dataset")
@click.argument("name")
@pass_context
def show(context: Context, dataset: str, name: str) -> None:
    """Show what the view NAME asks."""
    found = context.client.views.get(dataset, name)
    rows = [
        ("where", _line(found["where"])),
        ("folder", _line(found["prefix"])),
        ("splits", " ".join(found["splits"])),
        ("query", _line(found["query"])),
        ("by", _who(found)),
        ("changed", found["updated_at"][:16]),
    ]
    context.emit(found, lambda out: print_table(out, ("", ""), rows))


@views.command()
@click.argument("dataset")
@click.argument("name")
@pass_context
def remove(context: Context, dataset: str, name: str) -> None:
    """Take the view NAME away; runs that used it stay as they are."""
    gone = context.client.views.remove(dataset, name)
    context.emit(gone, lambda out: out.print(f"Removed {name}: {gone['query']}", markup=False))


COMMANDS: tuple[click.Command, ...] = (views,)
