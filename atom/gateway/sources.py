"""Where bytes come from: a warm pack on this machine, else a range of the stored object."""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path

from blake3 import blake3

from atom.core.storage import ObjectMissing, ObjectStorage
from atom.gateway.errors import MediaDamaged, MediaMissing
from atom.gateway.links import MediaLink

CHUNK_BYTES = 4 << 20
_PACK_KEY = re.compile(r"p/([0-9a-f-]{36})/packs/([0-9a-f]{64})\.tar")


class MediaSource:
    """Reads parts of objects. Blocking; the caller runs it in a thread."""

    def __init__(self, storage: ObjectStorage, cache_dir: Path) -> None:
        """`cache_dir` holds `<project id>/packs/<digest>.tar`, verified when they were filled."""
        self._storage = storage
        self._cache_dir = cache_dir

    def read(self, key: str, start: int, end: int) -> bytes:
        """Return bytes `start` (inclusive) to `end` (exclusive). Raises MediaMissing."""
        path = self._local_path(key)
        if path is not None:
            try:
                return _read_file(path, start, end)
            except OSError:
                pass  # Evicted, or never warm: the store has it.
        try:
            return self._storage.get_range(key, start, end)
        except ObjectMissing as exc:
            raise MediaMissing from exc

    def chunks(self, key: str, start: int, end: int) -> Iterator[bytes]:
        """Yield the bytes in pieces of at most CHUNK_BYTES."""
        for position in range(start, end, CHUNK_BYTES):
            yield self.read(key, position, min(position + CHUNK_BYTES, end))

    def whole(self, link: MediaLink) -> bytes:
        """Return all bytes of a link, checked against its digest if it lies in a pack.

        Raises MediaMissing or MediaDamaged.
        """
        data = self.read(link.key, link.offset, link.offset + link.size_bytes)
        if _PACK_KEY.fullmatch(link.key) and not blake3(data).hexdigest().startswith(link.digest):
            raise MediaDamaged(f"{link.key} at byte {link.offset} is damaged.")
        return data

    def _local_path(self, key: str) -> Path | None:
        match = _PACK_KEY.fullmatch(key)
        if match is None:
            return None
        project_id, digest = match.groups()
        return self._cache_dir / project_id / "packs" / f"{digest}.tar"


def _read_file(path: Path, start: int, end: int) -> bytes:
    descriptor = os.open(path, os.O_RDONLY | os.O_CLOEXEC)
    try:
        data = os.pread(descriptor, end - start, start)
    finally:
        os.close(descriptor)
    if len(data) != end - start:
        raise OSError(f"{path} is shorter than its pack")
    return data
