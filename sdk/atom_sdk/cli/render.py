"""Tables, durations and progress bars for people."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Self

from rich.console import Console
from rich.progress import (
    BarColumn,
    DownloadColumn,
    MofNCompleteColumn,
    ProgressColumn,
    SpinnerColumn,
    Task,
    TaskID,
    TextColumn,
    TimeRemainingColumn,
    TransferSpeedColumn,
)
from rich.progress import Progress as RichProgress
from rich.table import Table
from rich.text import Text

# An id, or a time with its zone; paths and messages are longer and give way.
_WHOLE_CHARACTERS = 25
_FOLDED_CHARACTERS = 12


def path_text(path: str) -> str:
    """Return the path in one line, as `ls -b` does: whatever cannot be printed is escaped."""
    return "".join(
        char if char.isprintable() and char != "\\" else char.encode("unicode_escape").decode()
        for char in path
    )


def duration_text(seconds: float | None) -> str:
    """Return `1h 02m`, `3m 05s` or `4.2s`."""
    if seconds is None:
        return "–"
    if seconds < 60:
        return f"{seconds:.1f}s"
    minutes, rest = divmod(int(seconds), 60)
    hours, minutes = divmod(minutes, 60)
    return f"{hours}h {minutes:02d}m" if hours else f"{minutes}m {rest:02d}s"


def print_table(console: Console, columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> None:
    """Print rows under headings; cells are plain text, never markup."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    texts = [["" if cell is None else str(cell) for cell in row] for row in rows]
    for column, is_whole in zip(columns, _whole(columns, texts, console.width), strict=True):
        table.add_column(column, overflow="fold", no_wrap=is_whole)
    for row in texts:
        table.add_row(*map(Text, row))
    console.print(table)


def without_zeros(
    columns: Sequence[str], rows: Iterable[Sequence[Any]], name: str
) -> tuple[list[str], list[list[Any]]]:
    """Return columns and rows without the named column if all of its numbers are 0."""
    cells, at = [list(row) for row in rows], columns.index(name)
    if any(row[at] for row in cells):
        return list(columns), cells
    return [*columns[:at], *columns[at + 1 :]], [[*row[:at], *row[at + 1 :]] for row in cells]


def _whole(columns: Sequence[str], rows: list[list[str]], width: int) -> list[bool]:
    """Which columns stay in one piece, if there is room: ids and times, which people copy."""
    widths = [max(map(len, cells)) for cells in zip(columns, *rows, strict=True)]
    whole = [width <= _WHOLE_CHARACTERS for width in widths]
    taken = sum(width + 2 if width <= _WHOLE_CHARACTERS else _FOLDED_CHARACTERS for width in widths)
    return whole if taken <= width else [False] * len(widths)


class _Amount(ProgressColumn):
    """Files as `n/m`, bytes as sizes with their speed."""

    def __init__(self) -> None:
        super().__init__()
        self._bytes, self._count = DownloadColumn(binary_units=True), MofNCompleteColumn()
        self._speed = TransferSpeedColumn()

    def render(self, task: Task) -> Text:
        """Return the amount that is done."""
        if task.fields.get("unit") != "bytes":
            return self._count.render(task)
        return Text.assemble(self._bytes.render(task), " ", self._speed.render(task))


class Bars:
    """The SDK's `Progress` as bars on standard error; nothing is drawn when it is no terminal.

    After success no bar is left of a step that had nothing to do: the command says what was there.
    """

    def __init__(self, console: Console, enabled: bool) -> None:
        self._console = console
        self._tasks: dict[str, TaskID] = {}
        self._bars = RichProgress(
            SpinnerColumn(),
            TextColumn("{task.description:<8}"),
            BarColumn(),
            _Amount(),
            TimeRemainingColumn(),
            console=console,
            disable=not enabled or not console.is_terminal,
        )

    def __enter__(self) -> Self:
        """Start drawing."""
        self._bars.start()
        return self

    def __exit__(self, failure: type[BaseException] | None, *_: object) -> None:
        """Stop drawing and leave the bars as they are, after success those that moved."""
        for task in self._bars.tasks if failure is None else ():
            self._bars.update(task.id, visible=task.completed > 0)
        self._bars.stop()

    def start(self, step: str, total: int, unit: str) -> None:
        """Add a bar; a step that starts again begins at zero."""
        if step in self._tasks:
            self._bars.reset(self._tasks[step], total=total or None)
            return
        self._tasks[step] = self._bars.add_task(step, total=total or None, unit=unit)

    def advance(self, step: str, amount: int) -> None:
        """Move a bar."""
        if step in self._tasks:
            self._bars.advance(self._tasks[step], amount)

    def note(self, text: str) -> None:
        """Print a line above the bars."""
        self._console.print(Text(text))
