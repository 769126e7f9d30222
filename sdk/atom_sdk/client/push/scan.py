"""Compares a folder with a dataset version, to find the files that the version lacks.

Digests are remembered by path, size and modification time, so a second push of a large folder
reads only what was touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Collection, Iterable, Iterator, Mapping
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from heapq import merge
from itertools import islice
from pathlib import Path
from typing import TypeAlias

import pyarrow as pa

from atom_sdk.client.progress import Progress
from atom_sdk.client.push.contents import Contents
from atom_sdk.client.push.stored_contents import Known
from atom_sdk.client.push.subsets import Subset, WithDigests
from atom_sdk.disk import whole_file
from atom_sdk.manifests.rows.path_map import PathMap
from atom_sdk.packs.plan import SourceFile

_THREADS = 4
# A file changed within this time of the last look may change again without a new mtime.
_RACY_NS = 2_000_000_000
_FILES_AT_ONCE = 4096
_ROWS_AT_ONCE = 1 << 16
_CACHE_SCHEMA = pa.schema(
    [
        ("path", pa.string()),
        ("size", pa.int64()),
        ("mtime_ns", pa.int64()),
        ("digest", pa.binary(32)),
    ]
)
_END: tuple[str | None, bytes] = (None, b"")
_INVERTED = bytes([1, 0]) + bytes(254)
# Size in bytes, modification time in ns, digest.
_Row: TypeAlias = tuple[int, int, bytes]


@dataclass(frozen=True)
class Parent:
    """The entries of the version that a push starts from, by path in path order.

    `damaged` are the paths whose bytes lie in a quarantined pack: they are sent again. `splits` are
    those that its split layer names, `attributes` the JSON of the files that have some. `links` are
    the paths of its links, whose digests are among the others.
    """

    digests: Mapping[str, bytes] = field(default_factory=dict)
    stored: Mapping[bytes, Known] = field(default_factory=dict)
    damaged: Collection[str] = frozenset()
    attributes: Mapping[str, str] = field(default_factory=dict)
    splits: Mapping[str, str] = field(default_factory=dict)
    links: Collection[str] = frozenset()


@dataclass(frozen=True)
class Scan:
    """A folder compared with a version. `known` has the digests of the files that are not new.

    `links` are the targets of the links that the version lacks, by path.
    """

    new: Collection[SourceFile]
    reused: Collection[tuple[SourceFile, bytes]]
    removed: Collection[str]
    unchanged: int
    known: Collection[tuple[SourceFile, bytes]] = ()
    links: Mapping[str, str] = field(default_factory=dict)


class DigestCache:
    """Digests of the same files from the last push."""

    def __init__(self, cache_dir: Path, contents: Contents) -> None:
        name = hashlib.sha256(contents.key).hexdigest()[:32]
        self._contents = contents
        self._path = cache_dir / "push" / f"{name}.arrow"
        self._rows = self._load()
        # Digests that were computed since.
        self._read: dict[str, _Row] = {}

    def get(self, file: SourceFile) -> bytes | None:
        """Return the digest if size and modification time are what they were."""
        row = self._read.get(file.path) or self._rows.get(file.path)
        return row[2] if row and row[:2] == (file.size, file.mtime_ns) else None

    def each(self, files: Iterable[SourceFile]) -> Iterator[tuple[SourceFile, bytes]]:
        """Yield files with their digests, of their bytes where they are not remembered."""
        stream = iter(files)
        with ThreadPoolExecutor(_THREADS, "atom-hash") as pool:
            # Not all at once: what is asked of a pool is kept until it is done.
            while some := list(islice(stream, _FILES_AT_ONCE)):
                found = [self.get(file) for file in some]
                unknown = [f for f, digest in zip(some, found, strict=True) if digest is None]
                read = pool.map(self._contents.digest, unknown)
                for file, digest in zip(some, found, strict=True):
                    yield file, next(read) if digest is None else digest

    def digests(self, files: Iterable[SourceFile]) -> dict[str, bytes]:
        """Return the digest of each file by path, and keep them for the next question."""
        for file, digest in self.each(files):
            self._read[file.path] = (file.size, file.mtime_ns, digest)
        return {path: row[2] for path, row in self._read.items()}

    def save(
        self,
        files: Iterable[SourceFile],
        known: Iterable[tuple[str, bytes]],
        packed: Iterable[tuple[str, bytes]],
        now_ns: int,
    ) -> None:
        """Remember the digests, but not those of files that may still be written to.

        All come in path order. A file has its digest from `packed`, else from `known`, else the one
        that is remembered.
        """
        found = (
            (file.path, file.size, file.mtime_ns, digest)
            for file, digest in self._with_digests(files, known, packed)
            if file.mtime_ns < now_ns - _RACY_NS
        )
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with (
            whole_file(self._path) as temporary,
            pa.OSFile(str(temporary), "wb") as sink,
            pa.ipc.new_file(sink, _CACHE_SCHEMA) as out,
        ):
            while rows := list(islice(found, _ROWS_AT_ONCE)):
                columns = zip(*rows, strict=True)
                arrays = [pa.array(c, t) for c, t in zip(columns, _CACHE_SCHEMA.types, strict=True)]
                out.write_batch(pa.RecordBatch.from_arrays(arrays, schema=_CACHE_SCHEMA))

    def _load(self) -> Mapping[str, _Row]:
        try:
            return PathMap(self._path)
        except (OSError, pa.ArrowInvalid):
            return {}

    def _with_digests(
        self,
        files: Iterable[SourceFile],
        known: Iterable[tuple[str, bytes]],
        packed: Iterable[tuple[str, bytes]],
    ) -> Iterator[tuple[SourceFile, bytes]]:
        pack, other = _Ahead(packed), _Ahead(known)
        for file in files:
            sent, unsent = pack.at(file.path), other.at(file.path)
            digest = sent or unsent or self.get(file)
            if digest is not None:
                yield file, digest


class _Ahead:
    """Digests that are asked for in the order in which they come."""

    def __init__(self, digests: Iterable[tuple[str, bytes]]) -> None:
        self._stream = iter(digests)
        self._path, self._digest = next(self._stream, _END)

    def at(self, path: str) -> bytes | None:
        while self._path is not None and self._path < path:
            self._path, self._digest = next(self._stream, _END)
        return self._digest if self._path == path else None


def compare(
    files: Collection[SourceFile],
    parent: Parent,
    cache: DigestCache,
    progress: Progress,
    scratch: Path,
    links: Iterable[str] = (),
) -> Scan:
    """Sort the files, in path order, into new, reused (content known elsewhere) and unchanged ones.

    `links`, in path order too, are the paths that are links now: they are not removed. The scan
    lies in the folder `scratch`, as long as it is used.
    """
    progress.start("hash", len(files), "files")
    if not parent.digests:
        # Nothing to compare with: packing will hash every file anyway.
        progress.advance("hash", len(files))
        return Scan(files, [], [], 0)
    is_known, is_reused = bytearray(), bytearray()
    digests = scratch / "digests"
    with digests.open("wb") as out:
        for file, digest in cache.each(files):
            progress.advance("hash", 1)
            is_known.append(digest in parent.stored)
            if is_known[-1]:
                stays = parent.digests.get(file.path) == digest and file.path not in parent.damaged
                is_reused.append(not stays)
                out.write(digest)
    known = WithDigests(Subset(files, is_known), digests)
    return Scan(
        Subset(files, is_known.translate(_INVERTED)),
        Subset(known, is_reused),
        Subset(parent.digests, bytes(_missing(parent.digests, files, links))),
        is_reused.count(0),
        known,
    )


def _missing(
    paths: Iterable[str], files: Iterable[SourceFile], links: Iterable[str]
) -> Iterator[bool]:
    """Yield for each of the sorted paths whether no file and no link has it."""
    present = merge((file.path for file in files), links)
    there = next(present, None)
    for path in paths:
        while there is not None and there < path:
            there = next(present, None)
        yield there != path
