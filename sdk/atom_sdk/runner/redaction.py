"""Keeps the values of secrets out of the log."""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Iterable

MASK = b"***"
# Shorter values are words that any log has: to mask them would say what they are.
MIN_BYTES = 4
# A line of a private key, for example. Shorter ones are the likes of a closing bracket.
_MIN_LINE_BYTES = 8
# Colours of a terminal, which pages and searches take out: a value with some in it would be whole
# again. The last one of the data may have come in part.
_COLOURS = re.compile(rb"\x1b(?:\[[0-9;?]*[ -/]*(?:[@-~]|\Z)|\Z)")
# The limit for bytes that begin like a value and then go on in nothing but colours.
_MOST_HELD_BYTES = 256 << 10


class Redactor:
    """Masks values in a stream of bytes, also in two pieces or with colours in between."""

    def __init__(self, values: Iterable[str]) -> None:
        """Each line of a value counts for itself, as it may be printed."""
        self._texts = sorted(_texts(values), key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._texts)))
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return what may be shown; the end is held back while it may begin a value."""
        if not self._texts:
            return data
        masked, keep = self._masked(self._held + data)
        self._held = masked[len(masked) - keep :]
        return masked[: len(masked) - keep]

    def flush(self) -> bytes:
        """Return what was held back: nothing comes after it."""
        held, self._held = self._held, b""
        return held

    def _masked(self, data: bytes) -> tuple[bytes, int]:
        """Return the data with values masked, and how many bytes of its end may begin a value."""
        masked = self._pattern.sub(MASK, data)
        if b"\x1b" not in masked:
            return masked, self._begun(masked)
        text = _Coloured(masked)
        for found in reversed(list(self._pattern.finditer(text.plain))):
            text.mask(found.start(), found.end())
        masked = text.data
        text = _Coloured(masked)
        begun = self._begun(text.plain)
        keep = len(masked) - text.place(len(text.plain) - begun) if begun else self._begun(masked)
        return masked, keep if keep <= _MOST_HELD_BYTES else 0

    def _begun(self, data: bytes) -> int:
        """How many bytes of the end of `data` are the beginning of a value."""
        return max(_overlap(data, text) for text in self._texts)


class _Coloured:
    """Bytes with colours in them: `plain` is without, `place` gives where a byte of it stands."""

    def __init__(self, data: bytes) -> None:
        """Find the colours."""
        self.data = data
        self._starts, self._shifts = [0], [0]
        for colour in _COLOURS.finditer(data):
            shift = self._shifts[-1] + colour.end() - colour.start()
            self._starts.append(colour.end() - shift)
            self._shifts.append(shift)
        self.plain = _COLOURS.sub(b"", data)

    def place(self, at: int) -> int:
        """Return where the byte `at` of the plain text stands in the data."""
        return at + self._shifts[bisect_right(self._starts, at) - 1]

    def mask(self, start: int, end: int) -> None:
        """Mask a part of the plain text, the last one first; its colours come after the mask."""
        first, last = self.place(start), self.place(end - 1) + 1
        colours = b"".join(_COLOURS.findall(self.data[first:last]))
        self.data = self.data[:first] + MASK + colours + self.data[last:]


def _overlap(data: bytes, text: bytes) -> int:
    """The length of the longest end of `data` that `text` begins with, less than the text's."""
    at = data.find(text[:1], max(0, len(data) - len(text) + 1))
    while at >= 0:
        if text.startswith(data[at:]):
            return len(data) - at
        at = data.find(text[:1], at + 1)
    return 0


def _texts(values: Iterable[str]) -> set[bytes]:
    found = set()
    for value in values:
        lines = value.encode("utf-8", "surrogateescape").splitlines()
        least = MIN_BYTES if len(lines) == 1 else _MIN_LINE_BYTES
        found |= {line for line in map(bytes.strip, lines) if len(line) >= least}
    return found
