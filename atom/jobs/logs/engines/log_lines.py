"""The lines of a log, numbered as every reader of it numbers them.

stdout and stderr are one byte sequence, and either may stop in the middle of a line. The number of
a line is the number of newlines of both before its own newline.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass

from atom.jobs.logs.engines.log_text import text_of
from atom_sdk.runner.frames import Frame

# The longest line for readers; a program that writes no newline must not fill the memory.
MAX_LINE_BYTES = 64 << 10
# CSI and OSC sequences, and the two-byte escapes.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


def strip_escapes(data: bytes) -> bytes:
    """Return the bytes without ANSI escape sequences."""
    return _ESCAPES.sub(b"", data) if b"\x1b" in data else data


@dataclass(frozen=True, slots=True)
class Line:
    """One line without its newline; `number` counts from 0, `byte_off` is that of its beginning."""

    number: int
    fd: int
    byte_off: int
    ts_ns: int
    raw: bytes

    @property
    def text(self) -> str:
        """Return what a terminal shows of it: the last redraw, without escape sequences."""
        shown = self.raw.removesuffix(b"\r")
        shown = shown[shown.rfind(b"\r") + 1 :]
        plain = strip_escapes(shown)
        # A line that was cut to its limit may end in the middle of a character.
        is_cut = len(self.raw) >= MAX_LINE_BYTES
        return text_of(plain) if is_cut else plain.decode("utf-8", "replace")


@dataclass(slots=True)
class _Open:
    """A line that has no newline yet."""

    byte_off: int
    ts_ns: int
    raw: bytes


class Lines:
    """Puts frames together to lines."""

    def __init__(self, first: int = 0) -> None:
        """`first` is the number of newlines before the first frame."""
        self.next = first
        self._open: dict[int, _Open] = {}

    @property
    def is_between(self) -> bool:
        """Whether no line is unfinished."""
        return not self._open

    def feed(self, frame: Frame) -> Iterator[Line]:
        """Yield the lines that end in the frame."""
        offset = frame.byte_off
        *ended, rest = frame.payload.split(b"\n")
        begun = self._open.pop(frame.fd, None) if ended else None
        for piece in ended:
            if begun is None:
                yield Line(self.next, frame.fd, offset, frame.ts_ns, piece[:MAX_LINE_BYTES])
            else:
                raw = (begun.raw + piece)[:MAX_LINE_BYTES]
                yield Line(self.next, frame.fd, begun.byte_off, begun.ts_ns, raw)
                begun = None
            self.next += 1
            offset += len(piece) + 1
        if rest:
            self._extend(frame, offset, rest)

    def _extend(self, frame: Frame, offset: int, rest: bytes) -> None:
        begun = self._open.setdefault(frame.fd, _Open(offset, frame.ts_ns, b""))
        # A progress bar redraws one line for hours; only its last picture counts.
        shown = begun.raw + rest
        shown = shown[shown.rfind(b"\r", 0, -1) + 1 :]
        begun.raw = shown[:MAX_LINE_BYTES]

    def skip(self, frame: Frame, kept: int) -> list[Line]:
        """Count the lines of a frame of whole lines without reading them; return the last few."""
        first = self.next
        self.next += frame.payload.count(b"\n")
        if not kept:
            return []
        pieces = frame.payload[:-1].rsplit(b"\n", kept)
        pieces = pieces[-min(kept, self.next - first) :]
        number, offset = self.next - len(pieces), frame.end - sum(len(one) + 1 for one in pieces)
        last = []
        for piece in pieces:
            raw = piece[:MAX_LINE_BYTES]
            last.append(Line(number, frame.fd, offset, frame.ts_ns, raw))
            number, offset = number + 1, offset + len(piece) + 1
        return last

    def unfinished(self) -> list[Line]:
        """Return the lines that have no newline yet, as if they ended here."""
        return [
            Line(self.next + index, fd, begun.byte_off, begun.ts_ns, begun.raw)
            for index, (fd, begun) in enumerate(self._open.items())
        ]
