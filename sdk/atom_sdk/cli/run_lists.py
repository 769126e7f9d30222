"""The list of runs from the command line, what people say of them, and the queue."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import duration_text, print_table


@click.command(name="ls")
@click.argument("search", nargs=-1)
@click.option("--state", help="For instance running or failed.")
@click.option("-q", "query", help="Part of the name.")
@click.option("-n", "limit", default=20, show_default=True, type=click.IntRange(1))
@click.option("--sort", help="created, name, duration, cpu_hours, param.lr, -metric.loss …")
@click.option(
    "--column",
    "columns",
    multiple=True,
    metavar="NAME",
    help="A parameter or metric to show: param.lr, metric.loss; can be repeated.",
)
@click.option("--cluster", metavar="NAME", help="For one cluster; local: Atom's own machines.")
@click.option("--sums", is_flag=True, help="Only how many they are, and what they have cost.")
@pass_context
def list_(
    context: Context,
    search: tuple[str, ...],
    state: str | None,
    query: str | None,
    limit: int,
    sort: str | None,
    columns: tuple[str, ...],
    cluster: str | None,
    sums: bool,
) -> None:
    """List runs, newest first: atom ls 'lr>0.01' tag:baseline -- -state:failed."""
    asked = " ".join(search) or None
    filters = {"search": asked, "state": state, "q": query, "cluster": cluster}
    if sums:
        _print_sums(context, context.client.runs.sums(**filters))
        return
    found = context.client.runs.list(**filters, sort=sort, column=list(columns) or None)
    rows = [row for _, row in zip(range(limit), found, strict=False)]
    context.emit(rows, lambda out: _print_list(out, rows, columns))


def _print_list(out: Console, rows: list[dict[str, Any]], columns: tuple[str, ...]) -> None:
    cells = [
        (
            r["number"],
            r["name"],
            r["state"],
            f"{100 * r['progress']:.0f} %",
            " ".join(map(version_text, r["datasets"])),
            (r["created_by"] or {}).get("username", ""),
            duration_text(r["duration_s"]),
            *(r["values"].get(name, "") for name in columns),
        )
        for r in rows
    ]
    heads = ("run", "name", "state", "done", "data", "who", "duration", *columns)
    print_table(out, heads, cells)


def version_text(one: dict[str, Any]) -> str:
    """Return an input as people write it."""
    view = f"?view={one['view']}" if one["view"] else ""
    return f"{one['dataset']}@{one['ref']}{view}"


def _print_sums(context: Context, found: dict[str, Any]) -> None:
    text = (
        f"{found['count']} runs, {found['cpu_hours']:.2f} CPU hours, "
        f"{found['gpu_hours']:.2f} GPU hours"
    )
    context.emit(found, lambda out: out.print(text, markup=False))


@click.command()
@click.argument("run_names", metavar="RUN...", nargs=-1, required=True)
@click.option("--add", multiple=True, metavar="TAG", help="A tag to add; can be repeated.")
@click.option("--remove", multiple=True, metavar="TAG", help="A tag to take away.")
@pass_context
def tag(
    context: Context, run_names: tuple[str, ...], add: tuple[str, ...], remove: tuple[str, ...]
) -> None:
    """Add tags to runs and take others away: atom tag 12 13 --add baseline."""
    if not add and not remove:
        raise click.UsageError("Give --add TAG or --remove TAG.")
    _print_changed(context, run_names, context.client.runs.tag(run_names, add, remove))


@click.command()
@click.argument("run_name", metavar="RUN")
@click.argument("text", required=False)
@click.option("-f", "--file", "file", type=click.Path(exists=True, dir_okay=False, path_type=Path))
@click.option("--append", is_flag=True, help="Add to the notes that are there.")
@pass_context
def note(
    context: Context, run_name: str, text: str | None, file: Path | None, append: bool
) -> None:
    """Show the notes of RUN, or replace them with TEXT or a file.

    Exit code 4 if somebody else changed the run meanwhile; nothing is overwritten then.
    """
    found = context.client.runs.get(run_name)
    given = file.read_text(encoding="utf-8") if file is not None else text
    if given is not None:
        notes = f"{found['notes']}\n{given}".lstrip("\n") if append else given
        found = context.client.runs.describe(found["id"], found["revision"], notes=notes)
    shown = {name: found[name] for name in ("number", "name", "notes", "tags", "revision")}
    context.emit(shown, lambda out: out.print(found["notes"], markup=False))


@click.command()
@click.argument("run_names", metavar="RUN...", nargs=-1, required=True)
@click.option("--undo", is_flag=True, help="Bring them back into the list.")
@pass_context
def archive(context: Context, run_names: tuple[str, ...], undo: bool) -> None:
    """Take runs that are over out of the list; nothing of them is lost."""
    runs = context.client.runs
    found = runs.restore(run_names) if undo else runs.archive(run_names)
    _print_changed(context, run_names, found)


def _print_changed(context: Context, asked: tuple[str, ...], found: dict[str, Any]) -> None:
    lines = [f"{len(found['changed'])} changed"]
    # A run may be named twice, by its number and its id.
    if (same := len(set(asked)) - len(found["changed"]) - len(found["refused"])) > 0:
        lines.append(f"{same} {'was' if same == 1 else 'were'} so already")
    lines += [f"run {one['number']} stays: {one['code']}" for one in found["refused"]]
    context.emit(found, lambda out: out.print("\n".join(lines), markup=False))


@click.command()
@pass_context
def queue(context: Context) -> None:
    """Show what waits, in which order and for what, and what holds a machine."""
    found = context.client.runs.queue()
    context.emit(found, lambda out: _print_queue(out, found))


def _print_queue(out: Console, found: dict[str, Any]) -> None:
    waiting = [
        (
            row["position"] or "",
            row["run"]["number"],
            row["run"]["name"],
            amounts_text(row["run"]),
            " ".join([row["explanation"]["answer"], *_reasons(row)]),
        )
        for row in found["waiting"]
    ]
    print_table(out, ("place", "run", "name", "asks for", "why"), waiting)
    holding = [
        (
            r["number"],
            r["name"],
            r["state"],
            amounts_text(r),
            r["node"] or "",
            f"{r['progress']:.0%}",
        )
        for r in found["holding"]
    ]
    print_table(out, ("run", "name", "state", "holds", "where", "done"), holding)


def _reasons(row: dict[str, Any]) -> list[str]:
    return [reason["text"] for reason in row["explanation"]["reasons"]]


def amounts_text(run: dict[str, Any]) -> str:
    """Return what a run asks for, such as `2 × (4 CPU, 16.0 GiB, 2 GPU A100)`."""
    asked = run["resources"]
    gib = asked["memory_bytes"] / 2**30
    text = f"{asked['cpus']} CPU, {gib:.1f} GiB, {asked['gpus']} GPU"
    # A server of an older version names no kind, and no nodes.
    text = f"{text} {run.get('accelerator', '')}".rstrip()
    nodes = run.get("nodes", 1)
    return f"{nodes} × ({text})" if nodes > 1 else text


COMMANDS = (list_, tag, note, archive, queue)
