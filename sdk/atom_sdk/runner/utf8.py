"""Where characters of UTF-8 begin and end in bytes that may be cut anywhere."""

from __future__ import annotations

import codecs

# A character has at most four bytes, so at most three of it can be without the rest.
_MOST_CUT_BYTES = 3


def unfinished(data: bytes) -> int:
    """Return how many bytes at the end begin a character whose other bytes are missing."""
    end = data[-_MOST_CUT_BYTES:]
    return len(end) - codecs.utf_8_decode(end, "replace", False)[1]


def without_cut_beginning(data: bytes) -> bytes:
    """Return the data without the last bytes of a character whose first bytes are missing."""
    at = 0
    while at < min(_MOST_CUT_BYTES, len(data)) and 0x80 <= data[at] < 0xC0:
        at += 1
    return data[at:]
