"""Writes a pack to any sink in one pass, hashing each member and the whole pack on the way.

The calling thread reads files into a buffer and hashes each while it is hot in the cache. Full
buffers are hashed for the pack's digest and written by a second thread, or, where other processes
use the other cores, by the same one. (Hashing and writing in two threads was slower: buffers moved
between the caches of the cores.)
"""

from __future__ import annotations

import os
from collections import deque
from collections.abc import Callable, Iterable
from concurrent.futures import Future, ThreadPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from types import TracebackType
from typing import NamedTuple, Protocol, Self

from blake3 import blake3

from atom_sdk.errors import EmptyPackError, FileChangedError, PackOrderError
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.plan import SourceFile
from atom_sdk.packs.tar import BLOCK_BYTES, data_padding_bytes, end_bytes, member_head

_BUFFER_BYTES = 1 << 20
_BUFFERS = 3
_PIECE_BYTES = 32 << 10
_ZERO_BLOCK = bytes(BLOCK_BYTES)
_OPEN_FLAGS = os.O_RDONLY | os.O_CLOEXEC

# Fills the memory it is given and returns how many bytes it had; fewer only at the end of the file.
ReadInto = Callable[[memoryview], int]


class PackMember(NamedTuple):
    """Where one file lies in its pack: offset and size of its data in bytes, BLAKE3."""

    path: str
    offset: int
    size: int
    digest: bytes


@dataclass(frozen=True, slots=True)
class PackSummary:
    """A finished pack: its BLAKE3 (32 bytes), its size and its members in path order."""

    digest: bytes
    size_bytes: int
    members: tuple[PackMember, ...]


class Sink(Protocol):
    """Takes the bytes of a pack in order. Must be done with `data` when it returns."""

    def write(self, data: memoryview, /) -> object:
        """Take all of `data`."""


class FileSink:
    """Writes to a file descriptor, in pieces.

    For each piece the kernel takes one block of memory. Blocks of up to 32 KiB it keeps at hand;
    larger ones a virtual machine often has to ask its host for, which takes twice the time.
    """

    def __init__(self, descriptor: int) -> None:
        """`descriptor` stays the caller's to close."""
        self._descriptor = descriptor

    def write(self, data: memoryview, /) -> None:
        """Write all of `data`; raises OSError, for example when the disk is full."""
        while len(data):
            data = data[os.write(self._descriptor, data[:_PIECE_BYTES]) :]


class _InTurn:
    """One buffer, hashed and written by the calling thread.

    For a process that has its core alone: nothing is handed from one thread to the other, and the
    buffer stays in the core's cache.
    """

    def __init__(self, drain: Callable[[memoryview], None]) -> None:
        self._drain = drain
        self.buffer = memoryview(bytearray(_BUFFER_BYTES // 2))

    def exchange(self, full: memoryview) -> memoryview:
        """Drain a full buffer and return an empty one."""
        self._drain(full)
        return self.buffer

    def wait(self) -> None:
        """Nothing is under way."""

    def stop(self) -> None:
        """Nothing runs."""


class _InThread:
    """A few buffers; full ones are drained by a thread while the caller fills the next."""

    def __init__(self, drain: Callable[[memoryview], None]) -> None:
        self._drain = drain
        self._thread = ThreadPoolExecutor(1, "pack-write")
        self.buffer = memoryview(bytearray(_BUFFER_BYTES))
        self._free = [memoryview(bytearray(_BUFFER_BYTES)) for _ in range(_BUFFERS - 1)]
        self._pending: deque[tuple[Future[None], memoryview]] = deque()

    def exchange(self, full: memoryview) -> memoryview:
        """Hand a full buffer to the thread and return an empty one, once there is one."""
        self._pending.append((self._thread.submit(self._drain, full), self.buffer))
        if self._free:
            self.buffer = self._free.pop()
        else:
            future, self.buffer = self._pending.popleft()
            future.result()
        return self.buffer

    def wait(self) -> None:
        """Wait until everything is hashed and written; a failed write is raised here."""
        while self._pending:
            self._pending.popleft()[0].result()

    def stop(self) -> None:
        """Stop the thread; what it has not begun is left."""
        self._thread.shutdown(wait=True, cancel_futures=True)


class PackWriter:
    """Adds members in path order; `close` returns the summary. Use it as a context manager."""

    def __init__(self, sink: Sink, *, threaded: bool = True) -> None:
        """Nothing is written before the first buffer is full; `threaded` writes in a thread."""
        self._sink = sink
        self._hasher = blake3()
        self._members: list[PackMember] = []
        self._previous = b""
        self._position = 0
        self._output = (_InThread if threaded else _InTurn)(self._hash_and_write)
        self._view = self._output.buffer
        self._filled = 0

    def __enter__(self) -> Self:
        """Start; leaving the block stops the thread."""
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        trace: TracebackType | None,
    ) -> None:
        """Stop the thread without finishing the pack."""
        self._output.stop()

    def add_bytes(self, path: str, data: bytes | memoryview) -> PackMember:
        """Add a file whose content is in memory."""
        rest = memoryview(data).cast("B")

        def read_into(target: memoryview) -> int:
            nonlocal rest
            count = min(len(target), len(rest))
            target[:count] = rest[:count]
            rest = rest[count:]
            return count

        return self.add(path, len(rest), read_into)

    def add_file(
        self, file: SourceFile, folder_descriptor: int, *, follow_links: bool = False
    ) -> PackMember:
        """Add a file of a folder. Raises FileChangedError if its size is not what was listed."""
        path, size, _ = file
        flags = _OPEN_FLAGS if follow_links else _OPEN_FLAGS | os.O_NOFOLLOW
        descriptor = os.open(path, flags, dir_fd=folder_descriptor)
        try:
            actual = os.fstat(descriptor).st_size
            if actual != size:
                raise FileChangedError(path, size, actual)
            return self.add(path, size, partial(_read_descriptor, descriptor))
        finally:
            os.close(descriptor)

    def add(self, path: str, size: int, read_into: ReadInto) -> PackMember:
        """Add a file of `size` bytes, which `read_into` copies piece by piece.

        Raises PackOrderError if the path does not come after the last one, FileChangedError if the
        source ends early.
        """
        encoded = encode_path(path)
        if encoded <= self._previous:
            raise PackOrderError(self._previous.decode(), path)
        self._previous = encoded
        head = member_head(encoded, size, self._position)
        offset = self._position + len(head)
        if self._filled + len(head) + size + BLOCK_BYTES <= len(self._view):
            digest = self._add_whole(path, head, size, read_into)
        else:
            digest = self._add_in_pieces(path, head, size, read_into)
        member = PackMember(path, offset, size, digest)
        self._members.append(member)
        return member

    def close(self) -> PackSummary:
        """Write the end, wait for the sink and return the summary.

        Raises EmptyPackError without members, and what the sink raised.
        """
        if not self._members:
            raise EmptyPackError
        self._put(bytes(end_bytes(self._position)))
        self._flush()
        self._output.wait()
        return PackSummary(self._hasher.digest(), self._position, tuple(self._members))

    def _add_whole(self, path: str, head: bytes, size: int, read_into: ReadInto) -> bytes:
        """Add a member that fits into the rest of the buffer: the usual case, so kept short."""
        start = self._filled
        data_start = start + len(head)
        data_end = data_start + size
        end = data_end + -size % BLOCK_BYTES
        self._view[start:data_start] = head
        data = self._view[data_start:data_end]
        if read_into(data) != size:
            raise FileChangedError(path, size, 0)
        self._view[data_end:end] = _ZERO_BLOCK[: end - data_end]
        self._filled = end
        self._position += end - start
        return blake3(data).digest()

    def _add_in_pieces(self, path: str, head: bytes, size: int, read_into: ReadInto) -> bytes:
        self._put(head)
        hasher = blake3()
        rest = size
        while rest:
            piece = self._room(rest)
            if read_into(piece) != len(piece):
                raise FileChangedError(path, size, size - rest)
            hasher.update(piece)
            self._advance(len(piece))
            rest -= len(piece)
        self._put(_ZERO_BLOCK[: data_padding_bytes(size)])
        return hasher.digest()

    def _put(self, data: bytes) -> None:
        rest = memoryview(data)
        while len(rest):
            room = self._room(len(rest))
            room[:] = rest[: len(room)]
            self._advance(len(room))
            rest = rest[len(room) :]

    def _room(self, wanted: int) -> memoryview:
        """Free space of at most `wanted` bytes, at least one."""
        if self._filled == len(self._view):
            self._flush()
        return self._view[self._filled : self._filled + wanted]

    def _advance(self, count: int) -> None:
        self._filled += count
        self._position += count

    def _flush(self) -> None:
        self._view = self._output.exchange(self._view[: self._filled])
        self._filled = 0

    def _hash_and_write(self, data: memoryview) -> None:
        self._hasher.update(data)
        self._sink.write(data)


def _read_descriptor(descriptor: int, target: memoryview) -> int:
    """Fill `target` from a file; returns how many bytes there were."""
    done = os.readv(descriptor, (target,))
    while done < len(target):
        count = os.readv(descriptor, (target[done:],))
        if not count:
            break
        done += count
    return done


def write_pack(
    files: Iterable[SourceFile],
    folder: Path | str,
    sink: Sink,
    *,
    threaded: bool = True,
    follow_links: bool = False,
) -> PackSummary:
    """Pack files of a folder, sorted by path, into `sink`; see PackWriter for `threaded`.

    With `follow_links` a file may be a link to one; without, such a file was exchanged since.
    Raises EmptyPackError, PackOrderError, PathError, FileChangedError; OSError if a file cannot be
    read.
    """
    root = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_CLOEXEC)
    try:
        with PackWriter(sink, threaded=threaded) as writer:
            for file in files:
                writer.add_file(file, root, follow_links=follow_links)
            return writer.close()
    finally:
        os.close(root)
