"""The progress of long work, for its caller; the command line draws bars from it."""

from __future__ import annotations

from typing import Protocol


class Progress(Protocol):
    """Receives the steps of long work."""

    def start(self, step: str, total: int, unit: str) -> None:
        """Begin a step; `unit` is `files` or `bytes`; `total` may be 0 when it is unknown."""

    def advance(self, step: str, amount: int) -> None:
        """Report that `amount` more units are done."""

    def note(self, text: str) -> None:
        """Say something worth reading."""


class Silent:
    """Ignores everything."""

    def start(self, step: str, total: int, unit: str) -> None:
        """Ignore."""

    def advance(self, step: str, amount: int) -> None:
        """Ignore."""

    def note(self, text: str) -> None:
        """Ignore."""
