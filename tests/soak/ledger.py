"""Work that the stack has acknowledged, as its clients saw it."""

from __future__ import annotations

import threading
from collections import Counter
from dataclasses import dataclass, field
from typing import Any


@dataclass
class VersionNote:
    """A version that a push or a publication has answered with."""

    dataset: str
    ref: str
    commit: str
    # Path to BLAKE3, and path to label; of a publication, only the labels.
    digests: dict[str, str] = field(default_factory=dict)
    labels: dict[str, str] = field(default_factory=dict)


@dataclass
class RunNote:
    """A run that was created, once, with this key."""

    id: str
    name: str
    # How many lines and points its command writes; 0 if it is not ours to count.
    lines: int = 0
    state: str = ""
    # The longest log of each attempt that was ever shown.
    seen: dict[int, list[str]] = field(default_factory=dict)


@dataclass
class ModelNote:
    """A model version that a registration has answered with."""

    model: str
    number: int
    run: str


@dataclass
class Ledger:
    """All that was acknowledged, and all that went wrong on the way. Thread-safe."""

    versions: list[VersionNote] = field(default_factory=list)
    runs: dict[str, RunNote] = field(default_factory=dict)
    # Idempotency key of a label to (task, path, label).
    labels: dict[str, tuple[str, str, str]] = field(default_factory=dict)
    tasks: dict[str, str] = field(default_factory=dict)
    models: list[ModelNote] = field(default_factory=list)
    # Run of an evaluation to the model version that it measured.
    evaluations: dict[str, ModelNote] = field(default_factory=dict)
    # Alias of a model to the version it was pointed at last.
    aliases: dict[str, int] = field(default_factory=dict)
    cycles: int = 0
    statuses: Counter[int] = field(default_factory=Counter)
    complaints: list[str] = field(default_factory=list)
    _lock: threading.Lock = field(default_factory=threading.Lock)

    def note(self, **said: Any) -> None:
        """Add to lists, and to dictionaries, by the names of this class."""
        with self._lock:
            for name, value in said.items():
                held = getattr(self, name)
                if isinstance(held, list):
                    held.append(value)
                elif isinstance(held, dict):
                    held.update(value)
                else:
                    setattr(self, name, held + value)

    def complain(self, text: str) -> None:
        """Note what must not happen."""
        self.note(complaints=text)

    def answered(self, status: int) -> None:
        """Count an answer."""
        with self._lock:
            self.statuses[status] += 1
