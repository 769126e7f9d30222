"""How much versions are needed on nodes, told by the apps above: eviction takes the least needed.

Atom's cache knows no run: the app of runs registers a reader, as does each holder of versions.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable
from enum import IntEnum
from typing import NamedTuple
from uuid import UUID


class NeedRank(IntEnum):
    """How much a version is needed on a node. Eviction takes the first two kinds alone."""

    COLD = 0
    # A plan asked for it until a time that has not come.
    LIMITED = 1
    QUEUED = 2
    RUNNING = 3
    PINNED = 4

    @property
    def word(self) -> str:
        """Return the rank as the API names it."""
        return self.name.lower()


class VersionNeed(NamedTuple):
    """A need of a version on a node; `node_id` None: on each node."""

    version_id: UUID
    node_id: UUID | None
    rank: NeedRank


NeedReader = Callable[[Collection[UUID]], Iterable[VersionNeed]]
_readers: list[NeedReader] = []


def register_need_reader(reader: NeedReader) -> None:
    """Make `reader` tell which versions are needed on nodes, by the ids of the nodes."""
    if reader not in _readers:
        _readers.append(reader)


def registered_needs(node_ids: Collection[UUID]) -> dict[tuple[UUID, UUID], NeedRank]:
    """Return the highest rank that readers tell, by node and version."""
    needs: dict[tuple[UUID, UUID], NeedRank] = {}
    for reader in _readers:
        for need in reader(node_ids):
            for node_id in node_ids if need.node_id is None else [need.node_id]:
                key = (node_id, need.version_id)
                needs[key] = max(needs.get(key, NeedRank.COLD), need.rank)
    return needs
