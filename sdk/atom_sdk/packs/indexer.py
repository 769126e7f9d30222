"""Verifies a pack while it streams by and yields where each member lies.

Strict: a pack has one canonical byte string for its files, and anything else is refused with the
member named. Memory is bounded by one chunk and one header, whatever the size of the pack.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from blake3 import blake3

from atom_sdk.errors import (
    EmptyPackError,
    PackDigestMismatchError,
    PackHeaderError,
    PackOrderError,
    PackTrailingDataError,
    PackTruncatedError,
)
from atom_sdk.packs.paths import MAX_PATH_BYTES, encode_path
from atom_sdk.packs.tar import (
    ALIGNMENT_BYTES,
    BLOCK_BYTES,
    data_padding_bytes,
    end_bytes,
    member_head,
    parse_header,
    parse_pax_records,
)
from atom_sdk.packs.writer import PackMember

_ZERO_BLOCK = bytes(BLOCK_BYTES)
# Longest canonical pax body: a path record, a size record and the padding to the next alignment.
_MAX_PAX_BYTES = MAX_PATH_BYTES + 2 * ALIGNMENT_BYTES

# Takes path and size of a member; returns whether its bytes are yielded.
MemberFilter: TypeAlias = Callable[[str, int], bool]
# A member, and its bytes if they are yielded: good until the next one is asked for.
PassingMember: TypeAlias = tuple[PackMember, bytes | bytearray | memoryview | None]


def index_pack(chunks: Iterable[bytes | memoryview], digest: bytes) -> Iterator[PackMember]:
    """Yield the members of a pack whose bytes come in chunks of any size.

    The rows may be trusted only once the iterator has ended without an error, because only then the
    digest of the whole pack is known. Raises EmptyPackError, PackTruncatedError, PackHeaderError,
    PackOrderError, PathError, PackTrailingDataError or PackDigestMismatchError.
    """
    return (member for member, _ in pass_pack(chunks, digest, lambda *_: False))


def pass_pack(
    chunks: Iterable[bytes | memoryview], digest: bytes, is_looked_into: MemberFilter
) -> Iterator[PassingMember]:
    """Yield what `index_pack` yields, with the bytes of the members that `is_looked_into` chooses.

    One member's bytes are in memory at a time. Raises what `index_pack` raises.
    """
    parser = _PackParser(_ChunkStream(chunks), is_looked_into)
    yield from parser.members()
    actual = parser.stream.hasher.digest()
    if actual != digest:
        raise PackDigestMismatchError(digest.hex(), actual.hex())


def verify_pack(chunks: Iterable[bytes | memoryview], digest: bytes) -> list[PackMember]:
    """Read a whole pack and return its members; raises what `index_pack` raises."""
    return list(index_pack(chunks, digest))


class _ChunkStream:
    """Cuts an iterator of chunks into pieces and hashes everything that passes."""

    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        self._chunks = iter(chunks)
        self._rest = memoryview(b"")
        self.hasher = blake3()
        self.position = 0

    def pieces(self, count: int) -> Iterator[memoryview]:
        """Yield `count` bytes in as few pieces as possible. Raises EOFError if they end before."""
        while count:
            if not self._rest and not self._next_chunk():
                raise EOFError
            piece = self._rest[:count]
            self._rest = self._rest[len(piece) :]
            self.position += len(piece)
            count -= len(piece)
            yield piece

    def take(self, count: int) -> bytes:
        """Return `count` bytes. Raises EOFError if there are fewer."""
        return b"".join(self.pieces(count))

    def at_end(self) -> bool:
        return not self._rest and not self._next_chunk()

    def _next_chunk(self) -> bool:
        for chunk in self._chunks:
            if len(chunk):
                self._rest = memoryview(chunk).cast("B")
                self.hasher.update(self._rest)
                return True
        return False


class _Kept:
    """The bytes of one member: a view of the chunk that has them all, a copy of several chunks."""

    def __init__(self, size: int) -> None:
        self._size = size
        self._view = memoryview(b"")
        self._copy: bytearray | None = None

    def add(self, piece: memoryview) -> None:
        """Keep what comes next."""
        if len(piece) == self._size:
            self._view = piece
            return
        # Grown by what is there, not by what a header says.
        if self._copy is None:
            self._copy = bytearray()
        self._copy += piece

    def data(self) -> bytearray | memoryview:
        """Return all of it."""
        return self._view if self._copy is None else self._copy


class _PackParser:
    def __init__(self, stream: _ChunkStream, is_looked_into: MemberFilter) -> None:
        self.stream = stream
        self._is_looked_into = is_looked_into
        self._last = ""
        self._last_bytes = b""

    def members(self) -> Iterator[PassingMember]:
        if self.stream.at_end():
            raise EmptyPackError("The pack has no bytes.")
        while True:
            start = self.stream.position
            block = self._take(BLOCK_BYTES)
            if block == _ZERO_BLOCK:
                break
            yield self._member(start, block)
        self._check_end(start)

    def _member(self, start: int, block: bytes) -> PassingMember:
        path, size, head = self._head(start, block)
        encoded = self._checked_path(path)
        if head != member_head(encoded, size, start):
            raise PackHeaderError(f"the member {path!r}", "it is not in canonical form", start)
        offset = self.stream.position
        where = f"inside the data of the member {path!r}, which should have {size} bytes"
        kept = _Kept(size) if self._is_looked_into(path, size) else None
        digest = self._hash_data(size, where, kept)
        data = None if kept is None else kept.data()
        if any(self._take(data_padding_bytes(size), where)):
            raise PackHeaderError(f"the member {path!r}", "its padding is not zero", start)
        return PackMember(path, offset, size, digest), data

    def _head(self, start: int, block: bytes) -> tuple[str, int, bytes]:
        """Read the rest of a member's head; returns path, size and all the head's bytes."""
        try:
            header = parse_header(block)
            records: dict[bytes, bytes] = {}
            if header.type_flag == b"x":
                body = self._pax_body(header.size)
                records = parse_pax_records(body)
                last_block = self._take(BLOCK_BYTES)
                header = parse_header(last_block)
                block += body + last_block
            if header.type_flag != b"0":
                raise ValueError("it is not a regular file")
            path = records.get(b"path", header.name).decode()
            return path, int(records.get(b"size", header.size)), block
        except ValueError as error:
            raise PackHeaderError(self._after(), str(error), start) from error

    def _pax_body(self, size: int) -> bytes:
        if size > _MAX_PAX_BYTES or size % BLOCK_BYTES:
            raise ValueError("its pax header has a length that no pack uses")
        return self._take(size)

    def _checked_path(self, path: str) -> bytes:
        encoded = encode_path(path)
        if encoded <= self._last_bytes:
            raise PackOrderError(self._last, path)
        self._last, self._last_bytes = path, encoded
        return encoded

    def _hash_data(self, size: int, where: str, kept: _Kept | None) -> bytes:
        hasher = blake3()
        try:
            for piece in self.stream.pieces(size):
                hasher.update(piece)
                if kept is not None:
                    kept.add(piece)
        except EOFError as error:
            raise PackTruncatedError(where) from error
        return hasher.digest()

    def _check_end(self, position: int) -> None:
        if not self._last:
            raise EmptyPackError
        if any(self._take(end_bytes(position) - BLOCK_BYTES)):
            raise PackTrailingDataError(position, self._last)
        if not self.stream.at_end():
            raise PackTrailingDataError(self.stream.position, self._last)

    def _take(self, count: int, where: str | None = None) -> bytes:
        try:
            return self.stream.take(count)
        except EOFError as error:
            raise PackTruncatedError(where or f"in {self._after()}") from error

    def _after(self) -> str:
        return f"the member after {self._last!r}" if self._last else "the first member"
