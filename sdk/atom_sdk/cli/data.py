"""`atom data …`: datasets and their versions."""

from __future__ import annotations

from dataclasses import asdict
from pathlib import Path
from typing import Any

import click
from rich.console import Console

from atom_sdk.amounts import counted, entries_text, size_text
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.diffs import MARKS, diff
from atom_sdk.cli.folder_labels import folder_labels
from atom_sdk.cli.render import Bars, path_text, print_table, without_zeros
from atom_sdk.cli.replicas import replicas, replicate
from atom_sdk.cli.split_options import splitting
from atom_sdk.cli.transfers import print_left_out
from atom_sdk.cli.warming import warm, warm_plans
from atom_sdk.client.errors import FolderNotFoundError
from atom_sdk.client.refs import parse_ref


@click.group()
def data() -> None:
    """Push, pull, list and compare dataset versions."""


data.add_command(warm)
data.add_command(warm_plans)
data.add_command(replicate)
data.add_command(replicas)


@data.command(name="split")
@click.argument("dataset")
@splitting
@click.option("-m", "--message", default="", help="Why it is split.")
@click.option("--dry-run", is_flag=True, help="Only show how many files each split would get.")
@pass_context
def split_(
    context: Context, dataset: str, split: dict[str, Any] | None, message: str, *, dry_run: bool
) -> None:
    """Split the files of DATASET[@branch] in a new version; no bytes are sent. Ctrl-C cancels.

    atom data split digits --split test=20% --group-by attributes.patient
    """
    if split is None:
        raise click.UsageError("Say how much to hold out, such as --split test=20%.")
    if dry_run:
        counts = context.client.datasets.preview_split(dataset, split)
        context.emit(counts, lambda out: _print_splits(out, counts))
        return
    with Bars(context.err, not context.as_json) as bars:
        version = context.client.datasets.split(dataset, split, message, bars)
    name = parse_ref(dataset).dataset
    context.emit(version, lambda out: out.print(f"{name}@{version['ref']} is split."))


data.add_command(folder_labels)
data.add_command(diff)


@data.command()
@click.argument("ref")
@pass_context
def stats(context: Context, ref: str) -> None:
    """Count the files of REF (digits@v3) by label and split, and name those in no split."""
    counts = context.client.datasets.stats(ref)
    context.emit(counts, lambda out: _print_stats(out, counts))


def _print_stats(out: Console, counts: dict[str, Any]) -> None:
    rows = [("split", name, files) for name, files in counts["splits"].items()]
    # A server from before they were counted says nothing of them.
    unsplit = counts.get("unsplit", 0)
    rows += [("split", "none: counts as train", unsplit)] if unsplit else []
    rows += [("label", path_text(name), files) for name, files in counts["labels"].items()]
    rows += [("label", "none", counts["unlabelled"])] if counts["unlabelled"] else []
    if "links" in counts:
        # A server from before they were counted apart says nothing of them.
        out.print(entries_text(counts["files"], counts["links"]))
    print_table(out, ("", "name", "files"), rows)
    for kind, title in (("unsplit", "In no split"), ("unreadable", "Unreadable")):
        paths = counts.get(f"{kind}_paths", [])
        if paths:
            more = ", …" if counts[kind] > len(paths) else ""
            out.print(f"{title}: {', '.join(map(path_text, paths))}{more}")


def _print_splits(out: Console, counts: list[dict[str, Any]]) -> None:
    labels = sorted({label for row in counts for label in row["labels"]})
    cells = [
        (row["name"], row["total"], row["unlabelled"], *(row["labels"].get(n, 0) for n in labels))
        for row in counts
    ]
    print_table(out, ("split", "files", "no label", *map(path_text, labels)), cells)


@data.command()
@click.argument("ref")
@click.argument("folder", type=click.Path(file_okay=False, path_type=Path))
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["folder", "webdataset", "tfrecord", "parquet"]),
    default="folder",
    show_default=True,
)
@click.option("--split", help="Only this split.")
@click.option(
    "--shard-mb",
    type=click.IntRange(1),
    default=128,
    show_default=True,
    help="Size of a shard, in MiB.",
)
@click.option(
    "--unsafe-links",
    is_flag=True,
    help="With --format folder: create links that lead out of the version, too.",
)
@pass_context
def export(
    context: Context,
    ref: str,
    folder: Path,
    file_format: str,
    split: str | None,
    shard_mb: int,
    *,
    unsafe_links: bool,
) -> None:
    """Write REF (digits@v3) to FOLDER in a format that other tools read.

    An export that was cut off goes on after its last complete shard: run the same command again.
    """
    if unsafe_links and file_format != "folder":
        raise click.UsageError("--unsafe-links is for --format folder only.")
    selector = {"split": split} if split else {}
    with Bars(context.err, not context.as_json) as bars:
        done = context.client.datasets.export(
            ref,
            folder,
            file_format,
            progress=bars,
            shard_bytes=shard_mb << 20,
            unsafe_links=unsafe_links,
            **selector,
        )
    answer = {"ref": ref, "folder": str(folder), "format": file_format, **asdict(done)}
    answer["left_out"] = [left._asdict() for left in done.left_out]

    def human(out: Console) -> None:
        said = f"{done.written} of {counted(done.samples, 'sample')}"
        if done.links:
            said += f" and {done.links_written} of {counted(done.links, 'link')}"
        out.print(f"{said} written to {folder}, in {counted(done.files, 'file')}.")
        if done.left_out:
            print_left_out(out, done, "export" if file_format == "folder" else None)

    context.emit(answer, human)


@data.command(name="ls")
@click.argument("ref", required=False)
@click.argument("prefix", default="")
@pass_context
def list_(context: Context, ref: str | None, prefix: str) -> None:
    """List datasets, or the folders and files of REF under PREFIX."""
    if ref is None:
        rows = list(context.client.datasets.list())
        context.emit(rows, lambda out: _print_datasets(out, rows))
        return
    folder = context.client.datasets.folder(ref, prefix)
    if prefix and not (folder["folders"] or folder["results"]):
        raise FolderNotFoundError(f"{ref} has no folder or file {prefix!r}.")
    context.emit(folder, lambda out: _print_folder(out, folder))


def _print_datasets(out: Console, rows: list[dict[str, Any]]) -> None:
    if not rows:
        out.print("No datasets yet. Make one: atom data push FOLDER NAME")
        return
    cells = []
    for row in rows:
        latest = row["latest"] or {}
        size = size_text(latest.get("size_bytes", 0))
        cells.append(
            (
                row["name"],
                latest.get("ref", "–"),
                latest.get("file_count", 0),
                latest.get("link_count", 0),
                size,
                row["updated_at"][:16],
            )
        )
    columns = ("dataset", "latest", "files", "links", "size", "updated")
    print_table(out, *without_zeros(columns, cells, "links"))


def _print_folder(out: Console, folder: dict[str, Any]) -> None:
    rows: list[tuple[Any, ...]] = [
        (f"{path_text(f['name'])}/", "", "", "") for f in folder["folders"]
    ]
    rows += [
        (_name(e), size_text(e["size_bytes"]), e["label"] or "", e["split"] or "")
        for e in folder["results"]
    ]
    print_table(out, ("path", "size", "label", "split"), rows)
    if folder["next"]:
        out.print(f"… {folder['total']} in all; narrow it with a PREFIX.")


def _name(entry: dict[str, Any]) -> str:
    name = path_text(entry["path"])
    return f"{name} -> {path_text(entry['link']['target'])}" if entry["link"] else name


@data.command()
@click.argument("dataset")
@click.option("-n", "--limit", default=20, show_default=True)
@pass_context
def log(context: Context, dataset: str, limit: int) -> None:
    """Show the versions of DATASET[@branch], newest first.

    Changes: files added (+), removed (-) and changed (~), and those with other labels only (#).
    """
    rows = [row for _, row in zip(range(limit), context.client.datasets.log(dataset), strict=False)]
    cells = [
        (
            r["ref"],
            r["commit"][:12],
            r["file_count"],
            r.get("link_count", 0),
            size_text(r["size_bytes"]),
            _changes(r),
            _author(r),
            r["created_at"][:16],
            _gone(r) + _merged(r) + r["message"].split("\n")[0],
        )
        for r in rows
    ]
    columns = (
        "version", "commit", "files", "links", "size", "changes", "author", "when", "message",
    )  # fmt: skip
    shown = without_zeros(columns, cells, "links")
    context.emit(rows, lambda out: print_table(out, *shown))


def _changes(row: dict[str, Any]) -> str:
    """Return the counts of a version; of older ones nobody counted the labels."""
    labels = row.get("labels_changed")
    files = f"+{row['added']} -{row['removed']} ~{row['changed']}"
    return files if labels is None else f"{files} {MARKS['labels_changed']}{labels}"


def _gone(row: dict[str, Any]) -> str:
    """Return what has become of a version that fell out of the dataset's retention."""
    return {"expired": "(expired) ", "collected": "(files deleted) "}.get(row["state"], "")


def _merged(row: dict[str, Any]) -> str:
    """Return both parents of a merge; any other version came from the one below it."""
    parents = [parent[:8] for parent in row["parents"]]
    return f"({' + '.join(parents)}) " if len(parents) > 1 else ""


def _author(row: dict[str, Any]) -> str:
    """Return who made a version: an account of this server, or a name from where it was loaded."""
    author = row["author"]
    return str(author["username"] if author else row["author_name"])


@data.command()
@click.argument("ref")
@pass_context
def coverage(context: Context, ref: str) -> None:
    """Show how much of REF is on which node."""
    rows = context.client.datasets.coverage(ref)
    cells = [
        (
            r["node"],
            r["state"],
            f"{100 * r['coverage']:.1f} %",
            f"{r['packs_present']}/{r['packs_total']}",
            size_text(r["bytes_present"]),
            r["error"] or "",
        )
        for r in rows
    ]
    columns = ("node", "state", "coverage", "packs", "bytes", "error")
    context.emit(rows, lambda out: print_table(out, columns, cells))
