"""The objects in a project's folders of the bucket: one item for each digest of a kind."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import Protocol

# Objects of a kind, by the endings of their names. Other names are never touched.
ENDINGS = {
    "packs": (".tar", ".index.parquet"),
    "quarantine": (".tar",),
    "layers": (".parquet",),
    "deltas": (".parquet",),
    "ranges": (".parquet",),
    "groups": (".json", ".contents"),
    "roots": (".json",),
    "commits": (".json",),
}
_NAME = re.compile(r"([0-9a-f]{64})(\.[a-z.]+)")


class ListingDisordered(ValueError):
    """The store did not list keys in order: what is missing from the other side is unknown."""


class Listed(Protocol):
    """One object of a listing."""

    @property
    def key(self) -> str:
        """Its whole key."""

    @property
    def size_bytes(self) -> int:
        """Its size."""

    @property
    def modified_at(self) -> datetime:
        """When it was written, by the store's clock."""


@dataclass(frozen=True)
class Stored:
    """The objects of one digest, and when the last of them was written (the store's clock)."""

    kind: str
    digest: bytes
    size_bytes: int
    modified_at: datetime


def keys_of(kind: str, digest: str) -> list[str]:
    """Return the keys of a digest below the project's prefix, the data first."""
    return [f"{kind}/{digest}{ending}" for ending in ENDINGS[kind]]


def stored_objects(kind: str, listing: Iterable[Listed]) -> Iterator[Stored]:
    """Yield what a listing of the kind's folder holds, by digest. Raises ListingDisordered."""
    present: Stored | None = None
    for item in listing:
        name = _NAME.fullmatch(item.key.rpartition("/")[2])
        if name is None or name[2] not in ENDINGS[kind]:
            continue
        found = Stored(kind, bytes.fromhex(name[1]), item.size_bytes, item.modified_at)
        if present is None or found.digest > present.digest:
            if present is not None:
                yield present
            present = found
        elif found.digest == present.digest:
            present = _joined(present, found)
        else:
            raise ListingDisordered(f"{item.key} is listed too late.")
    if present is not None:
        yield present


def _joined(first: Stored, second: Stored) -> Stored:
    return Stored(
        first.kind,
        first.digest,
        first.size_bytes + second.size_bytes,
        max(first.modified_at, second.modified_at),
    )
