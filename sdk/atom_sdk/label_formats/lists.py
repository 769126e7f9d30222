"""Lists of pictures, one for each split, written while pictures come."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from types import TracebackType
from typing import IO


class SplitFiles:
    """Text files with a name a line; pictures without a split stand in the list `default`."""

    def __init__(self, folder: Path, default: str) -> None:
        self._folder = folder
        self._default = default
        self._files: dict[str, IO[str]] = {}
        self._stack = ExitStack()

    def __enter__(self) -> SplitFiles:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        self._stack.__exit__(kind, error, trace)

    def add(self, name: str, split: str | None) -> None:
        """Add a picture."""
        key = split or self._default
        if key not in self._files:
            self._folder.mkdir(parents=True, exist_ok=True)
            path = self._folder / f"{key}.txt"
            file = path.open("w", encoding="utf-8", newline="\n")
            self._files[key] = self._stack.enter_context(file)
        self._files[key].write(f"{name}\n")

    def names(self) -> dict[str, str]:
        """Return the list of each split.

        Trainers want lists for training and validation: where no picture has a split, both are
        the same list, which says nothing of a split.
        """
        splits = {key: f"{key}.txt" for key in self._files if key != self._default}
        if not splits:
            return {"train": f"{self._default}.txt", "val": f"{self._default}.txt"}
        return splits
