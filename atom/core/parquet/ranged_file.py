"""A stored object as a file of which only the parts that are read come over the network."""

from __future__ import annotations

import io
from collections.abc import Callable


class RangedFile(io.RawIOBase):
    """Reads through `read(start, end)`, which returns those bytes of an object."""

    def __init__(self, read: Callable[[int, int], bytes], size_bytes: int) -> None:
        """Nothing is read yet."""
        self._read = read
        self._size_bytes = size_bytes
        self._at = 0

    def readable(self) -> bool:
        """It is."""
        return True

    def seekable(self) -> bool:
        """It is."""
        return True

    def tell(self) -> int:
        """Return the position of the next byte."""
        return self._at

    def seek(self, offset: int, whence: int = io.SEEK_SET) -> int:
        """Move to a position, and return it."""
        start = {io.SEEK_SET: 0, io.SEEK_CUR: self._at, io.SEEK_END: self._size_bytes}[whence]
        self._at = max(start + offset, 0)
        return self._at

    def read(self, size: int = -1) -> bytes:
        """Return up to `size` bytes, all that are left if it is negative."""
        end = self._size_bytes if size < 0 else min(self._at + size, self._size_bytes)
        if end <= self._at:
            return b""
        data = self._read(self._at, end)
        self._at += len(data)
        return data

    def readinto(self, buffer: object) -> int:
        """Fill a buffer; returns the number of bytes."""
        view = memoryview(buffer).cast("B")  # type: ignore[arg-type]  # any buffer
        data = self.read(len(view))
        view[: len(data)] = data
        return len(data)
