"""Streams the files of a model as one zip archive, without holding any of them."""

from __future__ import annotations

import zipfile
from collections.abc import AsyncIterator, Iterable, Iterator
from dataclasses import dataclass

from atom.core.storage import objects
from atom.core.streaming import streamed

# A fixed time makes the archive of one version the same bytes every time.
_DATE = (1980, 1, 1, 0, 0, 0)


@dataclass(frozen=True)
class StoredFile:
    """A file by its path in the archive and its key in the object store."""

    path: str
    key: str
    size_bytes: int


class _Pipe:
    """Collects what the archive writer wrote since it was last taken; it cannot seek."""

    def __init__(self) -> None:
        self._parts: list[bytes] = []

    def write(self, data: bytes) -> int:
        """Keep the bytes."""
        self._parts.append(bytes(data))
        return len(data)

    def flush(self) -> None:
        """Nothing to do."""

    def take(self) -> bytes:
        """Return what was kept."""
        taken, self._parts = b"".join(self._parts), []
        return taken


def zip_chunks(files: Iterable[StoredFile]) -> Iterator[bytes]:
    """Yield the archive, stored without compression: weights do not compress."""
    pipe = _Pipe()
    with zipfile.ZipFile(pipe, "w", zipfile.ZIP_STORED) as archive:  # type: ignore[call-overload]
        for file in files:
            info = zipfile.ZipInfo(file.path, _DATE)
            info.file_size = file.size_bytes
            with archive.open(info, "w", force_zip64=True) as member:
                for chunk in objects().views(file.key):
                    member.write(chunk)
                    yield pipe.take()
    yield pipe.take()


def zip_stream(files: Iterable[StoredFile]) -> AsyncIterator[bytes]:
    """Yield the archive without blocking the web process's event loop."""
    return streamed(zip_chunks(files))
