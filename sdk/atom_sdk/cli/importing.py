"""`atom data import`: archives and annotation formats."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import click

from atom_sdk.cli.context import Context, pass_context
from atom_sdk.cli.import_reports import print_import, print_look
from atom_sdk.cli.options import FloatType, StrType
from atom_sdk.cli.render import Bars
from atom_sdk.cli.split_options import splitting

_FORMATS = [
    *("auto", "tar", "zip", "folder", "coco", "yolo", "voc", "imagefolder"),
    *("huggingface", "csv", "parquet"),
]
# As in `atom_sdk.importers`, which is not imported for each command.
YOLO_TASKS = ["detect", "segment", "pose", "obb"]


class _Share(FloatType):
    """A share of objects: `5%` or `0.05`."""

    name = "share"

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> float:
        """Return it from 0 to 1; anything else is an error of usage."""
        from atom_sdk.importers.losses import parse_share

        try:
            return parse_share(str(value))
        except ValueError as error:
            self.fail(str(error), param, context)


class _Delimiter(StrType):
    """The character between cells: one character, or `tab`."""

    name = "delimiter"

    def convert(
        self, value: Any, param: click.Parameter | None, context: click.Context | None
    ) -> str:
        """Return one character; anything else is an error of usage."""
        text = {"tab": "\t", "\\t": "\t"}.get(str(value).lower(), str(value))
        if len(text) != 1 or text in '\r\n"':
            self.fail(f"{value!r} is not one character, and not `tab`.", param, context)
        return text


SHARE = _Share()
DELIMITER = _Delimiter()


@click.command(name="import")
@click.argument("source", type=click.Path(exists=True, path_type=Path))
@click.argument("dataset")
@click.option(
    "--format",
    "file_format",
    type=click.Choice(_FORMATS),
    default="auto",
    show_default=True,
    help="The format of SOURCE; auto looks into it and says why.",
)
@click.option(
    "--images",
    type=click.Path(exists=True, path_type=Path),
    metavar="DIR",
    help="The folder or archive with the pictures, if SOURCE has only their annotations.",
)
@click.option("--follow-links", is_flag=True, help="Take what links lead to; keep no links.")
@click.option("-m", "--message", default="", help="What is imported.")
@splitting
@click.option("--replace", "replaces", is_flag=True, help="Remove the dataset's other files.")
@click.option("--dry-run", is_flag=True, help="Only show what would be imported and left out.")
@click.option("--strict", is_flag=True, help="Fail if anything would be left out.")
@click.option(
    "--allow-loss",
    "allowed_loss",
    type=SHARE,
    metavar="SHARE",
    help="Objects and labels that may be lost, 5% or 0.05; 1% by default.",
)
@click.option(
    "--yolo-task",
    type=click.Choice(YOLO_TASKS),
    help="How to read the lines of YOLO files that do not say it.",
)
@click.option(
    "--zip-encoding",
    metavar="NAME",
    help="Encoding of names in a zip that are not UTF-8: gbk, cp932, …",
)
@click.option("--encoding", metavar="NAME", help="Encoding of a CSV: utf-8 by default, cp1252, …")
@click.option(
    "--delimiter",
    type=DELIMITER,
    metavar="CHARACTER",
    help="Between the cells of a CSV, or `tab`; by default the one that fits.",
)
@click.option(
    "--boxes",
    type=click.Choice(["size", "corners"]),
    default="size",
    show_default=True,
    help="The meaning of four numbers: x, y, width, height, or x1, y1, x2, y2.",
)
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
    allowed_loss: float | None,
    yolo_task: str | None,
    images: Path | None,
    zip_encoding: str | None,
    encoding: str | None,
    delimiter: str | None,
    boxes: str,
    *,
    follow_links: bool,
    replaces: bool,
    dry_run: bool,
    strict: bool,
) -> None:
    """Add what SOURCE holds to DATASET[@branch] as its next version.

    SOURCE is a folder, a zip or tar archive (also .tar.gz, .tar.zst), a CSV of paths or addresses,
    a COCO file, or Parquet as Hugging Face writes it. Nothing is unpacked to a folder. An import
    that was cut off goes on where it stopped: run the same command again.
    """
    from atom_sdk.client.push.importing import ImportOptions
    from atom_sdk.importers.downloads import MIB, DownloadLimits
    from atom_sdk.importers.limits import GIB, ArchiveLimits
    from atom_sdk.importers.losses import DEFAULT_ALLOWED_LOSS
    from atom_sdk.importers.read_options import ReadOptions
    from atom_sdk.importers.report_json import report_json
    from atom_sdk.importers.text_options import TextOptions

    if strict and allowed_loss:
        raise click.UsageError("--strict allows no loss: give --strict or --allow-loss.")
    options = ImportOptions(
        file_format,
        message,
        split,
        replaces,
        strict,
        ArchiveLimits(max_files, int(max_gib * GIB), max_ratio),
        DownloadLimits(max_download_mib * MIB, allow_host),
        DEFAULT_ALLOWED_LOSS if allowed_loss is None else allowed_loss,
        ReadOptions(yolo_task or ""),
        TextOptions(zip_encoding, encoding, delimiter, boxes),
        images,
        follow_links,
    )
    with Bars(context.err, not context.as_json) as bars:
        if dry_run:
            from atom_sdk.client.push.importing import Import

            look = Import(source, options, bars)
            report = look.look()
            refusal = look.refusal(report)
            values = report_json(report, options.allowed_loss)
            values["refusal"] = refusal and {"code": refusal.code, "detail": str(refusal)}
            context.emit(values, lambda out: print_look(out, report, refusal))
            return
        result = context.client.datasets.import_(source, dataset, options, bars)
    context.emit(result.as_json(), lambda out: print_import(out, result))


COMMANDS = (import_,)
