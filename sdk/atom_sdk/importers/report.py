"""The report of an import: counts, things left out with reasons, and lost objects and labels."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

from atom_sdk.importers.losses import (
    DEFAULT_ALLOWED_LOSS,
    LABEL,
    OBJECT,
    ClassLoss,
    Tally,
    add_counts,
)

KEPT_PROBLEMS = 100
_KEPT_PER_REASON = 20
_KEPT_NAMES = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not imported or not understood, and the reason in words."""

    subject: str
    reason: str


@dataclass
class NamedCount:
    """A count, and the first names of what is counted."""

    count: int = 0
    names: list[str] = field(default_factory=list)

    def add(self, name: str) -> None:
        """Count one."""
        self.count += 1
        if len(self.names) < _KEPT_NAMES:
            self.names.append(name)

    def as_json(self) -> dict[str, Any]:
        """Return plain values."""
        return {"count": self.count, "first": self.names}


@dataclass
class LostPictures:
    """Pictures that are left out, and the objects and labels that go with them."""

    pictures: int = 0
    objects: int = 0
    labels: int = 0


@dataclass
class Report:
    """Counts of an import; lists of problems and names are bounded, their numbers are not.

    `skipped` counts by reason. `annotations` is the BLAKE3 of each file that says what the items
    are. Losses are counted by their effect: see `lose_objects`, `lose_label`, `lose_picture`,
    `leave_out_shapes`. Methods are safe for threads.
    """

    source: str
    importer: str = ""
    why: str = ""
    files: int = 0
    links: int = 0
    size_bytes: int = 0
    litter: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    first: list[dict[str, Any]] = field(default_factory=list)
    object_tally: Tally = field(default_factory=lambda: Tally(OBJECT))
    label_tally: Tally = field(default_factory=lambda: Tally(LABEL))
    lost_objects: int = 0
    """Objects of pictures that stay."""
    lost_orphans: int = 0
    """Objects that belong to no picture of the source."""
    lost_labels: int = 0
    """Labels of files that stay."""
    lost_pictures: LostPictures = field(default_factory=LostPictures)
    shapes: Counter[str] = field(default_factory=Counter)
    """Parts of objects left out by kind (`polygon`, `mask`, `part`, …); the objects stay."""
    changes: Counter[str] = field(default_factory=Counter)
    """Objects kept in another form, by the code of the change."""
    emptied: NamedCount = field(default_factory=NamedCount)
    """Pictures that lose all of their objects and stay."""
    near_misses: list[Problem] = field(default_factory=list)
    near_miss_counts: Counter[str] = field(default_factory=Counter)
    """By reason; the list is bounded."""
    unlisted: NamedCount = field(default_factory=NamedCount)
    """Files that no list of a split names."""
    missing: NamedCount = field(default_factory=NamedCount)
    """Entries of lists that no file has the name of."""
    unlabelled: NamedCount = field(default_factory=NamedCount)
    """Pictures without a file of annotations; they are imported without objects."""
    _lock: Lock = field(default_factory=Lock, repr=False)

    def skip(self, subject: str, reason: str) -> None:
        """Note that something without an object or a label is left out."""
        with self._lock:
            self._add(subject, reason)

    def lose_objects(
        self, subject: str, reason: str, label: str = "", count: int = 1, *, orphaned: bool = False
    ) -> None:
        """Objects of one class are lost, and their picture stays; `orphaned` ones have none.

        Call `empty_picture` as well where the picture keeps no object.
        """
        with self._lock:
            self._add(subject, reason)
            self.object_tally.lost[label] += count
            if orphaned:
                self.lost_orphans += count
            else:
                self.lost_objects += count

    def empty_picture(self, path: str) -> None:
        """Count a picture that lost all of its objects and stays."""
        with self._lock:
            self.emptied.add(path)

    def lose_label(self, subject: str, reason: str, label: str = "") -> None:
        """The label of one file is lost, and the file stays without it."""
        with self._lock:
            self._add(subject, reason)
            self.label_tally.lost[label] += 1
            self.lost_labels += 1

    def lose_picture(
        self,
        subject: str,
        reason: str,
        objects: Mapping[str, int] | None = None,
        label: str | None = None,
    ) -> None:
        """A picture, or any other file, is left out with its objects (by class) and its label."""
        with self._lock:
            self._add(subject, reason)
            counts = objects or {}
            add_counts(self.object_tally.lost, counts)
            self.lost_pictures.pictures += 1
            self.lost_pictures.objects += sum(counts.values())
            if label is not None:
                self.label_tally.lost[label] += 1
                self.lost_pictures.labels += 1

    def leave_out_shapes(self, subject: str, kind: str, reason: str = "", count: int = 1) -> None:
        """A part of an object is left out, and the object stays: `kind` is a singular noun."""
        with self._lock:
            told = f"{kind}: {reason}" if reason else f"{kind}: it has no place in an object"
            self._add(subject, told)
            self.shapes[kind] += count

    def near_miss(self, path: str, reason: str) -> None:
        """A file was close to another reading and is not understood: name it, and say why."""
        with self._lock:
            reason = reason.rstrip(".")
            self.near_miss_counts[reason] += 1
            if self.near_miss_counts[reason] <= _KEPT_PER_REASON:
                self.near_misses.append(Problem(path, reason))

    def name_unlisted(self, path: str) -> None:
        """Count a file that no list of a split names."""
        with self._lock:
            self.unlisted.add(path)

    def name_missing(self, list_path: str, name: str) -> None:
        """Count an entry of a list that no file has the name of."""
        with self._lock:
            self.missing.add(f"{list_path}: {name}")

    def name_unlabelled(self, path: str) -> None:
        """Count a picture that has no file of annotations."""
        with self._lock:
            self.unlabelled.add(path)

    def note(self, text: str) -> None:
        """Note something that is worth knowing and no problem."""
        self.notes.append(text)

    def ignore_litter(self) -> None:
        """Count a file that an operating system left there."""
        self.litter += 1

    def _add(self, subject: str, reason: str) -> None:
        reason = reason.rstrip(".")
        self.skipped[reason] += 1
        if self.skipped[reason] <= _KEPT_PER_REASON and len(self.problems) < KEPT_PROBLEMS:
            self.problems.append(Problem(subject, reason))

    @property
    def objects(self) -> int:
        """How many objects are imported."""
        return self.object_tally.kept.total()

    @property
    def skipped_total(self) -> int:
        """How many things are left out."""
        return self.skipped.total()

    @property
    def lost_total(self) -> int:
        """How many objects and labels are lost."""
        return self.object_tally.lost.total() + self.label_tally.lost.total()

    def losses(self) -> list[ClassLoss]:
        """Return the numbers of objects and of labels, where the source has them."""
        wholes = (self.object_tally.whole(), self.label_tally.whole())
        return [whole for whole in wholes if whole.source]

    def class_losses(self) -> list[ClassLoss]:
        """Return the classes that lose objects or labels."""
        return [*self.object_tally.classes(), *self.label_tally.classes()]

    def losses_above(self, allowed: float) -> list[ClassLoss]:
        """Return the whole and the classes that lose a larger share than `allowed`."""
        return [*self.object_tally.above(allowed), *self.label_tally.above(allowed)]

    def provenance(self, allowed_loss: float = DEFAULT_ALLOWED_LOSS) -> dict[str, Any]:
        """Return the origin that a version keeps of its import.

        `allowed_loss` is the share that was accepted; it is kept where something is lost.
        """
        lost = {f"lost_{one.kind}s": one.lost for one in self.losses() if one.lost}
        counts = {
            "files": self.files,
            "labelled": self.labels.total(),
            "objects": self.objects,
            "skipped": self.skipped_total,
            **({"links": self.links} if self.links else {}),
            **lost,
        }
        origin = {
            "importer": self.importer,
            "source": self.source,
            "annotations": dict(sorted(self.annotations.items())),
            "counts": counts,
            **({"left_out": dict(self.shapes)} if self.shapes else {}),
            **({"allowed_loss": allowed_loss} if lost else {}),
        }
        return {"kind": "import", "import": origin}
