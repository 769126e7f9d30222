"""Where manifest objects are kept: a tiny protocol, two implementations, and the key layout."""

from __future__ import annotations

from pathlib import Path
from typing import Protocol

from blake3 import blake3

from atom_sdk.disk import whole_file
from atom_sdk.errors import ManifestCorruptError, ObjectNotFoundError


class ObjectStore(Protocol):
    """Immutable objects by key, below one project's prefix. Used from several threads at once."""

    def get(self, key: str) -> bytes:
        """Return the object. Raises ObjectNotFoundError."""

    def put(self, key: str, data: bytes) -> None:
        """Store the object; storing the same key again is allowed, since keys are digests."""

    def exists(self, key: str) -> bool:
        """Whether the object is there."""


class MemoryObjectStore:
    """Objects in a dict, for tests and small tools."""

    def __init__(self) -> None:
        """Start empty."""
        self.objects: dict[str, bytes] = {}

    def get(self, key: str) -> bytes:
        """Return the object. Raises ObjectNotFoundError."""
        try:
            return self.objects[key]
        except KeyError as error:
            raise ObjectNotFoundError(key) from error

    def put(self, key: str, data: bytes) -> None:
        """Keep the object."""
        self.objects[key] = data

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        return key in self.objects


class FolderObjectStore:
    """Objects as files below a folder; a file appears whole or not at all."""

    def __init__(self, root: Path | str) -> None:
        """`root` is created with the first object."""
        self.root = Path(root)

    def get(self, key: str) -> bytes:
        """Return the object. Raises ObjectNotFoundError."""
        try:
            return (self.root / key).read_bytes()
        except FileNotFoundError as error:
            raise ObjectNotFoundError(key) from error

    def put(self, key: str, data: bytes) -> None:
        """Write to a temporary file and rename it. Raises DiskFullError."""
        path = self.root / key
        path.parent.mkdir(parents=True, exist_ok=True)
        with whole_file(path) as temporary:
            temporary.write_bytes(data)

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        return (self.root / key).exists()


def pack_key(digest: bytes) -> str:
    """Key of a pack below the project's prefix."""
    return f"packs/{digest.hex()}.tar"


def range_key(digest: bytes) -> str:
    """Key of a range of entries."""
    return f"ranges/{digest.hex()}.parquet"


def delta_key(digest: bytes) -> str:
    """Key of a delta, rows laid over ranges."""
    return f"deltas/{digest.hex()}.parquet"


def group_key(digest: bytes) -> str:
    """Key of a group of ranges, the second level of a large root."""
    return f"groups/{digest.hex()}.json"


def contents_key(content: bytes) -> str:
    """Key of the content digests of a root's ranges, by the content digest of the root."""
    return f"groups/{content.hex()}.contents"


def root_key(digest: bytes) -> str:
    """Key of a root."""
    return f"roots/{digest.hex()}.json"


def layer_key(digest: bytes) -> str:
    """Key of a layer."""
    return f"layers/{digest.hex()}.parquet"


def commit_key(digest: bytes) -> str:
    """Key of a commit."""
    return f"commits/{digest.hex()}.json"


def digest_of(data: bytes) -> bytes:
    """BLAKE3 of an object, 32 bytes: its name."""
    return blake3(data).digest()


def get_verified(store: ObjectStore, key: str, digest: bytes) -> bytes:
    """Read an object and check that it hashes to its name. Raises ManifestCorruptError."""
    data = store.get(key)
    actual = digest_of(data)
    if actual != digest:
        raise ManifestCorruptError(key, f"its bytes hash to {actual.hex()}")
    return data
