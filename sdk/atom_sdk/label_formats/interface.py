"""Shapes that all codecs share: a labelled picture, and all that reading and writing need."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path

from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.annotations.ontology import Ontology
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.ability import Ability
from atom_sdk.label_formats.ontology_notes import OntologyNotes
from atom_sdk.label_formats.pictures import Places
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.sentences import Sentence

IMPORT, HUMAN, MODEL = "import", "human", "model"


@dataclass(frozen=True, slots=True)
class LabelledPicture:
    """A picture's document; `source` says whether a person or the model `source_model` made it."""

    path: str
    document: NamedDocument
    split: str | None = None
    source: str = IMPORT
    source_model: str | None = None


@dataclass(frozen=True)
class ReadChoices:
    """Choices where a source does not say how it is to be read.

    `yolo_task` is detect, segment, pose or obb; `voc_origin` the number of a picture's first pixel,
    0 or 1, None to go by each file.
    """

    yolo_task: str = ""
    voc_origin: int | None = None


@dataclass
class Reading:
    """Pictures, report and ontology of one reading."""

    places: Places
    report: LabelReport
    notes: OntologyNotes = field(default_factory=OntologyNotes)
    choices: ReadChoices = field(default_factory=ReadChoices)


@dataclass(frozen=True)
class WriteChoices:
    """Choices of who writes: the task of YOLO's files, "" to go by the ontology."""

    yolo_task: str = ""


@dataclass
class Writing:
    """Folder, ontology and report of one writing; `is_resumed` keeps files that are there."""

    folder: Path
    ontology: Ontology
    report: LabelReport
    choices: WriteChoices = field(default_factory=WriteChoices)
    is_resumed: bool = False


@dataclass(frozen=True)
class Codec:
    """A format: how to know, read and write it.

    `file_of` is the name of a picture's own file, where there is one for each: two pictures of one
    name cannot both be written. `note` tells a choice that writing makes by itself.
    """

    name: str
    detect: Callable[[Tree], str | None]
    read: Callable[[Tree, Reading], Iterator[LabelledPicture]]
    write: Callable[[Iterable[LabelledPicture], Writing], None]
    ability: Callable[[Ontology, WriteChoices], Ability]
    file_of: Callable[[str], str] | None = None
    note: Callable[[Ontology, WriteChoices], Sentence | None] | None = None
