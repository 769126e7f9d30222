"""Log bytes as text for people: escapes stripped for search, never interpreted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass

from atom.jobs.engines.frames import Frame

# CSI and OSC sequences, and the two-byte escapes.
_ESCAPES = re.compile(rb"\x1b(?:\[[0-?]*[ -/]*[@-~]|\][^\x07\x1b]*(?:\x07|\x1b\\)|[@-Z\\-_])")


@dataclass(frozen=True, slots=True)
class Match:
    """One line that contains what was searched, at its offset in the log."""

    fd: int
    byte_off: int
    ts_ns: int
    line: bytes


def strip_escapes(data: bytes) -> bytes:
    """Return the bytes without ANSI escape sequences."""
    return _ESCAPES.sub(b"", data)


def search(frames: Iterable[Frame], needle: str) -> Iterator[Match]:
    """Yield the lines that contain `needle`, whatever its case; escapes do not count."""
    wanted = needle.casefold().encode()
    for frame in frames:
        # One test of the whole frame first: most frames hold no match at all.
        if wanted in _fold(frame.payload):
            yield from _matching_lines(frame, wanted)


def _matching_lines(frame: Frame, wanted: bytes) -> Iterator[Match]:
    offset = frame.byte_off
    for line in frame.payload.splitlines(keepends=True):
        if wanted in _fold(line):
            yield Match(frame.fd, offset, frame.ts_ns, line)
        offset += len(line)


def _fold(data: bytes) -> bytes:
    return strip_escapes(data).decode(errors="replace").casefold().encode()
