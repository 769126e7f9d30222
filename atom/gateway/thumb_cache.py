"""Thumbnails on disk, bounded in bytes; the least recently used go first."""

from __future__ import annotations

import contextlib
import os
import secrets
import threading
from pathlib import Path

# After a sweep this share of the limit is left, so that sweeps are rare.
_LOW_WATERMARK = 0.8


class ThumbCache:
    """Maps a hex key to a media type and bytes. Threads and processes may share it."""

    def __init__(self, folder: Path, limit_bytes: int) -> None:
        """Nothing is read or created before the first use."""
        self._folder = folder
        self._limit_bytes = limit_bytes
        self._lock = threading.Lock()
        self._used_bytes: int | None = None

    def get(self, key: str) -> tuple[bytes, str] | None:
        """Return bytes and media type, or None."""
        path = self._path(key)
        try:
            media_type, _, data = path.read_bytes().partition(b"\n")
            os.utime(path)
        except OSError:
            return None
        return data, media_type.decode()

    def put(self, key: str, data: bytes, media_type: str) -> None:
        """Store a thumbnail; a disk that is full only means that nothing is kept."""
        path = self._path(key)
        temporary = path.with_name(f".{secrets.token_hex(8)}")
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
            temporary.write_bytes(media_type.encode() + b"\n" + data)
            temporary.replace(path)
        except OSError:
            temporary.unlink(missing_ok=True)
            return
        self._account(len(data))

    def _path(self, key: str) -> Path:
        return self._folder / key[:2] / key

    def _account(self, added_bytes: int) -> None:
        with self._lock:
            if self._used_bytes is None:
                self._used_bytes = sum(size for _, size, _ in self._files())
            else:
                self._used_bytes += added_bytes
            if self._used_bytes > self._limit_bytes:
                self._sweep()

    def _sweep(self) -> None:
        files = sorted(self._files())
        used = sum(size for _, size, _ in files)
        for _, size, path in files:
            if used <= self._limit_bytes * _LOW_WATERMARK:
                break
            path.unlink(missing_ok=True)
            used -= size
        self._used_bytes = used

    def _files(self) -> list[tuple[float, int, Path]]:
        found = []
        for path in self._folder.glob("??/*"):
            with contextlib.suppress(OSError):
                status = path.stat()
                found.append((status.st_mtime, status.st_size, path))
        return found
