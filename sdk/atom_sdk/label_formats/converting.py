"""Labels of one format written in another, without a server."""

from __future__ import annotations

import tempfile
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from atom_sdk.importers.errors import ImportFailedError
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.open_source import open_tree
from atom_sdk.importers.report import Report
from atom_sdk.label_formats.formats import LabelSource, look, write
from atom_sdk.label_formats.interface import ReadChoices, WriteChoices
from atom_sdk.label_formats.pictures import Places, pictures_of
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.targets import new_folder
from atom_sdk.sentences import Sentence


class NothingConvertedError(ImportFailedError):
    """Labels were read, and none of their pictures was found or has a known size."""

    code = "labels_convert_nothing"
    hint = "Say where their pictures are: --images FOLDER."


class LabelFolders(NamedTuple):
    """Labels, and their pictures where these are not beside them."""

    labels: Path
    images: Path | None = None


class Converted(NamedTuple):
    """The reports of both sides."""

    read: LabelReport
    written: LabelReport


def convert(  # both formats, each with its choices
    source: LabelFolders,
    source_format: str,
    target_format: str,
    target: Path | None,
    reading: ReadChoices,
    writing: WriteChoices,
) -> Converted:
    """Read labels twice, first for their classes, and write them; nothing without a target.

    Raises ImportFailedError, TargetTakenError, OSError.
    """
    with ExitStack() as stack:
        scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labels-")))
        tree, _ = open_tree(source.labels, ArchiveLimits(), scratch, Report(source.labels.name))
        stack.callback(tree.close)
        places = _places(source.images, stack) if source.images else pictures_of(tree)
        first = LabelSource(tree, source_format, places, reading)
        for _picture in first.pictures():
            pass
        _check_any(first.report, source.labels)
        ontology = first.ontology()
        pictures = LabelSource(tree, first.codec.name, places, reading).pictures()
        if target is None:
            return Converted(first.report, look(pictures, target_format, ontology, writing))
        folder = stack.enter_context(new_folder(target))
        return Converted(first.report, write(pictures, target_format, folder, ontology, writing))


def _places(images: Path, stack: ExitStack) -> Places:
    scratch = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix="labels-")))
    tree, _ = open_tree(images, ArchiveLimits(), scratch, Report(images.name))
    stack.callback(tree.close)
    return pictures_of(tree)


def _check_any(report: LabelReport, source: Path) -> None:
    """Raise NothingConvertedError where labels were read, and no picture is left of them."""
    reasons = report.lost()
    if not report.pictures and reasons:
        raise NothingConvertedError(
            Sentence(
                "formats.nothing_converted",
                "No picture of {name} is left. {reason}.",
                name=source.name,
                reason=reasons[0],
            )
        )
