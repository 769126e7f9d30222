"""The formats, and which of them a tree is."""

from __future__ import annotations

from collections.abc import Callable, Iterator

from atom_sdk.importers import (
    coco,
    csv_rows,
    hf_folder,
    imagefolder,
    parquet_rows,
    plain_files,
    voc,
    yolo,
)
from atom_sdk.importers.errors import (
    AnnotationsMissingError,
    FormatUnknownError,
    UndetectedFormatError,
)
from atom_sdk.importers.items import Item
from atom_sdk.importers.near_misses import find_near_misses
from atom_sdk.importers.open_source import FILE, SEPARATE_IMAGES, TAR, ZIP
from atom_sdk.importers.read_options import Reading
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree
from atom_sdk.sentences import Sentence

AUTO, FOLDER = "auto", "folder"
# The surest signs first: a COCO folder is an ImageFolder as well.
_DETECTED = {
    "parquet": parquet_rows.detect,
    "huggingface": hf_folder.detect,
    "csv": csv_rows.detect,
    "coco": coco.detect,
    "voc": voc.detect,
    "yolo": yolo.detect,
    "imagefolder": imagefolder.detect,
}
_READERS: dict[str, Callable[[Tree, Report, Reading], Iterator[Item]]] = {
    "parquet": parquet_rows.read,
    "huggingface": hf_folder.read,
    "csv": csv_rows.read,
    "coco": coco.read,
    "yolo": yolo.read,
}
_PLAIN_READERS: dict[str, Callable[[Tree, Report], Iterator[Item]]] = {
    "voc": voc.read,
    "imagefolder": imagefolder.read,
    TAR: plain_files.read,
    ZIP: plain_files.read,
    FOLDER: plain_files.read,
}
# Every file as it is, without annotations.
PLAIN_FORMATS = (TAR, ZIP, FOLDER)
FORMATS = (AUTO, *PLAIN_FORMATS, *_DETECTED)


def choose(asked: str, kind: str, tree: Tree) -> tuple[str, str]:
    """Return the format and why it is that.

    Raises FormatUnknownError, UndetectedFormatError, AnnotationsMissingError.
    """
    if asked != AUTO:
        _check_kind(asked, kind, tree)
        return asked, "it was asked for"
    for name, detect in _DETECTED.items():
        # Class folders are no annotations, so pictures apart from them cannot have been meant.
        if kind == SEPARATE_IMAGES and name == "imagefolder":
            continue
        if (why := detect(tree)) is not None:
            return name, why
    return _plain(kind, tree)


def _check_kind(asked: str, kind: str, tree: Tree) -> None:
    kinds = {TAR: (TAR,), ZIP: (ZIP,), FOLDER: (FOLDER, FILE)}
    if kind not in kinds.get(asked, (kind,)):
        raise FormatUnknownError(
            Sentence("formats.other_kind", "{name} is no {kind}.", name=tree.name, kind=asked)
        )


def _plain(kind: str, tree: Tree) -> tuple[str, str]:
    """Files as they are, where that can have been meant."""
    if kind == SEPARATE_IMAGES:
        raise AnnotationsMissingError(
            Sentence(
                "formats.no_annotations",
                "{name} has no annotations.{reasons}",
                name=tree.name,
                reasons=_reasons(tree),
            )
        )
    if kind == FILE and tree.with_suffix(".parquet"):
        return FOLDER, "it has no column of pictures, so it is taken as a file"
    if kind == FILE:
        raise UndetectedFormatError(
            Sentence(
                "formats.names_no_files",
                "{name} does not name files.{reasons}",
                name=tree.name,
                reasons=_reasons(tree),
            )
        )
    return kind, "no annotations were found, so files are taken as they are"


def _reasons(tree: Tree) -> str:
    """Why the first few files that look like annotations are not understood."""
    report = Report(tree.name)
    find_near_misses(tree, report)
    return "".join(f" {miss.subject}: {miss.reason}." for miss in report.near_misses[:3])


def items_of(name: str, tree: Tree, report: Report, reading: Reading) -> Iterator[Item]:
    """Yield the items of a tree in a format."""
    if name in _READERS:
        return _READERS[name](tree, report, reading)
    return _PLAIN_READERS[name](tree, report)
