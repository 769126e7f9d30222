"""The `Range` header (RFC 9110, section 14): one range of bytes, or none."""

from __future__ import annotations

import re
from dataclasses import dataclass

from atom.gateway.errors import RangeNotSatisfiable
from atom_sdk.sentences import Sentence

_RANGE = re.compile(r"bytes=(\d{0,18})-(\d{0,18})")


@dataclass(frozen=True)
class ByteRange:
    """Bytes `start` (inclusive) to `end` (exclusive) of a file."""

    start: int
    end: int

    @property
    def size_bytes(self) -> int:
        """Return how many bytes it covers."""
        return self.end - self.start


def parse_range(header: str, size_bytes: int) -> ByteRange | None:
    """Return the one range asked for, None when the whole file should be sent.

    Several ranges and unknown units are ignored, as the RFC allows. Raises RangeNotSatisfiable.
    """
    match = _RANGE.fullmatch(header.strip())
    if match is None or match.groups() == ("", ""):
        return None
    first, last = match.groups()
    if not first:
        start, end = max(0, size_bytes - int(last)), size_bytes
    else:
        start, end = int(first), min(int(last) + 1, size_bytes) if last else size_bytes
        if last and int(last) < int(first):
            return None
    if start >= end:
        headers = {"Content-Range": f"bytes */{size_bytes}"}
        raise RangeNotSatisfiable(
            Sentence(
                "gateway.file_has_bytes", "The file has {size_bytes} bytes.", size_bytes=size_bytes
            ),
            headers=headers,
        )
    return ByteRange(start, end)
