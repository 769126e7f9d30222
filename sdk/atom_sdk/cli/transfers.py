"""`atom data push` and `atom data pull`: folders of this machine and versions."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from atom_sdk.amounts import counted, size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.folder_labels import print_class_folders
from atom_sdk.cli.render import Bars, path_text
from atom_sdk.cli.selection import selection
from atom_sdk.cli.split_options import splitting

if TYPE_CHECKING:
    from atom_sdk.client.pull.pull import PullResult
    from atom_sdk.export import ExportResult


@click.command()
@click.argument("folder", type=click.Path(exists=True, file_okay=False, path_type=Path))
@click.argument("dataset")
@click.option("-m", "--message", default="", help="What changed.")
@click.option(
    "--labels",
    "labels_from",
    type=click.Choice(["folder"]),
    help="Take each file's label from its class folder.",
)
@click.option(
    "--unlabelled",
    multiple=True,
    metavar="PREFIX",
    help="Files below this folder have no label yet; may be given several times.",
)
@splitting
@click.option(
    "--attributes",
    type=click.Path(exists=True, dir_okay=False, path_type=Path),
    metavar="FILE",
    help="JSON lines or CSV: a path in FOLDER and what is known of it, to query by.",
)
@click.option("--follow-links", is_flag=True, help="Copy what links lead to; keep no links.")
@pass_context
def push(
    context: Context,
    folder: Path,
    dataset: str,
    message: str,
    labels_from: str | None,
    unlabelled: tuple[str, ...],
    split: dict[str, Any] | None,
    attributes: Path | None,
    *,
    follow_links: bool,
) -> None:
    """Make FOLDER's present state the next version of DATASET[@branch].

    Only content that the server does not have is sent. A push that was cut off goes on where it
    stopped: run the same command again.
    """
    from atom_sdk.client.push.push import PushOptions

    options = PushOptions(
        message, labels_from, unlabelled, split, attributes=attributes, follow_links=follow_links
    )
    with Bars(context.err, not context.as_json) as bars:
        result = context.client.datasets.push(folder, dataset, options, bars)
    context.emit(result.as_json(), lambda out: _print_push(out, result))
    if not context.as_json:
        print_class_folders(context, folder, result)


def _print_push(out: Console, result: Any) -> None:
    ref = f"{result.dataset}@{result.version['ref']}"
    if result.unchanged:
        out.print(f"{ref} has this content already; nothing was sent.")
        return
    files, packs = counted(result.files_total, "file"), counted(result.packs_sent, "pack")
    sent = f"{result.files_sent} sent ({size_text(result.bytes_sent)} in {packs})"
    if result.links_total:
        files += f" and {counted(result.links_total, 'link')}"
    out.print(f"{ref}  {files}, {sent}, {result.removed} removed")
    out.print(f"content {result.version['content_digest']}")


@click.command()
@click.argument("ref")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@selection
@click.option("--delete", is_flag=True, help="Remove every other file below FOLDER.")
@click.option(
    "--unsafe-links", is_flag=True, help="Create links that lead out of the version, too."
)
@pass_context
def pull(
    context: Context,
    ref: str,
    folder: Path,
    selector: dict[str, Any],
    *,
    delete: bool,
    unsafe_links: bool,
) -> None:
    """Write the files of REF (digits@v3) below FOLDER, verified; right ones are left alone.

    With a selection only those: atom data pull digits@v3 DIR --where "label = 'cat'".
    """
    from atom_sdk.client.pull.pull import PullOptions

    options = PullOptions(selector, delete, unsafe_links)
    with Bars(context.err, not context.as_json) as bars:
        result = context.client.datasets.pull(ref, folder, options, bars)
    answer = {
        "ref": ref,
        "folder": str(folder),
        "files_selected": result.selected,
        "files_written": result.written,
        "files_removed": result.removed,
        "files_other": result.others,
        "links_selected": result.links,
        "links_written": result.links_written,
        "left_out": [left._asdict() for left in result.left_out],
        "left_out_file": result.left_out_file,
    }
    context.emit(answer, lambda out: _print_pull(out, folder, result, delete=delete))


def _print_pull(out: Console, folder: Path, result: PullResult, *, delete: bool) -> None:
    removed = f"; {result.removed} removed" if delete else ""
    files, there = counted(result.selected, "file"), result.selected - result.written
    if result.links:
        files += f" and {counted(result.links, 'link')}"
        there += result.links - result.links_written
    if result.written + result.links_written == 0:
        were = "was" if there == 1 else "were"
        out.print(f"Nothing was missing: {files} {were} there already, verified{removed}.")
    else:
        already = f", {there} there already, verified" if there else ""
        parts = f"{result.written} of {counted(result.selected, 'file')}"
        if result.links:
            parts += f" and {result.links_written} of {counted(result.links, 'link')}"
        out.print(f"{parts} written to {folder}{already}{removed}.")
    if result.left_out:
        print_left_out(out, result, "pull")
    if result.others:
        stay = "stays" if result.others == 1 else "stay"
        others = counted(result.others, "other file")
        out.print(f"{others} in {folder} {stay}, such as those of another version.")
        out.print("To remove them, pull again with --delete.")


def print_left_out(out: Console, result: PullResult | ExportResult, again: str | None) -> None:
    """Say what is not there, and in which file all of it is named; `again` could create it."""
    first = result.left_out[0]
    links = counted(len(result.left_out), "link")
    line = f"Not created: {links}, such as {path_text(first.path)}: {first.reason}. All are in "
    out.print(f"{line}{result.left_out_file}.", markup=False)
    if again:
        out.print(f"To create them, {again} again with --unsafe-links.")


COMMANDS = (push, pull)
