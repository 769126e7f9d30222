"""Where bytes come from: a warm pack on this machine, else a range of the stored object."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from blake3 import blake3

from atom.core.errors import AtomError
from atom.core.storage import ObjectMissing, ObjectStorage
from atom.datasets.errors import PackQuarantined
from atom.datasets.keys import quarantine_key
from atom.gateway.errors import MediaDamaged, MediaMissing
from atom.gateway.external_objects import RegisteredObjects
from atom.gateway.links import MediaLink
from atom_sdk.manifests.pins import Pin
from atom_sdk.sentences import Sentence

CHUNK_BYTES = 4 << 20
_PACK_KEY = re.compile(r"p/([0-9a-f-]{36})/packs/([0-9a-f]{64})\.tar")


class MediaSource:
    """Reads parts of objects. Blocking; the caller runs it in a thread."""

    def __init__(self, storage: ObjectStorage, cache_dir: Path) -> None:
        """`cache_dir` holds `<project id>/packs/<digest>.tar`, verified when they were filled."""
        self._storage = storage
        self._cache_dir = cache_dir
        self._registered = RegisteredObjects()

    def read(self, key: str, start: int, end: int) -> bytes:
        """Return bytes `start` (inclusive) to `end` (exclusive).

        Raises MediaMissing or PackQuarantined.
        """
        path = self._local_path(key)
        if path is not None:
            try:
                return _read_file(path, start, end)
            except OSError:
                pass  # Evicted, or never warm: the store has it.
        try:
            return self._storage.get_range(key, start, end)
        except ObjectMissing as exc:
            raise self._missing(key) from exc

    def chunks(self, key: str, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes in pieces of at most CHUNK_BYTES."""
        for position in range(start, end, CHUNK_BYTES):
            yield self.read(key, position, min(position + CHUNK_BYTES, end))

    def pieces(self, link: MediaLink, start: int, end: int) -> Iterator[bytes]:
        """Yield part of what a link shows, `start` and `end` counted from its beginning."""
        if link.pin is None:
            yield from self.chunks(link.key, link.offset + start, link.offset + end)
            return
        yield from self.registered(link.pin, start, end)

    def registered(self, pin: Pin, start: int, end: int) -> Iterator[bytes]:
        """Yield part of an object at a source, in pieces of at most CHUNK_BYTES.

        Raises SourceChanged and what else can go wrong at a source.
        """
        for position in range(start, end, CHUNK_BYTES):
            yield self._registered.read(pin, position, min(position + CHUNK_BYTES, end))

    def whole(self, link: MediaLink) -> bytes:
        """Return all bytes of a link, checked against its digest if it lies in a pack.

        Raises MediaMissing, PackQuarantined or MediaDamaged; SourceChanged and what else can go
        wrong at a source.
        """
        if link.pin is not None:
            return self._registered.read(link.pin, 0, link.size_bytes)
        data = self.read(link.key, link.offset, link.offset + link.size_bytes)
        if _PACK_KEY.fullmatch(link.key) and not blake3(data).hexdigest().startswith(link.digest):
            pack = _pack_of(link.key)
            raise MediaDamaged(
                Sentence(
                    "gateway.pack_damaged_at",
                    "The pack {pack} is damaged at byte {offset}.",
                    pack=pack,
                    offset=link.offset,
                ),
                pack=pack,
            )
        return data

    def _missing(self, key: str) -> AtomError:
        """Return the error for a missing pack: it is absent, or it is quarantined as corrupt."""
        match = _PACK_KEY.fullmatch(key)
        if match is None:
            return MediaMissing()
        project_id, digest = match.groups()
        if self._storage.exists(f"p/{project_id}/{quarantine_key(digest)}"):
            return PackQuarantined(
                Sentence(
                    "gateway.pack_quarantined",
                    "The pack {pack} is damaged and quarantined.",
                    pack=digest,
                ),
                pack=digest,
            )
        return MediaMissing(
            Sentence("gateway.pack_missing", "The pack {pack} is not in the store.", pack=digest),
            pack=digest,
        )

    def _local_path(self, key: str) -> Path | None:
        match = _PACK_KEY.fullmatch(key)
        if match is None:
            return None
        project_id, digest = match.groups()
        return self._cache_dir / project_id / "packs" / f"{digest}.tar"


def _pack_of(key: str) -> str:
    match = _PACK_KEY.fullmatch(key)
    return match.group(2) if match else ""


def _read_file(path: Path, start: int, end: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.pread(descriptor, end - start, start)
    finally:
        os.close(descriptor)
    if len(data) != end - start:
        raise OSError(f"{path} is shorter than its pack")
    return data
