"""The source of each pack that a node fetches: a peer that verified it, or the origin.

Nodes of a cluster read a pack from the origin once: the first node fetches it there, the others
wait and then fetch it from that node.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from enum import StrEnum

# Fetches that one peer serves at once.
PEER_READERS = 8


class SourceKind(StrEnum):
    """Where the bytes of a fetch come from; `wait`: its peer failed, the origin is next."""

    PEER = "peer"
    ORIGIN = "origin"
    WAIT = "wait"


@dataclass(frozen=True, slots=True)
class OpenFetch:
    """A fetch that has not ended. `peer` is "" unless the source is a peer."""

    node: str
    pack: str
    kind: SourceKind
    peer: str = ""


@dataclass(frozen=True, slots=True)
class Choice:
    """A fetch to begin: the pack, and the peer that serves it; "" for the origin."""

    pack: str
    peer: str = ""


def choose_sources(
    node: str,
    packs: Sequence[str],
    holders: Mapping[str, Collection[str]],
    fetches: Collection[OpenFetch],
    *,
    room: int,
    origin_room: int,
) -> list[Choice]:
    """Return at most `room` fetches for a node, at most `origin_room` of them from the origin.

    `packs` are those that the node lacks, in the order to try. `holders` are the live nodes that
    verified a pack. `fetches` are the open ones of the cluster.
    """
    waiting = {row.pack for row in fetches if row.node == node and row.kind is SourceKind.WAIT}
    open_here = {row.pack for row in fetches if row.node == node} - waiting
    from_origin = {row.pack for row in fetches if row.kind is SourceKind.ORIGIN}
    readers: dict[str, int] = {}
    for row in fetches:
        if row.kind is SourceKind.PEER:
            readers[row.peer] = readers.get(row.peer, 0) + 1
    choices: list[Choice] = []
    for pack in packs:
        if len(choices) >= room:
            break
        if pack in open_here:
            continue
        peers = [] if pack in waiting else sorted(set(holders.get(pack, ())) - {node})
        free = [peer for peer in peers if readers.get(peer, 0) < PEER_READERS]
        if free:
            peer = min(free, key=lambda name: (readers.get(name, 0), name))
            readers[peer] = readers.get(peer, 0) + 1
            choices.append(Choice(pack, peer))
            open_here.add(pack)
        elif not peers and pack not in from_origin and origin_room > 0:
            origin_room -= 1
            from_origin.add(pack)
            open_here.add(pack)
            choices.append(Choice(pack))
    return choices


def rotated(packs: Sequence[str], place: int, nodes: int) -> list[str]:
    """Return the packs in the order of node number `place` of `nodes`: each begins elsewhere."""
    start = len(packs) * place // max(nodes, 1)
    return [*packs[start:], *packs[:start]]


def choose_nodes(coverage: Mapping[str, int], free: Mapping[str, int], copies: int) -> list[str]:
    """Return the `copies` best nodes: most bytes there, then most free bytes, then by name."""
    order = sorted(free, key=lambda name: (-coverage.get(name, 0), -free[name], name))
    return order[:copies]
