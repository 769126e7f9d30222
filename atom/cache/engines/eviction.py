"""Which packs of a node go: those of the versions that are needed least, then used longest ago."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from atom.cache.needs import NeedRank

# A pack of a project: the project's id, and the digest as 64 hex digits.
PackKey = tuple[str, str]


@dataclass(frozen=True, slots=True)
class HeldVersion:
    """A version on a node: `packs` are those that are there, with their bytes.

    `used_s` is when it was last used, as Unix time.
    """

    rank: NeedRank
    used_s: float
    packs: Mapping[PackKey, int]


@dataclass(frozen=True, slots=True)
class Eviction:
    """Packs to remove, with their bytes."""

    packs: dict[PackKey, int]

    @property
    def freed_bytes(self) -> int:
        """Return the bytes that the packs free."""
        return sum(self.packs.values())


def choose_packs(
    versions: Sequence[HeldVersion],
    target_bytes: int,
    most: NeedRank,
    kept: Collection[PackKey] = (),
) -> Eviction:
    """Return packs that free `target_bytes`, or as many bytes as can be freed.

    Only versions of a rank up to `most` lose packs, in the order of rank and last use. A pack
    stays while a version that comes later needs it, or while it is in `kept`.
    """
    needed = Counter(pack for version in versions for pack in version.packs)
    order = sorted(versions, key=lambda version: (version.rank, version.used_s))
    packs: dict[PackKey, int] = {}
    freed = 0
    for version in order:
        if version.rank > most:
            break
        for pack, size_bytes in version.packs.items():
            if freed >= target_bytes:
                return Eviction(packs)
            needed[pack] -= 1
            if not needed[pack] and pack not in kept:
                packs[pack] = size_bytes
                freed += size_bytes
    return Eviction(packs)


def capacity_bytes(disk: Mapping[str, Any]) -> int:
    """Return how large a node's cache may grow: to its limit, and no further than the disk.

    `disk` is as an agent reports it; {} before the first report.
    """
    if not disk or disk["is_read_only"]:
        return 0
    room = int(disk["cache_bytes"]) + int(disk["free_bytes"])
    return room if disk["limit_bytes"] is None else min(room, int(disk["limit_bytes"]))
