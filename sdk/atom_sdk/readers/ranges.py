"""The interface of a streaming reader to the place where packs are stored."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import NamedTuple, Protocol

from atom_sdk.packs.cache_eviction import cache_limit_bytes


class PackRange(NamedTuple):
    """Bytes of a pack, and the size of the whole pack."""

    data: memoryview
    pack_bytes: int


class RangeReader(Protocol):
    """Reads parts of packs from where they are stored. Thread-safe, fork-safe, picklable."""

    def read(self, pack: bytes, start: int, length: int) -> PackRange:
        """Return `length` bytes from `start`, fewer at the end of the pack."""

    def doubt(self, pack: bytes) -> None:
        """Read a pack elsewhere from now on, if it is stored twice: its bytes were wrong."""


@dataclass(frozen=True)
class StreamOptions:
    """How much is fetched ahead and how much is kept.

    `limit_bytes`: room for packs on this node, 0 for memory only, None for no limit.
    `window_blocks`: blocks of 1 MiB that are asked for before their samples are due.
    `patience_s`: how long to wait for a block that another process fetches.
    """

    limit_bytes: int | None = field(default_factory=cache_limit_bytes)
    threads: int = 8
    window_blocks: int = 64
    patience_s: float = 30.0
