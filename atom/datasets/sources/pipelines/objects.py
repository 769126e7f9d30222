"""The interface that every kind of source has."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from datetime import datetime
from typing import NamedTuple, Protocol

from atom_sdk.manifests.pins import Pin


class SourceObject(NamedTuple):
    """One object of a listing; `key` is relative to the source's root."""

    key: str
    size_bytes: int
    etag: str | None
    mtime: datetime | None
    version_id: str | None = None


@dataclass(frozen=True, slots=True)
class Shard:
    """Part of a source that is listed by itself: a prefix with or without what is deeper."""

    prefix: str
    is_deep: bool = True


class SourceReader(Protocol):
    """Lists and reads one source. Used by several threads. Raises SourceError, SourceChanged."""

    def folders(self, prefix: str) -> list[str] | None:
        """Return the prefixes directly below, each ending in a slash; None if they are many."""

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        """Yield the objects of a shard that come after a key, in the source's order."""

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        """Return bytes `start` (inclusive) to `end` (exclusive) of exactly the pinned state.

        Raises SourceChanged if the object is another one now, or gone.
        """
