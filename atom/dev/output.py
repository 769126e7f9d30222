"""Lines of many processes in one terminal: a coloured name before each, JSON made readable."""

import json
import os
import sys
from datetime import UTC, datetime
from typing import TextIO

_COLOURS = (36, 32, 33, 35, 34, 96, 92, 95)
_SKIPPED = frozenset({"event", "level", "timestamp", "logger"})
NAME_WIDTH = 8


class Terminal:
    """Prints lines with the name of their process; colours only on a terminal."""

    def __init__(self, stream: TextIO = sys.stdout) -> None:
        self._stream = stream
        self._colours: dict[str, int] = {}
        self._coloured = stream.isatty() and "NO_COLOR" not in os.environ
        # Whether what processes print is shown too; each has a log of its own.
        self.echoes = True

    def echo(self, name: str, text: str) -> None:
        """Print one line that a process has printed."""
        if self.echoes:
            self.line(name, text)

    def line(self, name: str, text: str) -> None:
        """Print one line about a process."""
        colour = self._colours.setdefault(name, _COLOURS[len(self._colours) % len(_COLOURS)])
        label = f"{name:<{NAME_WIDTH}}"
        if self._coloured:
            label = f"\x1b[{colour}m{label}\x1b[0m"
        self._write(f"{label} | {readable(text)}")

    def say(self, text: str) -> None:
        """Print a line of the launcher itself."""
        self.line("atom", text)

    def _write(self, text: str) -> None:
        try:
            print(text, file=self._stream, flush=True)
        except (BrokenPipeError, OSError):
            # The reader is gone (`make up | head`); the log files still have every line.
            return


def readable(line: str) -> str:
    """Return `12:00:01 warning event key=value` for a JSON log line, other lines unchanged."""
    if not line.startswith("{"):
        return line
    try:
        entry = json.loads(line)
    except ValueError:
        return line
    if not isinstance(entry, dict) or "event" not in entry:
        return line
    rest = " ".join(f"{key}={value}" for key, value in entry.items() if key not in _SKIPPED)
    return f"{_clock(entry.get('timestamp'))} {entry.get('level', ''):<7} {entry['event']} {rest}"


def _clock(timestamp: object) -> str:
    try:
        moment = datetime.fromisoformat(str(timestamp))
    except ValueError:
        moment = datetime.now(UTC)
    return moment.astimezone().strftime("%H:%M:%S")
