"""What a folder holds, and which of it a dataset version has already.

Digests are remembered by path, size and modification time, so a second push of a large folder
reads only what was touched.
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import pyarrow as pa

from atom_sdk.client.contents import Contents
from atom_sdk.client.progress import Progress
from atom_sdk.disk import whole_file
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


class Known(NamedTuple):
    """Where a content is stored: pack digest (32 bytes), byte offset in it, size in bytes."""

    pack: bytes
    offset: int
    size: int


@dataclass
class Parent:
    """The entries of the version that a push starts from.

    `damaged` are the paths whose bytes lie in a quarantined pack: they are sent again. `splits`
    are those that its split layer names, `attributes` the JSON of the files that have some.
    """

    digests: dict[str, bytes] = field(default_factory=dict)
    stored: dict[bytes, Known] = field(default_factory=dict)
    damaged: set[str] = field(default_factory=set)
    attributes: dict[str, str] = field(default_factory=dict)
    splits: dict[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Scan:
    """A folder compared with a version. `digests` are known for unchanged and known content."""

    new: Sequence[SourceFile]
    reused: list[tuple[SourceFile, bytes]]
    removed: list[str]
    unchanged: int


class DigestCache:
    """Digests of the same files from the last push."""

    def __init__(self, cache_dir: Path, contents: Contents) -> None:
        name = hashlib.sha256(contents.key).hexdigest()[:32]
        self._contents = contents
        self._path = cache_dir / "push" / f"{name}.arrow"
        self._rows = self._load()

    def get(self, file: SourceFile) -> bytes | None:
        """Return the digest if size and modification time are what they were."""
        row = self._rows.get(file.path)
        return row[2] if row and row[:2] == (file.size, file.mtime_ns) else None

    def read(self, file: SourceFile) -> bytes:
        """Return the digest, of the file's bytes where it is not known."""
        return self.get(file) or self._contents.digest(file)

    def digests(self, files: Sequence[SourceFile]) -> dict[str, bytes]:
        """Return the digest of each file by path, and keep them for the next question."""
        with ThreadPoolExecutor(_THREADS, "atom-hash") as pool:
            for file, digest in zip(files, pool.map(self.read, files), strict=True):
                self._rows[file.path] = (file.size, file.mtime_ns, digest)
        return {file.path: self._rows[file.path][2] for file in files}

    def save(
        self,
        files: Iterable[SourceFile],
        known: Mapping[str, bytes],
        packed: Iterable[tuple[str, bytes]],
        now_ns: int,
    ) -> None:
        """Remember the digests, but not those of files that may still be written to.

        `files` and `packed` come in path order; a file that is in both has its digest from there.
        """
        found = (
            (file.path, file.size, file.mtime_ns, digest)
            for file, digest in _with_digests(files, known, packed)
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

    def _load(self) -> dict[str, tuple[int, int, bytes]]:
        try:
            with pa.memory_map(str(self._path)) as source:
                table = pa.ipc.open_file(source).read_all()
                columns = [table[name].to_pylist() for name in table.column_names]
        except (OSError, pa.ArrowInvalid):
            return {}
        return {
            path: (size, mtime, digest) for path, size, mtime, digest in zip(*columns, strict=True)
        }


def _with_digests(
    files: Iterable[SourceFile], known: Mapping[str, bytes], packed: Iterable[tuple[str, bytes]]
) -> Iterator[tuple[SourceFile, bytes]]:
    stream = iter(packed)
    path, digest = next(stream, _END)
    for file in files:
        while path is not None and path < file.path:
            path, digest = next(stream, _END)
        found = digest if path == file.path else known.get(file.path)
        if found is not None:
            yield file, found


def compare(
    files: Sequence[SourceFile], parent: Parent, cache: DigestCache, progress: Progress
) -> Scan:
    """Sort the files into new, reused (content known elsewhere) and unchanged ones."""
    progress.start("hash", len(files), "files")
    if not parent.digests:
        # Nothing to compare with: packing will hash every file anyway.
        progress.advance("hash", len(files))
        return Scan(files, [], [], 0)
    new: list[SourceFile] = []
    reused: list[tuple[SourceFile, bytes]] = []
    unchanged = 0
    for file, digest in _digests(files, cache):
        progress.advance("hash", 1)
        if digest not in parent.stored:
            new.append(file)
        elif parent.digests.get(file.path) == digest and file.path not in parent.damaged:
            unchanged += 1
        else:
            reused.append((file, digest))
    present = {file.path for file in files}
    removed = [path for path in parent.digests if path not in present]
    return Scan(new, reused, sorted(removed, key=str.encode), unchanged)


def _digests(files: Iterable[SourceFile], cache: DigestCache) -> Iterator[tuple[SourceFile, bytes]]:
    stream = iter(files)
    with ThreadPoolExecutor(_THREADS, "atom-hash") as pool:
        # Not all at once: what is asked of a pool is kept until it is done.
        while some := list(islice(stream, _FILES_AT_ONCE)):
            yield from zip(some, pool.map(cache.read, some), strict=True)
