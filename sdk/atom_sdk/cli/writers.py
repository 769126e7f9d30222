"""`atom data writer …`: who writes to a dataset, and the end of it from outside."""

from __future__ import annotations

from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted, size_text
from atom_sdk.cli.conflict_options import commit_options
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import print_table
from atom_sdk.cli.versions import run


@click.group()
def writer() -> None:
    """Open writers and write jobs of a dataset: list, commit, abandon."""


@writer.command(name="list")
@click.argument("dataset")
@click.option("--all", "with_ended", is_flag=True, help="Those that have ended, too.")
@pass_context
def list_(context: Context, dataset: str, with_ended: bool) -> None:
    """List the writers and write jobs of DATASET."""
    datasets = context.client.datasets
    rows = {
        "writers": list(datasets.writers(dataset, only_open=not with_ended)),
        "write_jobs": list(datasets.write_jobs(dataset, only_open=not with_ended)),
    }
    context.emit(rows, lambda out: _print_writers(out, dataset, rows))


def _print_writers(out: Console, dataset: str, rows: dict[str, list[dict[str, Any]]]) -> None:
    if not any(rows.values()):
        out.print(f"No writer is open on {dataset}.")
        return
    cells = [
        ("job", row["id"], row["name"], row["state"], counted(row["tasks_committed"], "task"), "")
        for row in rows["write_jobs"]
    ]
    cells += [
        (
            "writer",
            row["id"],
            f"{row['write_job']}/{row['task']}" if row["write_job"] else row["branch"],
            row["state"],
            f"{counted(row['files_written'], 'file')}, {size_text(row['bytes_written'])}",
            f"{dataset}@{row['staging']}" if row["staging"] else "",
        )
        for row in rows["writers"]
    ]
    print_table(out, ("kind", "id", "for", "state", "persisted", "read it as"), cells)


@writer.command()
@click.argument("dataset")
@click.argument("writer_id")
@click.option("--job", "is_job", is_flag=True, help="WRITER_ID is a write job.")
@commit_options
@pass_context
def commit(  # one argument per option
    context: Context,
    dataset: str,
    writer_id: str,
    is_job: bool,
    message: str,
    settling: dict[str, Any],
) -> None:
    """Make what the writer WRITER_ID has persisted a version of its branch.

    --ours, --theirs and --take say whose file counts where the branch changed it too: theirs is
    the writer's.
    """
    body = {"message": message, **settling}
    datasets = context.client.datasets
    run(context, lambda: datasets.end_writer(dataset, writer_id, body, is_job=is_job), dataset)


@writer.command()
@click.argument("dataset")
@click.argument("writer_id")
@click.option("--job", "is_job", is_flag=True, help="WRITER_ID is a write job.")
@pass_context
def abandon(context: Context, dataset: str, writer_id: str, is_job: bool) -> None:
    """Give up what the writer WRITER_ID has not committed."""
    found = context.client.datasets.abandon_writer(dataset, writer_id, is_job=is_job)
    context.emit(found, lambda out: out.print(f"{writer_id} is {found['state']}."))


COMMANDS: tuple[click.Command, ...] = (writer,)
