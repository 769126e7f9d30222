"""Prints the pieces of a log as whole lines: stdout and stderr do not mix within a line."""

from __future__ import annotations

import shutil
from typing import TextIO

_CLEAR_LINE = "\r\x1b[K"


class LinePrinter:
    """Puts lines together stream by stream, in the order in which they end.

    On a terminal the line that is being written is shown too, as far as it fits: a progress bar, a
    prompt. It gives way to whole lines of the other stream and comes back after them.
    """

    def __init__(self, out: TextIO) -> None:
        """Write to `out`."""
        self._out = out
        self._is_terminal = out.isatty()
        self._open: dict[str, str] = {}
        self._is_shown = False

    def add(self, stream: str, text: str) -> None:
        """Print the lines that end in a piece of a stream."""
        lines, newline, rest = (self._open.pop(stream, "") + text).rpartition("\n")
        if rest:
            self._open[stream] = rest
        self._write(lines + newline, self._preview(stream))

    def finish(self) -> None:
        """Print the lines that have no end."""
        *others, last = [*self._open.values()] or [""]
        self._write("".join(f"{line}\n" for line in others) + last, "")
        self._open.clear()

    def _write(self, whole: str, preview: str) -> None:
        cleared = _CLEAR_LINE if self._is_shown and (whole or preview) else ""
        if whole or preview:
            self._out.write(cleared + whole + preview)
            self._out.flush()
            self._is_shown = bool(preview)

    def _preview(self, stream: str) -> str:
        """Return what a terminal shows of the line that is being written."""
        if not self._is_terminal or not self._open:
            return ""
        line = self._open.get(stream) or next(iter(self._open.values()))
        shown = line.rstrip("\r").rpartition("\r")[2]
        # One that wraps could not be taken back.
        return shown if len(shown) < shutil.get_terminal_size().columns else ""
