"""An archive on disk: objects by key, each written whole or not at all."""

from __future__ import annotations

import errno
import os
import re
import stat
import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
from blake3 import blake3

from atom_sdk.archive.errors import (
    ArchiveCorruptError,
    ArchiveMissingError,
    ArchiveWriteError,
)
from atom_sdk.archive.history import History, decode_history
from atom_sdk.errors import AtomError, ManifestError, ObjectNotFoundError
from atom_sdk.manifests.canonical import decode_json, encode_canonical
from atom_sdk.manifests.objects import digest_of, get_verified

POINTER_FORMAT = "atom-archive/1"
KEY = re.compile(
    r"(?:packs/[0-9a-f]{64}\.tar"
    r"|(?:ranges|deltas|layers|indexes)/[0-9a-f]{64}\.parquet"
    r"|(?:groups|roots|commits|histories)/[0-9a-f]{64}\.json)"
)
_CHUNK_BYTES = 1 << 20
_INDEX_SCHEMA = pa.schema([("key", pa.string()), ("size", pa.int64())])
_NO_ROOM = {errno.ENOSPC: "The disk is full", errno.EDQUOT: "The quota of the disk is used up"}


class ArchiveFolder:
    """The objects of an archive; an `ObjectStore` of the manifests. For several threads."""

    def __init__(self, root: Path | str) -> None:
        """Nothing is made until something is written."""
        self.root = Path(root)

    def path(self, key: str) -> Path:
        """Where an object is, or would be. Raises ArchiveCorruptError for any other name."""
        if not KEY.fullmatch(key):
            raise ArchiveCorruptError(f"{key!r} is no name of an archive's object.")
        return self.root / key

    def get(self, key: str) -> bytes:
        """Return an object. Raises ObjectNotFoundError."""
        if self.size(key) is None:
            raise ObjectNotFoundError(key)
        return self.path(key).read_bytes()

    def put(self, key: str, data: bytes) -> None:
        """Write an object whose bytes are known to be right."""
        self.write(key, [data])

    def exists(self, key: str) -> bool:
        """Return whether something of this name is there."""
        return self.size(key) is not None

    def size(self, key: str) -> int | None:
        """Return the size of an object in bytes; None if there is no regular file."""
        try:
            found = os.lstat(self.path(key))
        except (FileNotFoundError, NotADirectoryError):
            return None
        return found.st_size if stat.S_ISREG(found.st_mode) else None

    def chunks(self, key: str) -> Iterator[bytes]:
        """Yield an object piece by piece. Raises ObjectNotFoundError."""
        if self.size(key) is None:
            raise ObjectNotFoundError(key)
        with self.path(key).open("rb") as file:
            while chunk := file.read(_CHUNK_BYTES):
                yield chunk

    def is_right(self, key: str) -> bool:
        """Return whether an object is there, and is what its name says."""
        hasher = blake3()
        try:
            for chunk in self.chunks(key):
                hasher.update(chunk)
        except ObjectNotFoundError:
            return False
        return hasher.digest() == digest_in(key)

    def write(self, key: str, chunks: Iterable[bytes]) -> int:
        """Write an object if its bytes are right; returns its size.

        Raises ArchiveCorruptError for other bytes, ArchiveWriteError.
        """
        path = self.path(key)
        hasher = blake3()

        def hashed() -> Iterator[bytes]:
            for chunk in chunks:
                hasher.update(chunk)
                yield chunk
            if hasher.digest() != digest_in(key):
                raise ArchiveCorruptError(f"{key} has bytes of the digest {hasher.hexdigest()}")

        return _write_whole(path, hashed())

    def names(self) -> list[str]:
        """Return the names of the datasets whose save was completed."""
        found = sorted(path.stem for path in (self.root / "datasets").glob("*.json"))
        if not found:
            raise ArchiveMissingError(f"{self.root} holds no saved dataset.")
        return found

    def point(self, name: str, history: str, index: str) -> None:
        """Say which history the name has now: with this, a save is complete."""
        pointer = {"format": POINTER_FORMAT, "history": history, "index": index}
        _write_whole(self._pointer(name), [encode_canonical(pointer)])

    def pointed(self, name: str) -> tuple[str, str]:
        """Return the digests (hex) of a dataset's history and index.

        Raises ArchiveMissingError or ArchiveCorruptError.
        """
        path = self._pointer(name)
        try:
            value = decode_json(path.read_bytes(), path.name, POINTER_FORMAT)
            keys = history_key(value["history"]), index_key(value["index"])
        except FileNotFoundError:
            raise ArchiveMissingError(f"{self.root} holds no dataset {name}.") from None
        except (ManifestError, KeyError, TypeError) as error:
            raise ArchiveCorruptError(f"{path.name} cannot be read: {error}") from error
        for key in keys:
            self.path(key)
        return value["history"], value["index"]

    def history(self, digest: str) -> History:
        """Return a history. Raises ArchiveCorruptError."""
        key = history_key(digest)
        return decode_history(self._verified(key), key)

    def write_index(self, keys: Iterable[str]) -> str:
        """Write the list of a dataset's objects with their sizes; returns its digest in hex."""
        ordered = sorted(keys)
        sizes = [self.size(key) for key in ordered]
        sink = pa.BufferOutputStream()
        table = pa.table([ordered, sizes], schema=_INDEX_SCHEMA)
        pq.write_table(table, sink, compression="zstd", store_schema=False)
        data = sink.getvalue().to_pybytes()
        digest = digest_of(data).hex()
        self.put(index_key(digest), data)
        return digest

    def index(self, digest: str) -> dict[str, int]:
        """Return the sizes in bytes of a dataset's objects by key. Raises ArchiveCorruptError."""
        key = index_key(digest)
        try:
            table = pq.read_table(pa.BufferReader(self._verified(key)), columns=["key", "size"])
            table = table.cast(_INDEX_SCHEMA)
        except (pa.ArrowException, OSError, ValueError, KeyError) as error:
            raise ArchiveCorruptError(f"{key} is no index.") from error
        found = dict(zip(table["key"].to_pylist(), table["size"].to_pylist(), strict=True))
        if None in found or None in found.values():
            raise ArchiveCorruptError(f"{key} is no index.")
        for name in found:
            self.path(name)
        return found

    def _verified(self, key: str) -> bytes:
        try:
            return get_verified(self, key, digest_in(key))
        except ArchiveCorruptError:
            raise
        except AtomError as error:
            raise ArchiveCorruptError(str(error)) from error

    def _pointer(self, name: str) -> Path:
        if "/" in name or name.startswith("."):
            raise ArchiveMissingError(f"{name!r} is no name of a dataset.")
        return self.root / "datasets" / f"{name}.json"


def history_key(digest: str) -> str:
    """Key of a history."""
    return f"histories/{digest}.json"


def index_key(digest: str) -> str:
    """Key of the list of a dataset's objects."""
    return f"indexes/{digest}.parquet"


def digest_in(key: str) -> bytes:
    """Return the digest that a key names, 32 bytes."""
    return bytes.fromhex(key.rpartition("/")[2].partition(".")[0])


def _write_whole(path: Path, chunks: Iterable[bytes]) -> int:
    """Write under another name, sync and rename. Raises ArchiveWriteError."""
    name = ""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        descriptor, name = tempfile.mkstemp(prefix=".part-", dir=path.parent)
        with os.fdopen(descriptor, "wb") as file:
            for chunk in chunks:
                file.write(chunk)
            file.flush()
            os.fchmod(file.fileno(), 0o644)
            os.fsync(file.fileno())
            size_bytes = file.tell()
        os.rename(name, path)
        name = ""
        _sync(path.parent)
    except OSError as error:
        reason = _NO_ROOM.get(error.errno or 0, error.strerror or str(error))
        raise ArchiveWriteError(f"{path} cannot be written: {reason}.") from error
    finally:
        if name:
            Path(name).unlink(missing_ok=True)
    return size_bytes


def _sync(folder: Path) -> None:
    descriptor = os.open(folder, os.O_RDONLY | os.O_DIRECTORY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
