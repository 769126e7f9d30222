"""Files that stay at their source, read through the server: in the pinned state or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa

from atom_sdk.client.errors import ApiError, NetworkError
from atom_sdk.client.progress import Progress
from atom_sdk.client.transport.http import Http, get_range
from atom_sdk.forks import forget_in_children
from atom_sdk.manifests.entries import Entry
from atom_sdk.manifests.pins import Pin
from atom_sdk.packs.cache_eviction import PackLease
from atom_sdk.packs.external_objects import RegisteredStore, batches
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.ranges import PackRange

if TYPE_CHECKING:
    from atom_sdk.client.config import Config
    from atom_sdk.client.transport.ranges import PackRanges
    from atom_sdk.readers import ViewIndex

_ASKED_AT_ONCE = 500
_ASKED_AHEAD = 100


class SourceFiles:
    """Addresses of files of one version that lie in no pack. Thread-safe."""

    def __init__(self, http: Http, version_base: str) -> None:
        self._http, self._base = http, version_base
        self._urls: dict[bytes, str] = {}
        self._paths: dict[bytes, str] = {}

    def knows(self, pin: bytes) -> bool:
        """Whether it was asked for."""
        return pin in self._urls

    def ask(self, paths: dict[bytes, str]) -> None:
        """Ask for the addresses of files, named by their pins. Raises ApiError, NetworkError."""
        rest = iter([pin for pin in paths if pin not in self._urls])
        while some := list(islice(rest, _ASKED_AT_ONCE)):
            body = {"paths": [paths[pin] for pin in some]}
            urls = self._http.post(f"{self._base}source-urls/", body)["urls"]
            self._urls.update((pin, urls[paths[pin]]) for pin in some)
            self._paths.update((pin, paths[pin]) for pin in some)

    def read(self, pin: bytes, start: int, end: int) -> bytes:
        """Return bytes of a file that was asked for.

        Raises ApiError, which names the object when it is not what was pinned; NetworkError.
        """
        if end <= start:
            return b""
        try:
            data = self._get(pin, start, end)
        except ApiError as error:
            if error.code != "media_link_expired":
                raise
            # Good for a day; a run may take longer.
            del self._urls[pin]
            self.ask({pin: self._paths[pin]})
            data = self._get(pin, start, end)
        if len(data) != end - start:
            raise NetworkError("The server cut off a file that stays at its source.")
        return data

    def _get(self, pin: bytes, start: int, end: int) -> bytes:
        url, path = f"{self._http.config.url}{self._urls[pin]}", self._paths[pin]
        try:
            return get_range(self._http, url, start, end)
        except ApiError as error:
            if path in str(error):
                raise
            # A bucket that refuses says so of itself.
            raise ApiError(error.status, {**error.problem, "detail": f"{path}: {error}"}) from error


def bring(
    files: SourceFiles,
    store: PackStore,
    tables: Iterable[pa.Table],
    lease: PackLease,
    progress: Progress,
) -> RegisteredStore:
    """Pack what is missing here of entries at sources, as nodes do; the packs are held.

    Raises what `SourceFiles.read` raises; what was packed by then stays.
    """
    registered = RegisteredStore(store)
    missing: list[Entry] = []
    for table in tables:
        lease.add(registered.packs_of(table))
        missing += registered.missing(table)
    if missing:
        progress.start("source", sum(entry.size for entry in missing), "bytes")
    for batch in batches(missing):
        files.ask({entry.digest: entry.path for entry in batch if entry.digest is not None})
        pack = registered.fill(batch, _by_pin(files), lambda size: progress.advance("source", size))
        lease.add([pack])
    return registered


def _by_pin(files: SourceFiles) -> Callable[[Pin, int, int], bytes]:
    return lambda pin, start, end: files.read(pin.digest, start, end)


@dataclass(frozen=True, slots=True)
class PinnedFile:
    """A file that stays at its source."""

    path: str
    size_bytes: int


class SourceRanges:
    """Reads ranges of packs, and of files whose pack is their pin.

    Thread-safe, fork-safe, can be pickled.
    """

    def __init__(
        self,
        config: Config,
        version_base: str,
        packs: PackRanges,
        pinned: Mapping[bytes, PinnedFile],
    ) -> None:
        """`pinned` are the files at sources by their pins, in the order of their need."""
        self._config, self._base, self._packs, self._pinned = config, version_base, packs, pinned
        self._order = list(pinned)
        self._place = {pin: number for number, pin in enumerate(self._order)}
        self._lock = threading.Lock()
        self._http: Http | None = None
        self._files: SourceFiles | None = None
        forget_in_children(self)

    @property
    def version_base(self) -> str:
        """The address of the version, by its number: it is the same when its branch moves."""
        return self._base

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        """Return `length` bytes from `start`, fewer at the end.

        Raises as `PackRanges` and `SourceFiles` do.
        """
        if pack not in self._pinned:
            return self._packs.read(pack, start, length)
        files, size_bytes = self._files_with_address(pack), self._pinned[pack].size_bytes
        data = files.read(pack, start, min(start + length, size_bytes))
        return PackRange(memoryview(data), size_bytes)

    def doubt(self, pack: bytes) -> None:
        """Read a pack elsewhere from now on; a file at its source is nowhere else."""
        if pack not in self._pinned:
            self._packs.doubt(pack)

    def _files_with_address(self, pin: bytes) -> SourceFiles:
        """Ask for the address of a file, and of those after it."""
        with self._lock:
            if self._files is None:
                self._http = Http(self._config)
                self._files = SourceFiles(self._http, self._base)
            if not self._files.knows(pin):
                place = self._place[pin]
                ahead = self._order[place : place + _ASKED_AHEAD]
                self._files.ask({other: self._pinned[other].path for other in ahead})
            return self._files

    def forget(self) -> None:
        """Use connections of this process."""
        self._http, self._files, self._lock = None, None, threading.Lock()

    def close(self) -> None:
        """Close the connections; reading opens new ones."""
        self._packs.close()
        with self._lock:
            if self._http is not None:
                self._http.close()
            self._http = self._files = None

    def __del__(self) -> None:
        """Close the connections; there are none if the constructor failed."""
        with suppress(AttributeError):
            self.close()

    def __reduce__(self) -> tuple[type[SourceRanges], tuple[object, ...]]:
        """Pickle what to read, not the connections."""
        return SourceRanges, (self._config, self._base, self._packs, self._pinned)


def source_ranges(
    config: Config, version_base: str, index: ViewIndex, *, has_replicas: bool = False
) -> SourceRanges:
    """Return what reads the packs of a view, and its files at sources, where they are.

    `has_replicas`: see `PackUrls`.
    """
    from atom_sdk.client.transport.pack_urls import PackUrls
    from atom_sdk.client.transport.ranges import PackRanges

    pinned = {
        index.digest_of(row): PinnedFile(index.path_of(row), int(index.sizes[row]))
        for row in index.rows_at_source().tolist()
    }
    own_packs = [pack for pack in index.packs if pack not in pinned]
    packs = PackUrls(config, version_base, own_packs, has_replicas=has_replicas)
    return SourceRanges(config, version_base, PackRanges(packs), pinned)
