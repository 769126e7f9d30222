"""The formats, and which of them a tree is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from atom_sdk.importers import coco, csv_rows, imagefolder, parquet_rows, plain, voc, yolo
from atom_sdk.importers.errors import FormatUnknownError, UndetectedFormatError
from atom_sdk.importers.items import Item
from atom_sdk.importers.opening import FILE, TAR, ZIP
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

AUTO, FOLDER = "auto", "folder"
# The surest signs first: a COCO folder is an ImageFolder as well.
_DETECTED = {
    "parquet": parquet_rows.detect,
    "csv": csv_rows.detect,
    "coco": coco.detect,
    "voc": voc.detect,
    "yolo": yolo.detect,
    "imagefolder": imagefolder.detect,
}
_READERS: dict[str, Callable[[Tree, Report, Reading], Iterator[Item]]] = {
    "parquet": parquet_rows.read,
    "csv": csv_rows.read,
    "coco": coco.read,
    "yolo": yolo.read,
}
_PLAIN_READERS: dict[str, Callable[[Tree, Report], Iterator[Item]]] = {
    "voc": voc.read,
    "imagefolder": imagefolder.read,
    TAR: plain.read,
    ZIP: plain.read,
    FOLDER: plain.read,
}
FORMATS = (AUTO, TAR, ZIP, FOLDER, *_DETECTED)


def choose(asked: str, kind: str, tree: Tree) -> tuple[str, str]:
    """Return the format and why it is that. Raises FormatUnknownError, UndetectedFormatError."""
    if asked in (TAR, ZIP) and asked != kind:
        raise FormatUnknownError(f"{tree.name} is no {asked}.")
    if asked == FOLDER and kind not in (FOLDER, FILE):
        raise FormatUnknownError(f"{tree.name} is no {asked}.")
    if asked != AUTO:
        return asked, "it was asked for"
    for name, detect in _DETECTED.items():
        if (why := detect(tree)) is not None:
            return name, why
    if kind == FILE and tree.with_suffix(".parquet"):
        return FOLDER, "it has no column of pictures, so it is taken as a file"
    if kind == FILE:
        raise UndetectedFormatError(f"{tree.name} has no column url or path.")
    return kind, "no annotations were found, so files are taken as they are"


def items_of(name: str, tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the items of a tree in a format."""
    if name in _READERS:
        return _READERS[name](tree, report, reading)
    return _PLAIN_READERS[name](tree, report)
