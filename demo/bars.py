"""Bars of the demo's steps; a step that has nothing to do has a line instead."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager

from rich.console import Console
from rich.progress import BarColumn, Progress, TaskID, TextColumn, TimeElapsedColumn


class Bars:
    """One bar for each name, from its first progress on."""

    def __init__(self, progress: Progress) -> None:
        self._progress = progress
        self._tasks: dict[str, TaskID] = {}

    @property
    def is_empty(self) -> bool:
        """Whether no progress was reported."""
        return not self._tasks

    def show(self, name: str, done: float, total: float, text: str = "") -> None:
        """Show that `done` of `total` is done, with `text` or the name before the bar."""
        if name not in self._tasks:
            self._tasks[name] = self._progress.add_task(text or name, total=total)
        self._progress.update(self._tasks[name], description=text or name, completed=done)


@contextmanager
def bars(console: Console, nothing_to_do: str) -> Iterator[Bars]:
    """Draw bars; if no progress is reported until the end, print `nothing_to_do`."""
    columns = (
        TextColumn("{task.description}"),
        BarColumn(),
        TextColumn("{task.percentage:>3.0f}%"),
        TimeElapsedColumn(),
    )
    with Progress(*columns, console=console) as progress:
        shown = Bars(progress)
        yield shown
    if shown.is_empty:
        console.print(nothing_to_do)
