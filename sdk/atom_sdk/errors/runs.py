"""Runs that are not started, because they would fail."""

from __future__ import annotations

from atom_sdk.errors.base import AtomError


class PreflightFailedError(AtomError):
    """The chosen data lacks something that the workflow needs; nothing was started."""

    code = "preflight_failed"

    def __init__(self, sentences: list[str], commands: list[str]) -> None:
        """`commands` repair it, the best one first."""
        super().__init__(" ".join(sentences))
        mends = "; ".join(commands)
        self.hint = f"{mends}. " if mends else ""
        self.hint += "Start it all the same with --no-preflight."
