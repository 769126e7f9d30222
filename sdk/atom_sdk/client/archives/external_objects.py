"""Brings the files that stay at a source into an archive, so that it needs nobody else.

They are read through the server, each in the state that its version pinned, and packed in this
machine's cache: what was cut off goes on there.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow as pa

from atom_sdk.archive.errors import ArchiveSourceChangedError
from atom_sdk.archive.folder import ArchiveFolder
from atom_sdk.archive.follow import Followed
from atom_sdk.archive.history import History
from atom_sdk.archive.pack_external import HistoryRewriter, PinnedFiles, earlier_commits
from atom_sdk.client.config import cache_path
from atom_sdk.client.errors import ApiError
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.external_objects import SourceFiles
from atom_sdk.client.transport.http import Http
from atom_sdk.manifests.entries import Entry
from atom_sdk.manifests.pins import Pin
from atom_sdk.packs.cache_eviction import PackLease
from atom_sdk.packs.external_objects import RegisteredStore, batches
from atom_sdk.packs.store import PackStore

if TYPE_CHECKING:
    from atom_sdk.client.archives.save import Save

_CHANGED = frozenset({"source_changed", "source_removed", "source_missing"})
_PROBES = 8
_NAMED = 5


@dataclass(frozen=True)
class SourceChoice:
    """The choice for files that stay at a source: bring them in, or refuse the archive.

    With `leave_out_changed`, versions with files that nobody can read any more as they were pinned
    come without files; otherwise they are a reason to refuse as well.
    """

    with_sources: bool = False
    leave_out_changed: bool = False


WITHOUT_SOURCES = SourceChoice()


@dataclass(frozen=True)
class BroughtIn:
    """The amount that came from sources into the packs of an archive.

    `left_out` are versions without their files: `version`, `paths` (some), `files` (how many).
    """

    files: int
    bytes: int
    left_out: tuple[dict[str, Any], ...]


@dataclass(frozen=True)
class Contained:
    """A history all of whose files are in packs.

    `brought` are the packs that the server does not have; `local` says where they are on this
    machine, those that are. `written` are manifest objects that were, and their bytes.
    """

    history: History
    objects: Followed
    brought: frozenset[bytes]
    local: dict[bytes, Path]
    brought_in: BroughtIn
    written: tuple[int, int]


def contain(
    save: Save,
    base: str,
    archive: ArchiveFolder,
    history: History,
    prior: History | None,
    choice: SourceChoice,
) -> Contained:
    """Bring in what stays at a source and write the manifests of the result into the archive.

    `prior` is an earlier save whose manifests the archive has. Raises ArchiveSourceChangedError,
    ArchiveCorruptError, ApiError, NetworkError.
    """
    scratch = cache_path() / "load"
    scratch.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory(dir=scratch, prefix="save-") as folder:
        store = _Over(archive, ArchiveFolder(folder))
        save.fetch_manifests(base, store.below, history)
        earlier = earlier_commits(history, prior, store) if prior is not None else {}
        pinned = PinnedFiles(store, history.layouts)
        packing = _Packing(save.http, base, save.progress)
        new, old = (sorted(history.kept - earlier.keys()), sorted(history.kept & earlier.keys()))
        packing.bring((commit, table) for commit, table in pinned.tables(new))
        for _ in pinned.tables(old):
            pass
        left_out = {
            commit: paths
            for commit in new
            if packing.lost and (paths := pinned.among(commit, packing.lost))
        }
        lost_versions = _lost_versions(history, left_out)
        if left_out and not choice.leave_out_changed:
            raise ArchiveSourceChangedError(_sentence(lost_versions))
        rewriter = HistoryRewriter(store, packing.place, earlier)
        rewritten = rewriter.run(history, left_out)
        objects = Followed(store).follow(rewritten)
        store.settle(objects.keys)
    brought = frozenset(objects.packs - pinned.packs)
    return Contained(
        rewritten,
        objects,
        brought,
        packing.paths(brought),
        BroughtIn(rewriter.files, rewriter.size_bytes, tuple(lost_versions)),
        store.written,
    )


class _Over:
    """An archive over a folder that is removed afterwards: written above, read from both."""

    def __init__(self, above: ArchiveFolder, below: ArchiveFolder) -> None:
        self.above, self.below = above, below
        self.written = 0, 0

    def get(self, key: str) -> bytes:
        return (self.below if self.below.exists(key) else self.above).get(key)

    def put(self, key: str, data: bytes) -> None:
        if not self.above.is_right(key):
            self.above.put(key, data)
            self.written = self.written[0] + 1, self.written[1] + len(data)

    def exists(self, key: str) -> bool:
        return self.above.exists(key) or self.below.exists(key)

    def settle(self, keys: Iterable[str]) -> None:
        """Have these above."""
        for key in sorted(keys):
            if self.below.exists(key):
                self.put(key, self.below.get(key))


class _Packing:
    """Packs files of sources in this machine's cache; `lost` are pins that nobody can read."""

    def __init__(self, http: Http, base: str, progress: Progress) -> None:
        self._http, self._base, self._progress = http, base, progress
        self._store = PackStore(cache_path())
        self._lease = PackLease(self._store)
        self._registered = RegisteredStore(self._store)
        self._gone: set[str] = set()
        self.lost: set[bytes] = set()
        self.place: Callable[[pa.Table], pa.Table] = self._registered.place

    def bring(self, tables: Iterable[tuple[str, pa.Table]]) -> None:
        """Pack what is missing here. Raises ApiError and NetworkError, but for what is lost."""
        self._progress.start("source", 0, "bytes")
        files: dict[bytes, SourceFiles] = {}
        for batch in batches(self._missing(tables, files)):
            self._pack(batch, files)
            for entry in batch:
                files.pop(_pin(entry), None)

    def paths(self, packs: Iterable[bytes]) -> dict[bytes, Path]:
        """Return where packs are, those that are here."""
        return {pack: self._store.path(pack) for pack in sorted(packs) if self._store.has(pack)}

    def _missing(
        self, tables: Iterable[tuple[str, pa.Table]], files: dict[bytes, SourceFiles]
    ) -> Iterator[Entry]:
        of_commit: dict[str, SourceFiles] = {}
        for commit, table in tables:
            if commit not in of_commit:
                of_commit = {commit: SourceFiles(self._http, f"{self._base}versions/{commit}/")}
            self._lease.add(self._registered.packs_of(table))
            for entry in self._registered.missing(table):
                if _pin(entry) not in self.lost and _pin(entry) not in files:
                    files[_pin(entry)] = of_commit[commit]
                    yield entry

    def _pack(self, batch: Sequence[Entry], files: dict[bytes, SourceFiles]) -> None:
        def read(pin: Pin, start: int, end: int) -> bytes:
            return files[pin.digest].read(pin.digest, start, end)

        left = self._readable_entries(batch, files)
        while left:
            try:
                pack = self._registered.fill(left, read, self._count)
            except ApiError as error:
                if error.code not in _CHANGED:
                    raise
                before = len(self.lost)
                self._probe(left, read)
                if len(self.lost) == before:
                    raise
            else:
                self._lease.add([pack])
                return
            left = [entry for entry in left if _pin(entry) not in self.lost]

    def _readable_entries(
        self, batch: Sequence[Entry], files: dict[bytes, SourceFiles]
    ) -> list[Entry]:
        """Ask for the addresses of a batch; return its entries that may be read."""
        for source in {entry.source for entry in batch if entry.source is not None}:
            of_source = [entry for entry in batch if entry.source == source]
            if source not in self._gone:
                try:
                    _ask(of_source, files)
                except ApiError as error:
                    if error.code not in _CHANGED:
                        raise
                    self._gone.add(source)
            if source in self._gone:
                self.lost.update(map(_pin, of_source))
        return [entry for entry in batch if _pin(entry) not in self.lost]

    def _probe(self, entries: Sequence[Entry], read: Callable[[Pin, int, int], bytes]) -> None:
        """Find what changed by reading a byte of each."""

        def is_lost(entry: Entry) -> bool:
            pin = Pin(
                entry.source or "", entry.key or "", entry.size,
                entry.version_id, entry.etag, entry.mtime,
            )  # fmt: skip
            try:
                read(pin, 0, min(1, entry.size))
            except ApiError as error:
                if error.code not in _CHANGED:
                    raise
                return True
            return False

        with ThreadPoolExecutor(_PROBES, "source-probe") as pool:
            lost = pool.map(is_lost, entries)
            self.lost.update(_pin(entry) for entry, gone in zip(entries, lost, strict=True) if gone)

    def _count(self, size_bytes: int) -> None:
        self._progress.advance("source", size_bytes)


def _ask(entries: Iterable[Entry], files: dict[bytes, SourceFiles]) -> None:
    by_files: dict[int, tuple[SourceFiles, dict[bytes, str]]] = {}
    for entry in entries:
        of = files[_pin(entry)]
        by_files.setdefault(id(of), (of, {}))[1][_pin(entry)] = entry.path
    for of, paths in by_files.values():
        of.ask(paths)


def _pin(entry: Entry) -> bytes:
    assert entry.digest is not None, "an entry at a source has the digest of its pin"
    return entry.digest


def _lost_versions(history: History, left_out: dict[str, list[str]]) -> list[dict[str, Any]]:
    numbers = {move.new: f"v{move.number}" for move in history.moves if move.number is not None}
    ordered = [commit for commit in history.commits if commit in left_out]
    return [
        {
            "version": numbers.get(commit, commit[:12]),
            "files": len(left_out[commit]),
            "paths": left_out[commit][:_NAMED],
        }
        for commit in ordered
    ]


def _sentence(lost_versions: Iterable[dict[str, Any]]) -> str:
    lines = [
        f"{one['version']}: {', '.join(map(repr, one['paths']))}"
        + (f" and {more} more" if (more := one["files"] - len(one["paths"])) else "")
        for one in lost_versions
    ]
    return "Files cannot be read at their source as they were pinned. " + "; ".join(lines) + "."
