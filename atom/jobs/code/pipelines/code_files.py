"""The files of a code snapshot, read without trust in the headers of its archive."""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from typing import IO

from atom.core import storage
from atom.jobs.code.engines.code_diff import CodeFile

_MAX_FILES = 20_000
_MAX_UNPACKED_BYTES = 256 << 20
_TEXT_BYTES = 256 << 10
_ALL_TEXT_BYTES = 32 << 20


class UnreadableError(ValueError):
    """The archive is broken, or holds more than is looked at."""


class _Bounded(io.RawIOBase):
    """A gzip stream that ends with an error once it has unpacked too much."""

    def __init__(self, data: bytes) -> None:
        self._unpacked = gzip.GzipFile(fileobj=io.BytesIO(data))
        self._left = _MAX_UNPACKED_BYTES

    def read(self, size: int = -1, /) -> bytes:
        found = self._unpacked.read(min(size, 1 << 20) if size >= 0 else 1 << 20)
        self._left -= len(found)
        if self._left < 0:
            raise UnreadableError("The code unpacks to more than is looked at.")
        return found


def read_files(key: str) -> dict[str, CodeFile]:
    """Return the plain files of a snapshot by path. Raises UnreadableError, ObjectMissing."""
    found: dict[str, CodeFile] = {}
    kept = 0
    try:
        with tarfile.open(fileobj=_Bounded(storage.objects().get(key)), mode="r|") as archive:
            for member in archive:
                stream = archive.extractfile(member) if member.isreg() else None
                if stream is None:
                    continue
                if len(found) >= _MAX_FILES:
                    raise UnreadableError("The code has more files than are looked at.")
                wants_text = member.size <= _TEXT_BYTES and kept + member.size <= _ALL_TEXT_BYTES
                file = _read(stream, wants_text=wants_text)
                kept += member.size if file.text is not None else 0
                found[member.name] = file
    except (tarfile.TarError, EOFError, OSError, zlib.error) as error:
        raise UnreadableError(str(error)) from error
    return found


def _read(stream: IO[bytes], *, wants_text: bool) -> CodeFile:
    digest, size, parts = hashlib.sha256(), 0, []
    while chunk := stream.read(1 << 16):
        digest.update(chunk)
        size += len(chunk)
        if wants_text:
            parts.append(chunk)
    data = b"".join(parts)
    text = data.decode(errors="replace") if wants_text and b"\0" not in data else None
    return CodeFile(digest.hexdigest(), size, text)
