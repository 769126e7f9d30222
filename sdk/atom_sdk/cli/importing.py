"""`atom data import`: archives and annotation formats."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import click
from rich.console import Console

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.render import Bars, path_text, print_table
from atom_sdk.cli.splitting import splitting
from atom_sdk.words import counted, size_text

if TYPE_CHECKING:
    from atom_sdk.importers import Report

_FORMATS = ["auto", "tar", "zip", "folder", "coco", "yolo", "voc", "imagefolder", "csv", "parquet"]
_SHOWN_LABELS = 20
_SHOWN_PROBLEMS = 10


@click.command(name="import")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("dataset")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(_FORMATS),
    default="auto",
    show_default=True,
    help="What SOURCE is; auto looks into it and says why.",
)
@click.option("-m", "--message", default="", help="What is imported.")
@splitting
@click.option("--replace", "replaces", is_flag=True, help="Remove the dataset's other files.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported and left out.")
@click.option("--strict", is_flag=True, help="Fail if anything would be left out.")
@click.option("--max-ratio", default=200.0, show_default=True, help="Unpacked to packed size.")
@click.option("--max-files", default=20_000_000, show_default=True, help="Members of an archive.")
@click.option("--max-gib", default=4096.0, show_default=True, help="Unpacked size of an archive.")
@click.option("--max-download-mib", default=256, show_default=True, help="Size of a download.")
@click.option(
    "--allow-host", multiple=True, metavar="HOST", help="Download from here, though not public."
)
@pass_context
def import_(
    context: Context,
    source: Path,
    dataset: str,
    file_format: str,
    message: str,
    split: dict[str, Any] | None,
    max_ratio: float,
    max_files: int,
    max_gib: float,
    max_download_mib: int,
    allow_host: tuple[str, ...],
    *,
    replaces: bool,
    dry_run: bool,
    strict: bool,
) -> None:
    """Add what SOURCE holds to DATASET[@branch] as its next version.

    SOURCE is a folder, a zip or tar archive (also .tar.gz, .tar.zst), a CSV of paths or addresses,
    a COCO file, or Parquet as Hugging Face writes it. Nothing is unpacked to a folder. An import
    that was cut off goes on where it stopped: run the same command again.
    """
    from atom_sdk.client.importing import ImportOptions
    from atom_sdk.importers.downloads import MIB, DownloadLimits
    from atom_sdk.importers.limits import GIB, ArchiveLimits

    options = ImportOptions(
        file_format,
        message,
        split,
        replaces,
        strict,
        ArchiveLimits(max_files, int(max_gib * GIB), max_ratio),
        DownloadLimits(max_download_mib * MIB, allow_host),
    )
    with Bars(context.err, not context.as_json) as bars:
        if dry_run:
            from atom_sdk.client.importing import Import

            report = Import(source, options, bars).look()
            context.emit(report.as_json(), lambda out: _print_dry(out, report))
            return
        result = context.client.datasets.import_(source, dataset, options, bars)
    context.emit(result.as_json(), lambda out: _print_done(out, result))


def _print_dry(out: Console, report: Report) -> None:
    out.print(f"{report.source} is {report.importer}: {report.why}.", markup=False)
    _print_counts(out, report)
    rows = [
        (path_text(row["path"]), size_text(row["size_bytes"]), row["label"], row["split"])
        for row in report.first
    ]
    print_table(out, ("first files", "size", "label", "split"), rows)
    _print_problems(out, report)


def _print_done(out: Console, result: Any) -> None:
    push, report = result.push, result.report
    ref = f"{push.dataset}@{push.version['ref']}"
    if push.unchanged:
        out.print(f"{ref} has all of it already; nothing was sent.")
    else:
        files, packs = counted(push.files_total, "file"), counted(push.packs_sent, "pack")
        sent = f"{push.files_sent} sent ({size_text(push.bytes_sent)} in {packs})"
        out.print(f"{ref}  {files} imported as {report.importer}, {sent}")
    _print_counts(out, report)
    _print_problems(out, report)


def _print_counts(out: Console, report: Report) -> None:
    parts = [f"{counted(report.files, 'file')}, {size_text(report.size_bytes)}"]
    if report.objects:
        parts.append(counted(report.objects, "object"))
    if report.labels:
        named = report.labels.most_common(_SHOWN_LABELS)
        more = len(report.labels) - len(named)
        text = ", ".join(f"{path_text(label)} {count}" for label, count in named)
        labels = counted(len(report.labels), "label")
        parts.append(f"{labels} ({text}{f' and {more} more' if more else ''})")
    if report.splits:
        parts.append(", ".join(f"{name} {count}" for name, count in sorted(report.splits.items())))
    out.print("; ".join(parts), markup=False)


def _print_problems(out: Console, report: Report) -> None:
    for note in report.notes:
        out.print(f"{note}.", markup=False)
    if report.litter:
        out.print(f"{counted(report.litter, 'file')} of operating systems ignored.")
    for reason, count in report.skipped.most_common():
        out.print(f"left out: {count} because {reason}", markup=False)
    for problem in report.problems[:_SHOWN_PROBLEMS]:
        out.print(f"  {path_text(problem.subject)}: {problem.reason}", markup=False)


COMMANDS = (import_,)
