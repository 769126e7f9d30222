"""Results that the server has not acknowledged yet; they are sent until it has."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any

from atom_agent.messages import Failure, PackName

_DETAIL_CHARACTERS = 500


@dataclass(frozen=True, slots=True)
class Results:
    """Results at one moment, as the fields of a request for work."""

    done: list[dict[str, Any]] = field(default_factory=list)
    failed: list[dict[str, Any]] = field(default_factory=list)
    removed: list[dict[str, Any]] = field(default_factory=list)
    verified: list[dict[str, Any]] = field(default_factory=list)

    def __len__(self) -> int:
        return len(self.done) + len(self.failed) + len(self.removed) + len(self.verified)


class Outbox:
    """Ends of fetches, removals and checks. Safe for threads."""

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._results = Results()

    def add_done(self, fetch: str, count_bytes: int, seconds: float) -> None:
        """Add a fetch whose pack is whole on the disk."""
        entry = {"fetch": fetch, "bytes": count_bytes, "seconds": round(seconds, 3)}
        with self._guard:
            self._results.done.append(entry)

    def add_failure(self, failure: Failure) -> None:
        """Add a fetch that failed."""
        detail = failure.detail[:_DETAIL_CHARACTERS]
        entry = {"fetch": failure.fetch, "reason": str(failure.reason), "detail": detail}
        with self._guard:
            self._results.failed.append(entry)

    def add_removal(self, pack: PackName) -> None:
        """Add a pack that is gone."""
        with self._guard:
            self._results.removed.append(pack.as_json)

    def add_verified(self, pack: PackName) -> None:
        """Add a pack whose bytes were checked and are right."""
        with self._guard:
            self._results.verified.append(pack.as_json)

    def snapshot(self) -> Results:
        """Return a copy of the results that wait."""
        with self._guard:
            waiting = self._results
            return Results(
                list(waiting.done),
                list(waiting.failed),
                list(waiting.removed),
                list(waiting.verified),
            )

    def acknowledge(self, results: Results) -> None:
        """Drop results that the server has received; later ones stay."""
        with self._guard:
            waiting = self._results
            del waiting.done[: len(results.done)]
            del waiting.failed[: len(results.failed)]
            del waiting.removed[: len(results.removed)]
            del waiting.verified[: len(results.verified)]
