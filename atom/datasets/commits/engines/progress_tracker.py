"""How far an operation is, from the stages that it goes through. Knows nothing of who asks."""

from __future__ import annotations

from collections.abc import Sequence

from atom_sdk.manifests.progress import Stage

# A push without files draws a split again: it writes nothing, then reads every file.
SPLIT_STAGES: tuple[Stage, ...] = ("writing", "labels", "reading")


class ProgressTracker:
    """Where some work is: its stage, rows of it that are done, and the share of the whole.

    Stages that were not foreseen move the rows, not the share; the share never goes back.
    """

    def __init__(self, foreseen: Sequence[Stage]) -> None:
        """`foreseen` are the stages in order; one that repeats is named as often."""
        self._foreseen = tuple(foreseen)
        # The index of the current stage among the foreseen ones.
        self._at = -1
        self._counts = True
        self._ratio = 0.0
        self.stage: Stage | None = None
        self.rows_done = 0
        self.rows_total = 0

    def begin(self, stage: Stage, total: int) -> None:
        """Begin a stage of so many rows."""
        following = self._foreseen[self._at + 1 :]
        self._counts = stage in following
        if self._counts:
            self._at += 1 + following.index(stage)
        self.stage, self.rows_done, self.rows_total = stage, 0, total

    def advance(self, rows: int) -> None:
        """Note that so many more rows of the stage are done."""
        self.rows_done = min(self.rows_done + rows, self.rows_total)

    @property
    def ratio(self) -> float:
        """Return the share of the whole that is done, 0 to 1."""
        if self._counts and self._foreseen:
            here = self.rows_done / self.rows_total if self.rows_total else 0.0
            self._ratio = max(self._ratio, (max(self._at, 0) + here) / len(self._foreseen))
        return self._ratio
