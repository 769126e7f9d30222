"""Files that stay at their source, read through the server: in the pinned state or not at all."""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable, Sequence
from itertools import islice
from typing import TYPE_CHECKING

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.client.errors import NetworkError
from atom_sdk.client.http import Http, get_range
from atom_sdk.client.progress import Progress
from atom_sdk.forks import forget_in_children
from atom_sdk.manifests.entries import Entry
from atom_sdk.manifests.pins import Pin
from atom_sdk.packs.registered import RegisteredStore, batches
from atom_sdk.packs.room import Hold
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.ranges import PackRange

if TYPE_CHECKING:
    from atom_sdk.client.config import Config
    from atom_sdk.client.ranges import PackRanges
    from atom_sdk.readers import ViewIndex

_ASKED_AT_ONCE = 500


class SourceFiles:
    """Addresses of files of one version that lie in no pack. Thread-safe."""

    def __init__(self, http: Http, version_base: str) -> None:
        self._http, self._base = http, version_base
        self._urls: dict[bytes, str] = {}

    def ask(self, paths: dict[bytes, str]) -> None:
        """Ask for the addresses of files, named by their pins. Raises ApiError, NetworkError."""
        rest = iter([pin for pin in paths if pin not in self._urls])
        while some := list(islice(rest, _ASKED_AT_ONCE)):
            body = {"paths": [paths[pin] for pin in some]}
            urls = self._http.post(f"{self._base}source-urls/", body)["urls"]
            self._urls.update((pin, urls[paths[pin]]) for pin in some)

    def read(self, pin: bytes, start: int, end: int) -> bytes:
        """Return bytes of a file that was asked for.

        Raises ApiError, which names the object when it is not what was pinned; NetworkError.
        """
        if end <= start:
            return b""
        data = get_range(self._http, f"{self._http.config.url}{self._urls[pin]}", start, end)
        if len(data) != end - start:
            raise NetworkError("The server cut off a file that stays at its source.")
        return data


def bring(
    files: SourceFiles, store: PackStore, tables: Iterable[pa.Table], hold: Hold, progress: Progress
) -> RegisteredStore:
    """Pack what is missing here of entries at sources, as nodes do; the packs are held.

    Raises what `SourceFiles.read` raises; what was packed by then stays.
    """
    registered = RegisteredStore(store)
    missing: list[Entry] = []
    for table in tables:
        hold.add(registered.packs_of(table))
        missing += registered.missing(table)
    if missing:
        progress.start("source", sum(entry.size for entry in missing), "bytes")
    for batch in batches(missing):
        files.ask({entry.digest: entry.path for entry in batch if entry.digest is not None})
        pack = registered.fill(batch, _by_pin(files), lambda size: progress.advance("source", size))
        hold.add([pack])
    return registered


def _by_pin(files: SourceFiles) -> Callable[[Pin, int, int], bytes]:
    return lambda pin, start, end: files.read(pin.digest, start, end)


def at_their_source(entries: pa.Table) -> pa.Table:
    """Say of entries at sources that their pack is their pin: `SourceRanges` reads these."""
    is_ours = entries["source"].is_valid()
    packs = pc.if_else(is_ours, entries["digest"], entries["pack"])
    offsets = pc.if_else(is_ours, 0, entries["offset"])
    for name, column in (("pack", packs), ("offset", offsets)):
        position = entries.schema.get_field_index(name)
        entries = entries.set_column(position, entries.schema.field(name), column)
    return entries


class SourceRanges:
    """Reads ranges of packs, and of files whose pack is their pin. Thread-safe, fork-safe."""

    def __init__(
        self, config: Config, version_base: str, packs: PackRanges, paths: dict[bytes, str]
    ) -> None:
        """`paths` of files at sources by their pins."""
        self._config, self._base, self._packs, self._paths = config, version_base, packs, paths
        self._lock = threading.Lock()
        self._http: Http | None = None
        self._files: SourceFiles | None = None
        forget_in_children(self)

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        """Return `length` bytes from `start`. Raises as `PackRanges` and `SourceFiles` do."""
        if pack not in self._paths:
            return self._packs.read(pack, start, length)
        with self._lock:
            if self._files is None:
                self._http = Http(self._config)
                self._files = SourceFiles(self._http, self._base)
            files = self._files
        files.ask({pack: self._paths[pack]})
        return PackRange(memoryview(files.read(pack, start, start + length)), start + length)

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


def pinned_paths(index: ViewIndex) -> dict[bytes, str]:
    """Return the paths of files whose pack is their pin, see `at_their_source`."""
    packs: Sequence[bytes] = index.packs
    return {
        digest: index.path_of(row)
        for row in range(len(index))
        if (digest := packs[int(index.pack_ids[row])]) == index.digest_of(row)
    }
