"""Counts of one reading or writing: pictures, objects by kind, and what changed or was lost."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.label_formats.losses import CHANGED, LOST
from atom_sdk.sentences import Sentence

_KEPT_SUBJECTS = 5


@dataclass
class LabelReport:
    """Counts are exact; of the subjects of a loss only the first few are kept."""

    format: str
    why: str = ""
    pictures: int = 0
    empty: int = 0
    """Pictures that somebody looked at, and that hold nothing."""
    objects: Counter[str] = field(default_factory=Counter)
    """By kind, as they are read or written."""
    before: Counter[str] = field(default_factory=Counter)
    """By kind, before they are brought into the shape of a format."""
    classes: Counter[str] = field(default_factory=Counter)
    """Objects by the name of their class."""
    labels: int = 0
    relations: int = 0
    attributes: int = 0
    counts: Counter[str] = field(default_factory=Counter)
    subjects: dict[str, list[str]] = field(default_factory=dict)
    notes: list[Sentence] = field(default_factory=list)
    """Choices that were made here, since nobody else made them."""

    def count(self, code: str, subject: str = "", count: int = 1) -> None:
        """Count something that changed or was lost. Raises KeyError for an unknown code."""
        if code not in CHANGED and code not in LOST:
            raise KeyError(code)
        if not count:
            return
        self.counts[code] += count
        named = self.subjects.setdefault(code, [])
        if subject and len(named) < _KEPT_SUBJECTS and subject not in named:
            named.append(subject)

    def tally(self, document: NamedDocument) -> None:
        """Count what a document holds."""
        self.pictures += 1
        self.empty += not document.objects and not document.labels
        self.labels += len(document.labels)
        self.relations += len(document.relations)
        for each in document.objects:
            self.objects[each.geometry.kind] += 1
            self.classes[each.label] += 1
            self.attributes += len(each.attributes)

    @property
    def total(self) -> int:
        """How many objects there are."""
        return self.objects.total()

    def changed(self) -> list[Sentence]:
        """Return what is kept in another shape, the largest number first."""
        return [CHANGED[code](count) for code, count in self._most(CHANGED)]

    def lost(self) -> list[Sentence]:
        """Return what is left out, the largest number first."""
        return [LOST[code](count) for code, count in self._most(LOST)]

    def _most(self, words: Any) -> list[tuple[str, int]]:
        return [(code, count) for code, count in self.counts.most_common() if code in words]

    def as_json(self) -> dict[str, Any]:
        """Return plain values; each sentence with its code, text, count and first subjects."""
        return {
            "format": self.format,
            **({"why": self.why} if self.why else {}),
            **({"notes": [_note(note) for note in self.notes]} if self.notes else {}),
            "pictures": self.pictures,
            "empty": self.empty,
            **({"before": dict(sorted(self.before.items()))} if self.before else {}),
            "objects": dict(sorted(self.objects.items())),
            "labels": self.labels,
            "relations": self.relations,
            "attributes": self.attributes,
            "changed": [self._entry(code, CHANGED[code](n)) for code, n in self._most(CHANGED)],
            "lost": [self._entry(code, LOST[code](n)) for code, n in self._most(LOST)],
        }

    def _entry(self, code: str, sentence: Sentence) -> dict[str, Any]:
        return {
            **sentence.as_code(),
            "text": str(sentence),
            "count": self.counts[code],
            "first": self.subjects.get(code, []),
        }


def _note(sentence: Sentence) -> dict[str, Any]:
    return {**sentence.as_code(), "text": str(sentence)}
