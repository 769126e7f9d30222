"""Sparse members of a tar archive: the stored segments, and zeros for the holes between them.

GNU tar writes the list of segments in four formats (old GNU, pax 0.0, 0.1 and 1.0); `tarfile`
reads all of them into pairs of offset and length.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence

from atom_sdk.importers.errors import ArchiveDamagedError
from atom_sdk.sentences import Sentence

# Reads up to a count of bytes at an offset of the archive.
ReadAt = Callable[[int, int], bytes]


class SparseMap:
    """Where the stored bytes of a sparse file lie in it, in rising order."""

    def __init__(self, name: str, size_bytes: int, segments: Sequence[tuple[int, int]]) -> None:
        """`segments` are pairs of offset and length. Raises ArchiveDamagedError."""
        self.size_bytes = size_bytes
        self.segments = [(start, length) for start, length in segments if length]
        end = 0
        for start, length in self.segments:
            if start < end or length < 0:
                raise ArchiveDamagedError(
                    Sentence(
                        "formats.sparse_overlap",
                        "The holes of the sparse member {member!r} overlap.",
                        member=name,
                    )
                )
            end = start + length
        if end > size_bytes:
            raise ArchiveDamagedError(
                Sentence(
                    "formats.sparse_end",
                    "The sparse member {member!r} has bytes behind its end at {size}.",
                    member=name,
                    size=size_bytes,
                )
            )
        self.stored_bytes = sum(length for _, length in self.segments)


class SparsePiece:
    """Reads a sparse member from its first byte to its last."""

    def __init__(self, read_at: ReadAt, offset: int, holes: SparseMap) -> None:
        """`offset` is where the stored bytes begin in the archive."""
        self._read_at = read_at
        self._stored_at = offset
        self._size_bytes = holes.size_bytes
        self._segments = iter(holes.segments)
        self._position = 0
        self._start, self._end = 0, 0
        self._next_segment()

    def read(self, count: int) -> bytes:
        """Return up to `count` bytes, none at the end."""
        if self._position < self._start:
            return self._zeros(min(count, self._start - self._position))
        data = self._read_at(self._stored_at, min(count, self._end - self._position))
        self._position += len(data)
        self._stored_at += len(data)
        if self._position == self._end:
            self._next_segment()
        return data

    def close(self) -> None:
        """Leave the archive open: it is the tree's."""

    def _zeros(self, count: int) -> bytes:
        self._position += count
        return bytes(count)

    def _next_segment(self) -> None:
        start, length = next(self._segments, (self._size_bytes, 0))
        self._start, self._end = start, start + length
