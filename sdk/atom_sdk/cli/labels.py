"""`atom labels`: labels in the formats of other tools, with counts of all that changes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from atom_sdk.amounts import counted
from atom_sdk.cli.context import Context, pass_context

if TYPE_CHECKING:
    from atom_sdk.label_formats.report import LabelReport

# As in `atom_sdk.label_formats`, which is not imported for each command.
FORMATS = ["atom", "atom-parquet", "coco", "label-studio", "cvat", "voc", "yolo"]
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
    *,
    dry_run: bool,
) -> None:
    """Write the labels of SOURCE, a folder or an archive, in another format; no server is asked."""
    from atom_sdk.label_formats.converting import convert as convert_labels
    from atom_sdk.label_formats.interface import ReadChoices, WriteChoices

    done = convert_labels(
        source,
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
    for sentence in report.changed():
        out.print(f"  changed  {sentence}", markup=False)
    for sentence in report.lost():
        out.print(f"  lost     {sentence}", markup=False)
