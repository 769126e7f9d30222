"""Labels of one format written in another, without a server."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import NamedTuple

from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.open_source import open_tree
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.formats import LabelSource, look, write
from atom_sdk.label_formats.interface import LabelledPicture, ReadChoices, WriteChoices
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.targets import new_folder


class Converted(NamedTuple):
    """The reports of both sides."""

    read: LabelReport
    written: LabelReport


def convert(  # both formats, each with its choices
    source: Path,
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
        tree, _ = open_tree(source, ArchiveLimits(), scratch, Report(source.name))
        stack.callback(tree.close)
        first = LabelSource(tree, source_format, choices=reading)
        for _picture in first.pictures():
            pass
        ontology = first.ontology()
        pictures = _pictures(tree, first.codec.name, reading)
        if target is None:
            return Converted(first.report, look(pictures, target_format, ontology, writing))
        folder = stack.enter_context(new_folder(target))
        return Converted(first.report, write(pictures, target_format, folder, ontology, writing))


def _pictures(tree: Tree, name: str, choices: ReadChoices) -> Iterator[LabelledPicture]:
    return LabelSource(tree, name, choices=choices).pictures()
