"""Layers of images as files: the same content has the same digest.

Owners, times and the compression's header are fixed, and only files, folders and links are taken.
"""

from __future__ import annotations

import gzip
import hashlib
import io
import tarfile
import zlib
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path, PurePosixPath
from typing import IO, cast

from atom.jobs.registries.engines.manifests import Blob, Layer
from atom_sdk.runner.archive import ENVIRONMENT, Rules

# zip has no earlier date: programs that pack their own modules would refuse it.
_TIME_S = 315_532_800
# zlib's level 1 is several times as fast as 6, and hardly larger for libraries.
_FAST = 1


class LayerError(Exception):
    """An archive that no layer can be made of; the message is a sentence for people."""


@dataclass(frozen=True, slots=True)
class LayerFile:
    """A layer, and the file of its compressed bytes."""

    layer: Layer
    path: Path

    def chunks(self) -> Iterator[bytes]:
        """Yield the compressed bytes."""
        with self.path.open("rb") as file:
            while chunk := file.read(1 << 20):
                yield chunk


class Source(io.RawIOBase):
    """Reads chunks as a file, and hashes all of them."""

    def __init__(self, chunks: Iterable[bytes | memoryview]) -> None:
        """Read from these chunks."""
        self._chunks, self._rest = iter(chunks), memoryview(b"")
        self._sha256, self.size_bytes = hashlib.sha256(), 0

    def readable(self) -> bool:
        """Return True."""
        return True

    def readinto(self, buffer: object) -> int:
        """Fill a part of the buffer; return its size, 0 at the end."""
        target = memoryview(cast("bytearray", buffer))
        while not self._rest:
            chunk = next(self._chunks, None)
            if chunk is None:
                return 0
            self._sha256.update(chunk)
            self.size_bytes += len(chunk)
            self._rest = memoryview(bytes(chunk))
        size = min(len(target), len(self._rest))
        target[:size] = self._rest[:size]
        self._rest = self._rest[size:]
        return size

    def digest(self) -> str:
        """Read to the end; return the SHA-256 (hex) of all chunks."""
        buffer = bytearray(1 << 20)
        while self.readinto(buffer):
            pass
        return self._sha256.hexdigest()


class _Hashed:
    """A file for writing that hashes what goes through."""

    def __init__(self, file: IO[bytes]) -> None:
        self._file, self._sha256, self.size_bytes = file, hashlib.sha256(), 0

    def write(self, data: bytes) -> int:
        self._sha256.update(data)
        self.size_bytes += len(data)
        return self._file.write(data)

    def flush(self) -> None:
        self._file.flush()

    @property
    def digest(self) -> str:
        return f"sha256:{self._sha256.hexdigest()}"


def write_layer(
    path: Path,
    archive: IO[bytes],
    folder: str,
    programs: Mapping[str, bytes],
    rules: Rules = ENVIRONMENT,
) -> LayerFile:
    """Write a layer of a compressed tar's members below a folder, and of programs by their names.

    Raises LayerError.
    """
    with path.open("wb") as raw:
        writer = _Writer(raw)
        try:
            writer.add_archive(archive, folder, rules)
            for name, content in sorted(programs.items()):
                writer.add_program(name, content)
        finally:
            writer.close()
    return LayerFile(writer.layer, path)


class _Writer:
    """Writes one layer to a file."""

    def __init__(self, raw: IO[bytes]) -> None:
        self._folders, self._links = set[str](), set[str]()
        self._packed = _Hashed(raw)
        self._gzip = gzip.GzipFile("", "wb", _FAST, cast("IO[bytes]", self._packed), mtime=0)
        self._tarred = _Hashed(cast("IO[bytes]", self._gzip))
        self._tar = tarfile.TarFile.open(fileobj=cast("IO[bytes]", self._tarred), mode="w|")

    def add_program(self, name: str, content: bytes) -> None:
        info = tarfile.TarInfo(name)
        info.size, info.mode = len(content), 0o755
        self._add(info, io.BytesIO(content))

    def add_archive(self, archive: IO[bytes], folder: str, rules: Rules) -> None:
        count = total_bytes = 0
        try:
            with tarfile.open(fileobj=archive, mode="r|gz") as tar:
                self._add_folders(f"{folder}/x")
                for member in tar:
                    count, total_bytes = count + 1, total_bytes + member.size
                    if count > rules.most_files or total_bytes > rules.largest_bytes:
                        raise LayerError("The environment is too large for an image.")
                    content = tar.extractfile(member) if member.isreg() else None
                    self._add(_plain(member, folder), content)
        except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
            raise LayerError(f"The environment's archive cannot be read: {error}") from error

    def close(self) -> None:
        self._tar.close()
        self._gzip.close()

    @property
    def layer(self) -> Layer:
        """Return the layer, once it is closed."""
        return Layer(Blob(self._packed.digest, self._packed.size_bytes), self._tarred.digest)

    def _add(self, info: tarfile.TarInfo, content: IO[bytes] | None) -> None:
        self._add_folders(info.name)
        if info.isdir():
            if info.name in self._folders:
                return
            self._folders.add(info.name)
        if info.issym():
            self._links.add(info.name)
        info.mtime = _TIME_S
        self._tar.addfile(info, content)

    def _add_folders(self, name: str) -> None:
        """Add the folders that lead to a name. Raises LayerError for one behind a link."""
        for parent in reversed(PurePosixPath(name).parents[:-1]):
            folder = str(parent)
            if folder in self._links:
                raise LayerError(f"{name!r} in the environment goes through a link.")
            if folder not in self._folders:
                info = tarfile.TarInfo(folder)
                info.type, info.mode, info.mtime = tarfile.DIRTYPE, 0o755, _TIME_S
                self._folders.add(folder)
                self._tar.addfile(info)


def _plain(member: tarfile.TarInfo, folder: str) -> tarfile.TarInfo:
    """Return a member with nothing of the machine that packed it. Raises LayerError."""
    parts = [part for part in PurePosixPath(member.name).parts if part != "."]
    if member.name.startswith("/") or ".." in parts or not parts:
        raise LayerError(f"{member.name!r} in the environment would leave its folder.")
    info = tarfile.TarInfo("/".join((folder, *parts)))
    is_program = member.isdir() or bool(member.mode & 0o100)
    info.mode = 0o755 if is_program else 0o644
    if member.isdir():
        info.type = tarfile.DIRTYPE
    elif member.issym():
        info.type, info.linkname, info.mode = tarfile.SYMTYPE, member.linkname, 0o777
    elif member.isreg():
        info.size = member.size
    else:
        raise LayerError(f"{member.name!r} in the environment is not a file, folder or link.")
    return info
