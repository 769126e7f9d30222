"""Folders with pictures and labels, and what a codec reads from them."""

from __future__ import annotations

import io
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import NamedTuple

from PIL import Image

from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.importers.report import Report
from atom_sdk.importers.trees import folder_tree
from atom_sdk.label_formats.formats import AUTO, LabelSource
from atom_sdk.label_formats.interface import LabelledPicture, ReadChoices
from atom_sdk.label_formats.ontology_notes import OntologyNotes
from atom_sdk.label_formats.report import LabelReport


class Labels(NamedTuple):
    """Everything that was read."""

    format: str
    pictures: dict[str, LabelledPicture]
    report: LabelReport
    ontology: Ontology

    def document(self, path: str) -> NamedDocument:
        return self.pictures[path].document

    def objects(self, path: str) -> tuple[NamedObject, ...]:
        return self.pictures[path].document.objects


def fill(folder: Path, files: Mapping[str, str | bytes]) -> Path:
    """Write files below a folder."""
    for name, content in files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
    return folder


def png(width: int = 64, height: int = 48) -> bytes:
    out = io.BytesIO()
    Image.new("L", (width, height)).save(out, "PNG")
    return out.getvalue()


def read(folder: Path, name: str = AUTO, choices: ReadChoices | None = None) -> Labels:
    """Read the labels of a folder."""
    source = LabelSource(folder_tree(folder, Report("test")), name, choices=choices)
    pictures = {picture.path: picture for picture in source.pictures()}
    return Labels(source.codec.name, pictures, source.report, source.ontology())


def ontology_of(pictures: Iterable[LabelledPicture], *more: NamedDocument) -> Ontology:
    """The ontology that pictures and more documents show."""
    notes = OntologyNotes()
    for document in more:
        notes.show(document)
    for picture in pictures:
        notes.show(picture.document)
    return notes.as_ontology()
