"""`atom labels`: labels in the formats of other tools, with counts of all that changes."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import path_text

if TYPE_CHECKING:
    from atom_sdk.label_formats.report import LabelReport

# As in `atom_sdk.label_formats`, which is not imported for each command.
FORMATS = ["atom", "atom-parquet", "coco", "label-studio", "cvat", "voc", "yolo"]
_MOST_UNMATCHED = 20
YOLO_TASKS = ["detect", "segment", "pose", "obb"]
_FORMAT = click.option(
    "--format", "file_format", type=click.Choice(FORMATS), required=True, help="The format."
)
_OUT = click.option(
    "--out", type=click.Path(path_type=Path), metavar="FOLDER", help="A folder that is not there."
)
_TASK = click.option(
    "--yolo-task", type=click.Choice(YOLO_TASKS), help="The task of YOLO's files that are written."
)
_DRY_RUN = click.option("--dry-run", is_flag=True, help="Only show what would be kept and lost.")


@click.group()
def labels() -> None:
    """Labels in the formats of other tools."""


@labels.command()
@click.argument("reference")
@_FORMAT
@_OUT
@_TASK
@_DRY_RUN
@pass_context
def export(
    context: Context,
    reference: str,
    file_format: str,
    out: Path | None,
    yolo_task: str | None,
    *,
    dry_run: bool,
) -> None:
    """Write the labels of DATASET@VERSION into a folder."""
    from atom_sdk.label_formats.interface import WriteChoices

    client, choices = context.client.labels, WriteChoices(yolo_task or "")
    if dry_run:
        _show(context, client.look(reference, file_format, choices), None)
    else:
        target = _needed(out)
        _show(context, client.export(reference, file_format, target, choices), target)


@labels.command(name="import")
@click.argument("dataset")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--format",
    "file_format",
    type=click.Choice(["auto", *FORMATS]),
    default="auto",
    show_default=True,
    help="The format of SOURCE; auto looks into it and says why.",
)
@click.option("--branch", default="main", show_default=True, help="The branch to publish on.")
@click.option(
    "--existing",
    type=click.Choice(["replace", "add", "refuse"]),
    default="replace",
    show_default=True,
    help="For pictures that have objects already.",
)
@click.option("--yolo-task", type=click.Choice(YOLO_TASKS), help="The task of YOLO's files.")
@click.option(
    "--voc-origin", type=click.IntRange(0, 1), help="The number of a first pixel in VOC's files."
)
@click.option("--dry-run", is_flag=True, help="Only show what would be taken and lost.")
@click.option("--resume", is_flag=True, help="Go on with an import that was cut off.")
@pass_context
def import_(  # one for each option
    context: Context,
    dataset: str,
    source: Path,
    file_format: str,
    branch: str,
    existing: str,
    yolo_task: str | None,
    voc_origin: int | None,
    *,
    dry_run: bool,
    resume: bool,
) -> None:
    """Publish the labels of SOURCE, a file, folder or archive, as a version of DATASET."""
    from atom_sdk.client.label_imports import ImportOrder

    order = ImportOrder(dataset, source, file_format, branch, existing, yolo_task or "", voc_origin)
    client = context.client.labels
    if dry_run:
        report = client.look_at_import(order)
        context.emit(report, lambda out: _print_incoming(out, report))
        return
    done = client.import_(order, resume=resume)

    def show(out: Console) -> None:
        _print_incoming(out, done["read"])
        _print_losses(out, done["report"].get("read", {}))
        version = f"{dataset}@{done['outcome']['version']}"
        said = "has them already" if done["outcome"]["unchanged"] else "has these labels"
        out.print(f"{version} {said}.", markup=False)

    context.emit(done, show)


@labels.command()
@click.argument("reference")
@pass_context
def classes(context: Context, reference: str) -> None:
    """Show the classes of the objects of DATASET@VERSION; --json is an ontology to start with."""
    answer = context.client.labelx.version_classes(reference)
    tools = {label["name"]: ", ".join(label["tools"]) for label in answer["labels"]}

    def show(out: Console) -> None:
        for row in answer["counts"]:
            amount = counted(row["objects"], "object")
            out.print(f"{row['name']}: {amount}, {tools[row['name']]}", markup=False)
        if not answer["counts"]:
            out.print(f"{reference} has no objects.", markup=False)
        if not answer["complete"]:
            out.print(f"{reference} has more; these are of its first objects.", markup=False)

    context.emit(answer, show)


@labels.command()
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.option(
    "--from",
    "source_format",
    type=click.Choice(["auto", *FORMATS]),
    default="auto",
    show_default=True,
    help="The format of SOURCE; auto looks into it and says why.",
)
@_FORMAT
@_OUT
@_TASK
@click.option(
    "--source-task", type=click.Choice(YOLO_TASKS), help="The task of YOLO's files that are read."
)
@click.option(
    "--voc-origin", type=click.IntRange(0, 1), help="The number of a first pixel in VOC's files."
)
@click.option(
    "--images",
    type=click.Path(exists=True, path_type=Path),
    metavar="FOLDER",
    help="The pictures, where they are not beside the labels: YOLO needs their sizes.",
)
@_DRY_RUN
@pass_context
def convert(
    context: Context,
    source: Path,
    source_format: str,
    file_format: str,
    out: Path | None,
    yolo_task: str | None,
    source_task: str | None,
    voc_origin: int | None,
    images: Path | None,
    *,
    dry_run: bool,
) -> None:
    """Write the labels of SOURCE, a folder or an archive, in another format; no server is asked."""
    from atom_sdk.label_formats.converting import LabelFolders
    from atom_sdk.label_formats.converting import convert as convert_labels
    from atom_sdk.label_formats.interface import ReadChoices, WriteChoices

    done = convert_labels(
        LabelFolders(source, images),
        source_format,
        file_format,
        None if dry_run else _needed(out),
        ReadChoices(source_task or "", voc_origin),
        WriteChoices(yolo_task or ""),
    )

    def show(console: Console) -> None:
        console.print(f"{source.name} is {done.read.format}: {done.read.why}.", markup=False)
        _print_report(console, done.read)
        console.print(f"As {file_format}:" if dry_run else f"{out}:", markup=False)
        _print_report(console, done.written)

    context.emit({"read": done.read.as_json(), "written": done.written.as_json()}, show)


def _needed(out: Path | None) -> Path:
    if out is None:
        raise click.UsageError("Give --out FOLDER, or --dry-run.")
    return out


def _show(context: Context, report: LabelReport, out: Path | None) -> None:
    value: dict[str, Any] = report.as_json()

    def show(console: Console) -> None:
        console.print(f"{out}:" if out else f"As {report.format}:", markup=False)
        _print_report(console, report)

    context.emit(value, show)


def _print_report(out: Console, report: LabelReport) -> None:
    kinds = ", ".join(f"{kind} {count}" for kind, count in sorted(report.objects.items()))
    total = counted(report.total, "object")
    empty = f" ({report.empty} empty)" if report.empty else ""
    out.print(f"  {counted(report.pictures, 'picture')}{empty}, {total}: {kinds}", markup=False)
    for sentence in report.notes:
        out.print(f"  note     {sentence} --yolo-task chooses it.", markup=False)
    for sentence in report.changed():
        out.print(f"  changed  {sentence}", markup=False)
    for sentence in report.lost():
        out.print(f"  lost     {sentence}", markup=False)


def _print_incoming(out: Console, report: Mapping[str, Any]) -> None:
    read, matches = report["read"], report["matches"]
    kinds = ", ".join(f"{kind} {count}" for kind, count in read["objects"].items())
    total = counted(sum(read["objects"].values()), "object")
    pictures = counted(read["pictures"], "picture")
    out.print(f"{read['format']}: {pictures}, {total}: {kinds}", markup=False)
    _print_losses(out, read)
    for row in matches["unmatched"][:_MOST_UNMATCHED]:
        out.print(f"  {row['reason']:8} {row['name']}", markup=False)
    more = len(matches["unmatched"]) - _MOST_UNMATCHED + matches["left_off"]
    if more > 0:
        out.print(f"  and {counted(more, 'further name')}; --json lists more", markup=False)


def _print_losses(out: Console, read: Mapping[str, Any]) -> None:
    for word in ("changed", "lost"):
        for row in read.get(word, []):
            first = f" ({', '.join(map(path_text, row['first']))})" if row["first"] else ""
            out.print(f"  {word:8} {row['text']}{first}", markup=False)
