"""Worker I/O without the ORM: reading a staged pack through, once."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

import pyarrow as pa
from blake3 import blake3

from atom.core.storage import ObjectStorage, PrefixStore
from atom.datasets import keys
from atom.datasets.packs.engines.pack_index import (
    decode_index,
    encode_index,
    index_passing,
    is_looked_into,
)
from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.large_changes import read_changes
from atom_sdk.errors import PackDigestMismatchError, PackError, PathError
from atom_sdk.packs.indexer import pass_pack


class StagedObjectLies(Exception):
    """The staged bytes are not what was announced; `code` is stable, the text names the place."""

    def __init__(self, code: str, detail: str) -> None:
        super().__init__(detail)
        self.code = code


@dataclass(frozen=True)
class StagedObject:
    """An upload as its client announced it: the BLAKE3 digest (hex) and the size of `key`."""

    key: str
    digest: str
    size_bytes: int


def verify_staged_pack(storage: ObjectStorage, staged: StagedObject) -> pa.Table:
    """Read a staged pack and return the index of its members. Raises StagedObjectLies.

    Pictures are looked into while they pass, before the pack's digest is known to be right: whoever
    sends a lie could send them under a true digest as well. A copy on the disk took more of the
    processor than to hash the pack.
    """
    _check_size(storage, staged)
    chunks, digest = storage.views(staged.key), bytes.fromhex(staged.digest)
    try:
        return index_passing(pass_pack(chunks, digest, is_looked_into))
    except (PackError, PathError) as exc:
        raise StagedObjectLies(exc.code, str(exc)) from exc


def verify_staged_bytes(storage: ObjectStorage, staged: StagedObject) -> None:
    """Check size and digest of a staged object that is not a pack. Raises StagedObjectLies."""
    _check_size(storage, staged)
    hasher = blake3()
    for chunk in storage.views(staged.key):
        hasher.update(chunk)
    if hasher.hexdigest() != staged.digest:
        error = PackDigestMismatchError(staged.digest, hasher.hexdigest())
        raise StagedObjectLies("digest_mismatch", str(error).replace("pack", "upload"))


def read_staged_changes(storage: ObjectStorage, key: str, scratch: Path) -> ChangesFile:
    """Read and check a changes file; what is too large for memory stays in the folder `scratch`.

    Raises ObjectMissing, ChangesError.
    """
    path = scratch / "changes"
    with path.open("wb") as file:
        for chunk in storage.views(key):
            file.write(chunk)
    return read_changes(path, scratch)


def publish_pack(
    storage: ObjectStorage, store: PrefixStore, staged_key: str, digest: str, index: pa.Table
) -> None:
    """Put a verified pack under its digest, its index first. Doing it twice changes nothing.

    An index beside a pack says that the pack was verified: see `rebuild.verified_packs`.
    """
    store.put(keys.pack_index_key(digest), encode_index(index))
    key = store.prefix + keys.pack_key(digest)
    if staged_key != key:
        storage.copy(staged_key, key)


def read_pack_index(store: PrefixStore, digest: str) -> pa.Table:
    """Return the index of a verified pack. Raises ObjectNotFoundError."""
    return decode_index(store.get(keys.pack_index_key(digest)))


def _check_size(storage: ObjectStorage, staged: StagedObject) -> None:
    actual = storage.head(staged.key).size_bytes
    if actual != staged.size_bytes:
        detail = f"{staged.digest} has {actual} bytes; {staged.size_bytes} were announced."
        raise StagedObjectLies("size_mismatch", detail)
