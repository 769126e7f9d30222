"""The formats, and which of them a tree is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from atom_sdk.importers import coco, csv_rows, imagefolder, parquet_rows, plain, voc, yolo
from atom_sdk.importers.downloads import Downloads
from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.items import Item
from atom_sdk.importers.opening import TAR, ZIP
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree

AUTO = "auto"
# The surest signs first: a COCO folder is an ImageFolder as well.
_DETECTED = {
    "parquet": parquet_rows.detect,
    "csv": csv_rows.detect,
    "coco": coco.detect,
    "voc": voc.detect,
    "yolo": yolo.detect,
    "imagefolder": imagefolder.detect,
}
_Reader = Callable[[Tree, Report], Iterator[Item]]
_READERS: dict[str, _Reader] = {
    "yolo": yolo.read,
    "voc": voc.read,
    "imagefolder": imagefolder.read,
    TAR: plain.read,
    ZIP: plain.read,
    "folder": plain.read,
}
_FETCHING: dict[str, Callable[[Tree, Report, Downloads], Iterator[Item]]] = {
    "coco": coco.read,
    "csv": csv_rows.read,
    "parquet": parquet_rows.read,
}
FORMATS = (AUTO, TAR, ZIP, "folder", *_DETECTED)


def choose(wanted: str, kind: str, tree: Tree) -> tuple[str, str]:
    """Return the format and why it is that. Raises FormatUnknownError."""
    if wanted in (TAR, ZIP, "folder") and wanted != kind:
        raise FormatUnknownError(f"{tree.name} is no {wanted}.")
    if wanted != AUTO:
        return wanted, "it was asked for"
    for name, detect in _DETECTED.items():
        if (why := detect(tree)) is not None:
            return name, why
    if kind == "file":
        raise FormatUnknownError(f"{tree.name} has no column url or path.")
    return kind, "no annotations were found, so files are taken as they are"


def items_of(name: str, tree: Tree, report: Report, downloads: Downloads) -> Iterator[Item]:
    """Yield the items of a tree in a format."""
    if name in _FETCHING:
        return _FETCHING[name](tree, report, downloads)
    return _READERS[name](tree, report)
