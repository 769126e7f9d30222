"""Keeps the values of secrets out of the log."""

from __future__ import annotations

import re
from collections.abc import Iterable

MASK = b"***"
# Shorter values are words that any log has: to mask them would say what they are.
MIN_BYTES = 4
# A line of a private key, for example. Shorter ones are the likes of a closing bracket.
_MIN_LINE_BYTES = 8


class Redactor:
    """Masks values in a stream of bytes, also those that come in two pieces."""

    def __init__(self, values: Iterable[str]) -> None:
        """Each line of a value counts for itself, as it may be printed."""
        self._texts = sorted(_texts(values), key=len, reverse=True)
        self._pattern = re.compile(b"|".join(map(re.escape, self._texts)))
        self._held = b""

    def feed(self, data: bytes) -> bytes:
        """Return what may be shown; the end is held back while it may begin a value."""
        if not self._texts:
            return data
        masked = self._pattern.sub(MASK, self._held + data)
        keep = self._begun(masked)
        self._held = masked[len(masked) - keep :]
        return masked[: len(masked) - keep]

    def flush(self) -> bytes:
        """Return what was held back: nothing comes after it."""
        held, self._held = self._held, b""
        return held

    def _begun(self, data: bytes) -> int:
        """How many bytes of the end of `data` are the beginning of a value."""
        return max(_overlap(data, text) for text in self._texts)


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
