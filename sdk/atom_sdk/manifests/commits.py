"""Commits: a root with its history and where it came from. Format: README.md."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from datetime import UTC, datetime
from typing import Any

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.canonical import decode_json, encode_canonical
from atom_sdk.manifests.objects import ObjectStore, commit_key, digest_of, get_verified

COMMIT_FORMAT = "atom-commit/1"


@dataclass(frozen=True, slots=True)
class Commit:
    """One commit of a dataset; digests are 32 bytes, `created_at` is aware."""

    dataset: str
    root: bytes
    parents: tuple[bytes, ...]
    author: str
    message: str
    created_at: datetime
    provenance: Mapping[str, Any] = field(default_factory=dict)


def encode_commit(commit: Commit) -> bytes:
    """Canonical JSON of a commit. Raises ValueError if `created_at` is naive."""
    if commit.created_at.tzinfo is None:
        raise ValueError("created_at must be aware")
    return encode_canonical(
        {
            "format": COMMIT_FORMAT,
            "dataset": commit.dataset,
            "root": commit.root.hex(),
            "parents": [parent.hex() for parent in commit.parents],
            "author": commit.author,
            "message": commit.message,
            "created_at": commit.created_at.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%S.%fZ"),
            "provenance": dict(commit.provenance),
        }
    )


def decode_commit(data: bytes, key: str = "commit") -> Commit:
    """Read a commit. Raises UnknownFormatError, ManifestCorruptError."""
    value = decode_json(data, key, COMMIT_FORMAT)
    try:
        return Commit(
            dataset=value["dataset"],
            root=bytes.fromhex(value["root"]),
            parents=tuple(bytes.fromhex(parent) for parent in value["parents"]),
            author=value["author"],
            message=value["message"],
            created_at=datetime.fromisoformat(value["created_at"]),
            provenance=value["provenance"],
        )
    except (KeyError, TypeError, ValueError) as error:
        raise ManifestCorruptError(key, "a field is missing or has the wrong type") from error


def write_commit(commit: Commit, store: ObjectStore) -> bytes:
    """Store a commit; returns its digest, 32 bytes."""
    data = encode_commit(commit)
    digest = digest_of(data)
    store.put(commit_key(digest), data)
    return digest


def read_commit(digest: bytes, store: ObjectStore) -> Commit:
    """Read and check a commit. Raises ObjectNotFoundError and what `decode_commit` raises."""
    key = commit_key(digest)
    return decode_commit(get_verified(store, key, digest), key)
