"""The ontology that a source speaks of: what it declares, and what its objects show."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.annotations.geometry import Keypoints
from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.annotations.ontology import Ontology, ontology_from_json

CHOICE, NUMBER, TEXT, FLAG = "choice", "number", "text", "flag"
_MOST_CHOICES = 100
# Colours of classes that a source gives none.
DEFAULT_COLORS = (
    "#e6194b",
    "#3cb44b",
    "#4363d8",
    "#f58231",
    "#911eb4",
    "#42d4f4",
    "#f032e6",
    "#9a6324",
)


@dataclass
class AttributeNote:
    """An attribute: `kind` is "" until a value shows it; `choices` are in order of their sight."""

    kind: str = ""
    choices: dict[str, None] = field(default_factory=dict)
    multiple: bool = False

    def show(self, value: Any) -> None:
        """Learn of a value."""
        many = value if isinstance(value, list | tuple) else [value]
        self.multiple |= isinstance(value, list | tuple)
        for each in many:
            kind = _kind_of(each)
            if not self.kind:
                self.kind = kind
            elif self.kind != kind and {self.kind, kind} != {CHOICE, TEXT}:
                self.kind = TEXT
            if isinstance(each, str):
                self.choices[each] = None
        if self.kind == CHOICE and len(self.choices) > _MOST_CHOICES and not self.multiple:
            self.kind = TEXT


def _kind_of(value: Any) -> str:
    if isinstance(value, bool):
        return FLAG
    return NUMBER if isinstance(value, int | float) else CHOICE


@dataclass
class LabelNote:
    """A class: kinds of its objects, attributes by name, names of skeleton points."""

    kinds: dict[str, None] = field(default_factory=dict)
    attributes: dict[str, AttributeNote] = field(default_factory=dict)
    color: str = ""
    parent: str = ""
    points: Sequence[str] = ()
    edges: Sequence[Sequence[int]] = ()
    flips: Sequence[Sequence[int]] = ()


class OntologyNotes:
    """Classes by name, attributes of pictures, and names of relations."""

    def __init__(self) -> None:
        self.labels: dict[str, LabelNote] = {}
        self.picture_attributes: dict[str, AttributeNote] = {}
        self.relations: dict[str, None] = {}
        self.multiple = False
        self._declared: Ontology | None = None

    def label(self, name: str) -> LabelNote:
        """Return the notes of a class."""
        return self.labels.setdefault(name, LabelNote())

    def declare(self, ontology: Ontology) -> None:
        """Take a whole ontology as it is: ids and all that only Atom knows stay."""
        self._declared = self._declared or ontology

    def show(self, document: NamedDocument) -> None:
        """Learn of all that a document holds."""
        for name in document.labels:
            self.label(name).kinds["classification"] = None
        self.multiple |= len(document.labels) > 1
        for name, value in document.attributes.items():
            self.picture_attributes.setdefault(name, AttributeNote()).show(value)
        for each in document.objects:
            note = self.label(each.label)
            note.kinds[each.geometry.kind] = None
            for name, value in each.attributes.items():
                note.attributes.setdefault(name, AttributeNote()).show(value)
            if isinstance(each.geometry, Keypoints) and not note.points:
                note.points = [f"point {n}" for n in range(1, len(each.geometry.points) + 1)]
        for relation in document.relations:
            self.relations[relation.name] = None

    def as_ontology(self) -> Ontology:
        """Return the ontology, with ids in the order of sight."""
        if self._declared is not None:
            return self._declared
        ids = {name: number for number, name in enumerate(self.labels, 1)}
        counter = _Counter()
        labels = [self._label(name, ids, counter) for name in self.labels]
        schema = {
            "multiple": self.multiple,
            "attributes": _attributes(self.picture_attributes, counter),
            "relations": [
                {"id": number, "name": name, "from": None, "to": None}
                for number, name in enumerate(self.relations, 1)
            ],
        }
        return ontology_from_json(labels, schema)

    def _label(self, name: str, ids: Mapping[str, int], counter: _Counter) -> dict[str, Any]:
        note = self.labels[name]
        skeleton = None
        if note.points:
            skeleton = {
                "points": [{"name": point} for point in note.points],
                "edges": [list(edge) for edge in note.edges],
                "flips": [list(flip) for flip in note.flips],
                "sigmas": None,
            }
        return {
            "id": ids[name],
            "name": name,
            "color": note.color or DEFAULT_COLORS[(ids[name] - 1) % len(DEFAULT_COLORS)],
            "hotkey": "",
            "parent": ids.get(note.parent),
            "tools": list(note.kinds) or ["box"],
            "attributes": _attributes(note.attributes, counter),
            "skeleton": skeleton,
            "ignore": False,
        }


class _Counter:
    """Ids of attributes and choices, unique in the ontology."""

    def __init__(self) -> None:
        self._last = 0

    def next(self) -> int:
        """Return the next id."""
        self._last += 1
        return self._last


def _attributes(notes: Mapping[str, AttributeNote], counter: _Counter) -> list[dict[str, Any]]:
    return [_attribute(name, note, counter) for name, note in notes.items()]


def _attribute(name: str, note: AttributeNote, counter: _Counter) -> dict[str, Any]:
    is_choice = note.kind == CHOICE
    return {
        "id": counter.next(),
        "name": name,
        "kind": note.kind or TEXT,
        "required": False,
        "default": None,
        "choices": [{"id": number, "name": choice} for number, choice in enumerate(note.choices, 1)]
        if is_choice
        else [],
        "multiple": is_choice and note.multiple,
        "min": None,
        "max": None,
        "step": None,
        "pattern": None,
        "max_length": None,
        "per_frame": False,
        "when": None,
    }
