"""Tar archives: members are read where they lie; a compressed one is decompressed once, to a file.

Only the archive is decompressed to a file, never its members: no name of theirs is ever a file name
here.
"""

from __future__ import annotations

import bz2
import gzip
import lzma
import os
import tarfile
import tempfile
import zlib
from collections.abc import Callable, Iterator
from contextlib import ExitStack
from functools import partial
from pathlib import Path
from typing import IO, Any

import zstandard

from atom_sdk.importers.archive_links import ArchiveLinks
from atom_sdk.importers.errors import ArchiveDamagedError
from atom_sdk.importers.hard_links import HardLinks
from atom_sdk.importers.items import Blob
from atom_sdk.importers.limits import ArchiveLimits, Budget
from atom_sdk.importers.report import Report
from atom_sdk.importers.sparse_members import SparseMap, SparsePiece
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.trees import Tree, gather
from atom_sdk.importers.verified_stream import checked
from atom_sdk.sentences import Sentence

_CHUNK_BYTES = 1 << 20
_BLOCK_BYTES = 512
_DECOMPRESSORS: dict[bytes, Callable[[IO[bytes]], Any]] = {
    b"\x1f\x8b": lambda file: gzip.GzipFile(fileobj=file),
    b"\x28\xb5\x2f\xfd": lambda file: zstandard.ZstdDecompressor().stream_reader(
        file, read_across_frames=True
    ),
    b"BZh": bz2.BZ2File,
    b"\xfd7zXZ\x00": lzma.LZMAFile,
}
_DAMAGES = (OSError, EOFError, zlib.error, lzma.LZMAError, zstandard.ZstdError)


def tar_tree(
    path: Path,
    limits: ArchiveLimits,
    scratch: Path,
    report: Report,
    text: TextOptions,
    *,
    follow_links: bool = False,
) -> Tree:
    """Members of a tar file, which may be compressed by gzip, zstd, bzip2 or xz.

    Raises ArchiveDamagedError, ArchiveTooLargeError, OSError when the disk of `scratch` is full.
    """
    with ExitStack() as stack:
        plain = _plain(path, limits, scratch, stack)
        archive_bytes = os.fstat(plain).st_size
        listing = _Listing(path, plain, archive_bytes, limits)
        files = gather(listing.members(report), report)
        listing.add_hard_links(files, report)
        links = listing.links(files, report, follow=follow_links)
        return Tree(path.name, files, stack.pop_all(), text, links)


def is_compressed(head: bytes) -> bool:
    """Whether a file that begins so is one of the compressed kinds."""
    return any(head.startswith(magic) for magic in _DECOMPRESSORS)


def _plain(path: Path, limits: ArchiveLimits, scratch: Path, stack: ExitStack) -> int:
    """A descriptor of the archive as it is without compression."""
    file = stack.enter_context(path.open("rb"))
    head = file.read(8)
    file.seek(0)
    found = [opener for magic, opener in _DECOMPRESSORS.items() if head.startswith(magic)]
    if not found:
        return file.fileno()
    spool = tempfile.TemporaryFile(dir=scratch)  # noqa: SIM115  # closed by the stack
    stack.enter_context(spool)
    budget = Budget(path.name, path.stat().st_size, limits)
    with found[0](file) as stream:
        while chunk := _read(stream, path.name):
            budget.take_bytes(len(chunk))
            spool.write(chunk)
    spool.flush()
    return spool.fileno()


def _read(stream: IO[bytes], name: str) -> bytes:
    try:
        return bytes(stream.read(_CHUNK_BYTES))
    except _DAMAGES as error:
        reason = Sentence(
            "formats.archive_damaged",
            "{name} is damaged or cut off: {reason}.",
            name=name,
            reason=str(error),
        )
        raise ArchiveDamagedError(reason) from error


class _Listing:
    """Goes through the headers of a plain tar archive."""

    def __init__(
        self, path: Path, descriptor: int, archive_bytes: int, limits: ArchiveLimits
    ) -> None:
        self._name = path.name
        self._mtime_ns = path.stat().st_mtime_ns
        self._descriptor = descriptor
        self._archive_bytes = archive_bytes
        self._budget = Budget(path.name, archive_bytes, limits)
        self._hard_links = HardLinks()
        self._links = ArchiveLinks()

    def links(self, files: dict[str, Blob], report: Report, *, follow: bool) -> dict[str, str]:
        """Return the symbolic links, none if they are followed: then their files are added."""
        if not follow:
            return self._links.kept(files, report)
        self._links.follow(files, self._budget, report)
        return {}

    def add_hard_links(self, files: dict[str, Blob], report: Report) -> None:
        """Add the second names of files, once all members are known."""
        self._hard_links.add_to(files, self._budget, report)

    def members(self, report: Report) -> Iterator[tuple[str, Blob]]:
        """Yield regular files. Raises ArchiveDamagedError, ArchiveTooLargeError."""
        with os.fdopen(os.dup(self._descriptor), "rb") as file:
            file.seek(0)
            try:
                archive = tarfile.TarFile(fileobj=file, errors="surrogateescape")
                while (member := archive.next()) is not None:
                    # tarfile remembers each member: a million of them would stay in memory.
                    archive.members = []  # type: ignore[attr-defined]
                    sparse = self._sparse_map(member)
                    if sparse is not None:
                        # tarfile takes the full size for the stored one where pax gives both.
                        archive.offset = member.offset_data + _padded(sparse.stored_bytes)
                    yield from self._member(member, sparse, report)
            # A cut list of the holes of a file raises IndexError in tarfile.
            except (tarfile.TarError, ValueError, EOFError, IndexError) as error:
                reason = Sentence(
                    "formats.not_tar",
                    "{name} cannot be read as a tar file: {reason}.",
                    name=self._name,
                    reason=str(error),
                )
                raise ArchiveDamagedError(reason) from error
            self._check_end(archive.offset, report)

    def _sparse_map(self, member: tarfile.TarInfo) -> SparseMap | None:
        if not member.issparse():
            return None
        headers = member.pax_headers
        real = headers.get("GNU.sparse.realsize") or headers.get("GNU.sparse.size")
        size_bytes = int(real) if real else member.size
        segments: list[tuple[int, int]] = member.sparse  # type: ignore[assignment]
        return SparseMap(member.name, size_bytes, segments)

    def _member(
        self, member: tarfile.TarInfo, sparse: SparseMap | None, report: Report
    ) -> Iterator[tuple[str, Blob]]:
        size_bytes = member.size if sparse is None else sparse.size_bytes
        if size_bytes < 0:
            # After it, the archive would be read backwards, over and over.
            raise ArchiveDamagedError(
                Sentence(
                    "formats.member_size",
                    "{name}: the member {member!r} has a size below zero.",
                    name=self._name,
                    member=member.name,
                )
            )
        # A hard link has the bytes of another member; they are counted when it is found.
        self._budget.take_member(0 if member.islnk() else size_bytes)
        if member.isdir():
            return
        if member.islnk():
            self._hard_links.add(member.name, member.linkname)
            return
        if not member.isreg():
            self._hard_links.add_refused(member.name)
            if member.issym():
                self._links.add(member.name, member.linkname)
            else:
                report.skip(member.name, "it is a special file")
            return
        stored_bytes = member.size if sparse is None else sparse.stored_bytes
        if member.offset_data + stored_bytes > self._archive_bytes:
            raise ArchiveDamagedError(
                Sentence(
                    "formats.ends_in_member",
                    "{name} ends inside the member {member!r}, which should have {size} bytes.",
                    name=self._name,
                    member=member.name,
                    size=stored_bytes,
                )
            )
        opener = partial(self._open, member.name, member.offset_data, size_bytes, sparse)
        yield member.name, Blob(size_bytes, opener, self._mtime_ns)

    def _open(self, name: str, offset: int, size_bytes: int, sparse: SparseMap | None) -> IO[bytes]:
        piece = _Piece(self._descriptor, offset, size_bytes)
        if sparse is None:
            return checked(piece, name, size_bytes, (OSError,))
        read_at = partial(_read_at, self._descriptor)
        return checked(SparsePiece(read_at, offset, sparse), name, size_bytes, (OSError,))

    def _check_end(self, offset: int, report: Report) -> None:
        """After the last member comes a block of zeros; anything else is a corrupt header."""
        block = os.pread(self._descriptor, _BLOCK_BYTES, offset)
        if any(block):
            raise ArchiveDamagedError(
                Sentence(
                    "formats.header_missing",
                    "{name} is damaged at byte {offset}: there is no header of a member.",
                    name=self._name,
                    offset=offset,
                )
            )
        if len(block) < _BLOCK_BYTES:
            report.skip(self._name, "the archive has no end mark, so it may be cut off")


def _padded(size_bytes: int) -> int:
    return -(-size_bytes // _BLOCK_BYTES) * _BLOCK_BYTES


def _read_at(descriptor: int, offset: int, count: int) -> bytes:
    return os.pread(descriptor, count, offset)


class _Piece:
    """Bytes of a file from one offset on; many may read one descriptor at once."""

    def __init__(self, descriptor: int, offset: int, size_bytes: int) -> None:
        self._descriptor = descriptor
        self._position = offset
        self._end = offset + size_bytes

    def read(self, count: int) -> bytes:
        data = os.pread(self._descriptor, min(count, self._end - self._position), self._position)
        self._position += len(data)
        return data

    def close(self) -> None:
        """Leave the descriptor open: it is the tree's."""
