"""The formats by name: which one a source is, reading, and writing with a report."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from pathlib import Path

from atom_sdk.annotations.ontology import Ontology
from atom_sdk.importers.errors import FormatUnknownError
from atom_sdk.importers.sentences import format_unknown
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats import (
    atom_lines,
    atom_parquet,
    coco_reading,
    coco_writing,
    cvat_reading,
    cvat_writing,
    studio_reading,
    studio_writing,
    voc,
    yolo_reading,
    yolo_writing,
)
from atom_sdk.label_formats.fitting import Fitter
from atom_sdk.label_formats.interface import (
    Codec,
    LabelledPicture,
    ReadChoices,
    Reading,
    WriteChoices,
    Writing,
)
from atom_sdk.label_formats.json_stream import check_json
from atom_sdk.label_formats.pictures import Places, pictures_of
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.sentences import Sentence

AUTO = "auto"
# The surest signs first.
CODECS = {
    codec.name: codec
    for codec in (
        Codec("atom", atom_lines.detect, atom_lines.read, atom_lines.write, atom_lines.ability),
        Codec(
            "atom-parquet",
            atom_parquet.detect,
            atom_parquet.read,
            atom_parquet.write,
            atom_parquet.ability,
        ),
        Codec(
            "coco",
            coco_reading.detect,
            coco_reading.read,
            coco_writing.write,
            coco_writing.ability,
        ),
        Codec(
            "label-studio",
            studio_reading.detect,
            studio_reading.read,
            studio_writing.write,
            studio_writing.ability,
        ),
        Codec(
            "cvat",
            cvat_reading.detect,
            cvat_reading.read,
            cvat_writing.write,
            cvat_writing.ability,
        ),
        Codec("voc", voc.detect, voc.read, voc.write, voc.ability, voc.stem_of),
        Codec(
            "yolo",
            yolo_reading.detect,
            yolo_reading.read,
            yolo_writing.write,
            yolo_writing.ability,
            yolo_writing.label_path,
            yolo_writing.note,
        ),
    )
}
NAMES = tuple(CODECS)


class NoKnownFormatError(FormatUnknownError):
    """Nothing in a source looks like labels of any format."""

    hint = "Give labels in one of these formats, or name the one that these are of: --format."


def choose(name: str, tree: Tree) -> tuple[Codec, str]:
    """Return the codec and why it is that.

    Raises FormatUnknownError; AnnotationsUnreadableError where broken JSON is the likely reason.
    """
    if name != AUTO:
        if name not in CODECS:
            raise FormatUnknownError(format_unknown(name, ", ".join(NAMES)))
        return CODECS[name], "it was asked for"
    for codec in CODECS.values():
        if (why := codec.detect(tree)) is not None:
            return codec, why
    for path in tree.with_suffix(".json"):
        check_json(tree, path)
    raise NoKnownFormatError(
        Sentence(
            "formats.no_known_format",
            "{name} has labels of no known format: {known}.",
            name=tree.name,
            known=", ".join(NAMES),
        )
    )


class LabelSource:
    """Labels of a source; its report and ontology are whole once its pictures are read."""

    def __init__(
        self,
        tree: Tree,
        name: str = AUTO,
        places: Places | None = None,
        choices: ReadChoices | None = None,
    ) -> None:
        """Raises FormatUnknownError."""
        self._tree = tree
        self.codec, why = choose(name, tree)
        self.report = LabelReport(self.codec.name, why)
        self._reading = Reading(
            places or pictures_of(tree), self.report, choices=choices or ReadChoices()
        )

    def pictures(self) -> Iterator[LabelledPicture]:
        """Yield the pictures once. Raises ImportFailedError."""
        for picture in self.codec.read(self._tree, self._reading):
            self._reading.notes.show(picture.document)
            self.report.tally(picture.document)
            yield picture

    def ontology(self) -> Ontology:
        """Return the ontology that the source speaks of."""
        return self._reading.notes.as_ontology()


def write(
    pictures: Iterable[LabelledPicture],
    name: str,
    folder: Path,
    ontology: Ontology,
    choices: WriteChoices | None = None,
) -> LabelReport:
    """Write pictures, as a generator gives them, into a folder. Raises FormatUnknownError."""
    codec, choices = _codec(name), choices or WriteChoices()
    report = _begun(codec, ontology, choices)
    fitted = _fitted(pictures, codec, ontology, choices, report)
    codec.write(fitted, Writing(folder, ontology, report, choices))
    return report


def look(
    pictures: Iterable[LabelledPicture],
    name: str,
    ontology: Ontology,
    choices: WriteChoices | None = None,
) -> LabelReport:
    """Return what `write` would report, and write nothing. Raises FormatUnknownError."""
    codec, choices = _codec(name), choices or WriteChoices()
    report = _begun(codec, ontology, choices)
    for _ in _fitted(pictures, codec, ontology, choices, report):
        pass
    return report


def _begun(codec: Codec, ontology: Ontology, choices: WriteChoices) -> LabelReport:
    note = codec.note and codec.note(ontology, choices)
    return LabelReport(codec.name, notes=[note] if note else [])


def _codec(name: str) -> Codec:
    if name not in CODECS:
        raise FormatUnknownError(format_unknown(name, ", ".join(NAMES)))
    return CODECS[name]


def _fitted(
    pictures: Iterable[LabelledPicture],
    codec: Codec,
    ontology: Ontology,
    choices: WriteChoices,
    report: LabelReport,
) -> Iterator[LabelledPicture]:
    fitter = Fitter(codec.ability(ontology, choices), report)
    taken: set[str] = set()
    for picture in pictures:
        if codec.file_of is not None:
            name = codec.file_of(picture.path)
            if name in taken:
                report.count("name_taken", picture.path)
                continue
            taken.add(name)
        yield replace(picture, document=fitter.fit(picture.document, picture.path))
