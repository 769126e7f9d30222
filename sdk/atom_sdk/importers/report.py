"""What an import found, and what it leaves out and why."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from threading import Lock
from typing import Any

KEPT_PROBLEMS = 100
_KEPT_PER_REASON = 20


@dataclass(frozen=True, slots=True)
class Problem:
    """Something that is not imported: what, and why in words."""

    subject: str
    reason: str


@dataclass
class Report:
    """Counts of an import; the list of problems is bounded, their number is not.

    `skipped` counts by reason. `annotations` is the BLAKE3 of each file that says what the items
    are.
    """

    source: str
    importer: str = ""
    why: str = ""
    files: int = 0
    size_bytes: int = 0
    objects: int = 0
    litter: int = 0
    labels: Counter[str] = field(default_factory=Counter)
    splits: Counter[str] = field(default_factory=Counter)
    skipped: Counter[str] = field(default_factory=Counter)
    problems: list[Problem] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    annotations: dict[str, str] = field(default_factory=dict)
    first: list[dict[str, Any]] = field(default_factory=list)
    _lock: Lock = field(default_factory=Lock, repr=False)

    def skip(self, subject: str, reason: str) -> None:
        """Note that something is left out. Safe for threads."""
        reason = reason.rstrip(".")
        with self._lock:
            self.skipped[reason] += 1
            if self.skipped[reason] <= _KEPT_PER_REASON and len(self.problems) < KEPT_PROBLEMS:
                self.problems.append(Problem(subject, reason))

    def note(self, text: str) -> None:
        """Note something that is worth knowing and no problem."""
        self.notes.append(text)

    def ignore_litter(self) -> None:
        """Count a file that an operating system left there."""
        self.litter += 1

    @property
    def skipped_total(self) -> int:
        """How many things are left out."""
        return self.skipped.total()

    def provenance(self) -> dict[str, Any]:
        """Return what a version keeps of its import."""
        counts = {
            "files": self.files,
            "labelled": self.labels.total(),
            "objects": self.objects,
            "skipped": self.skipped_total,
        }
        found = {
            "importer": self.importer,
            "source": self.source,
            "annotations": dict(sorted(self.annotations.items())),
            "counts": counts,
        }
        return {"kind": "import", "import": found}

    def as_json(self) -> dict[str, Any]:
        """Return plain values for `--json`."""
        return {
            "source": self.source,
            "format": self.importer,
            "why": self.why,
            "files": self.files,
            "size_bytes": self.size_bytes,
            "objects": self.objects,
            "labels": dict(self.labels.most_common()),
            "splits": dict(self.splits),
            "skipped_total": self.skipped_total,
            "skipped": dict(self.skipped),
            "litter": self.litter,
            "problems": [{"subject": p.subject, "reason": p.reason} for p in self.problems],
            "notes": self.notes,
            "annotations": self.annotations,
            "first": self.first,
        }
