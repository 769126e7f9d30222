"""Handing out fetches: each with its one source, under the ceiling of reads of the origin."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime, timedelta
from typing import Any, Final
from uuid import UUID

import numpy as np
from django.db import transaction

from atom.cache.agents.actions.coverage import PackTable, bits_of, pack_table
from atom.cache.agents.actions.holders import (
    Holders,
    all_holders,
    holder_view,
    readers_of,
    sampled_holders,
)
from atom.cache.agents.actions.joining import peer_key
from atom.cache.agents.actions.plans import end_plan, reason_of
from atom.cache.engines.sources import Choice, OpenFetch, SourceKind, choose_sources
from atom.cache.engines.turns import origin_room, turn_of
from atom.cache.models import CacheRecord, NodeAgent, PackFetch, WarmPlan, WarmPlanNode
from atom.cache.origins import pack_origins
from atom.cache.warming.actions.records import UNREADABLE
from atom.core import clock
from atom.core.locks import in_turn
from atom.datasets.catalog.reads import require_kept

# Fetches from the object store at once, of all clusters together.
ORIGIN_FETCHES: Final = 64
# A plan with a rate gives each node this many fetches, which share the node's part of the rate.
RATED_FETCHES: Final = 2
MAX_ROOM: Final = 64
_PEER_TOKEN_S = 3600
# Packs that are looked at for each fetch that may begin.
_PROPOSED = 4
# A plan that got too few reads of the origin counts as waiting for so long.
_WANTED = timedelta(seconds=6)
_LOW = (1 << 32) - 1
_HANDING_OUT = UUID("0195a3f2-7c41-7b3e-9d52-6167656e7473")


def hand_out(agent: NodeAgent, room: int) -> list[PackFetch]:
    """Choose the next fetches of a node, at most `room`, and store them as open."""
    fetches: list[PackFetch] = []
    if room <= 0:
        return fetches
    parts = WarmPlanNode.objects.filter(
        node=agent.node, plan__state="running", state__in=["waiting", "warming"]
    ).select_related("plan__version__dataset__project")
    with transaction.atomic():
        row = NodeAgent.objects.select_for_update().get(pk=agent.pk)
        row.node = agent.node
        mine = list(PackFetch.objects.filter(node=agent.node))
        for part in sorted(parts, key=lambda part: _turn(part.plan)):
            left = min(room, MAX_ROOM) - len(fetches)
            if left <= 0:
                break
            try:
                require_kept(part.plan.version)
                fetches += _begin(part, _choices(row, part.plan, [*mine, *fetches], left), mine)
            except UNREADABLE as gone:
                end_plan(part.plan, "failed", reason_of(gone))
    return fetches


def _turn(plan: WarmPlan) -> datetime:
    return turn_of(plan.created_at, plan.priority)


def _choices(agent: NodeAgent, plan: WarmPlan, mine: list[PackFetch], room: int) -> list[Choice]:
    """Return the next packs of a plan for a node: those that a peer has, then the origin's."""
    if plan.rate_bytes_s:
        running = [row for row in mine if row.plan_id == plan.pk and row.kind != SourceKind.WAIT]
        room = min(room, RATED_FETCHES - len(running))
    table = pack_table(plan.version)
    asking = _Asking(agent, plan, table, [row for row in mine if row.project_id == plan.project_id])
    places = asking.missing_places()
    if room <= 0 or not places:
        return []
    held = holder_view(plan, table).held
    waiting = asking.waiting
    from_peers = [place for place in places if held[place] and place not in waiting]
    choices = asking.choose_peers(from_peers[: room * _PROPOSED], room)
    rest = [place for place in places if not held[place] or place in waiting]
    if rest and len(choices) < room:
        choices += _from_origin(asking, rest, room - len(choices))
    return choices


@dataclass(frozen=True)
class _Asking:
    """A node that asks for packs of a plan; `mine` are its open fetches in the project."""

    agent: NodeAgent
    plan: WarmPlan
    table: PackTable
    mine: list[PackFetch]

    @property
    def node(self) -> str:
        """Return the node's id."""
        return str(self.agent.node_id)

    @property
    def waiting(self) -> set[int]:
        """Return the places of packs whose peer failed: the origin is next."""
        packs = [row.pack for row in self.mine if row.kind == SourceKind.WAIT]
        return {self.table.places[pack] for pack in packs if pack in self.table.places}

    def missing_places(self) -> list[int]:
        """Return the places of packs to fetch; each node begins elsewhere.

        A pack that is ordered away comes anew only once it is gone.
        """
        record = CacheRecord.objects.get(node=self.agent.node_id, version=self.plan.version_id)
        record.version = self.plan.version
        project = str(self.plan.project_id)
        busy = {row["pack"] for row in self.agent.removals if row["project"] == project}
        busy |= {row.pack for row in self.mine if row.kind != SourceKind.WAIT}
        places = np.flatnonzero(~(bits_of(record) | self.table.bits(busy)))
        start = len(places) * (self.agent.node_id.int & _LOW) // (_LOW + 1)
        rotated: list[int] = np.roll(places, -start).tolist()
        return rotated

    def choose_peers(self, places: list[int], room: int) -> list[Choice]:
        """Choose among packs that the view gives to peers, as far as these have them now."""
        view = holder_view(self.plan, self.table)
        holders = sampled_holders(self.plan, self.table, view, places)
        return self.choose(places, holders, [], room=room, origin_room=0)

    def choose(
        self,
        places: list[int],
        holders: Holders,
        from_origin: list[OpenFetch],
        *,
        room: int,
        origin_room: int,
    ) -> list[Choice]:
        """Choose sources; `from_origin` are the fetches of the cluster from the origin."""
        mine = [OpenFetch(self.node, row.pack, SourceKind(row.kind)) for row in self.mine]
        readers = readers_of(node for nodes in holders.values() for node in nodes)
        served = [
            OpenFetch("", "", SourceKind.PEER, peer)
            for peer, count in readers.items()
            for _ in range(count)
        ]
        return choose_sources(
            self.node,
            [self.table.digests[place] for place in places],
            holders,
            [*mine, *from_origin, *served],
            room=room,
            origin_room=origin_room,
        )


def _from_origin(asking: _Asking, places: list[int], room: int) -> list[Choice]:
    """Choose packs that no peer has, under the ceiling of reads of the origin.

    One node of all clusters at a time does this, until its transaction ends: so each cluster
    reads a pack once.
    """
    plan, table = asking.plan, asking.table
    open_rows = _open_origin()
    if _origin_room(plan, open_rows) <= 0:
        _note_want(plan)
        return []
    begun = {row.pack for row in open_rows if _is_of(row, plan)}
    places = [place for place in places if table.digests[place] not in begun][: room * _PROPOSED]
    if not places:
        return []
    with in_turn(_HANDING_OUT):
        open_rows = _open_origin()
        origin_room = _origin_room(plan, open_rows)
        holders = all_holders(plan, table, places)
        from_origin = [
            OpenFetch(str(row.node_id), row.pack, SourceKind.ORIGIN)
            for row in open_rows
            if _is_of(row, plan) and row.node_id != asking.agent.node_id
        ]
        choices = asking.choose(places, holders, from_origin, room=room, origin_room=origin_room)
    if origin_room < min(room, len(places)):
        _note_want(plan)
    return choices


def _open_origin() -> list[PackFetch]:
    rows = PackFetch.objects.filter(kind=SourceKind.ORIGIN)
    return list(rows.only("cluster", "project", "pack", "plan", "node", "kind"))


def _is_of(row: PackFetch, plan: WarmPlan) -> bool:
    return (row.cluster_id, row.project_id) == (plan.cluster_id, plan.project_id)


def _origin_room(plan: WarmPlan, open_rows: list[PackFetch]) -> int:
    lately = clock.now() - _WANTED
    others = WarmPlan.objects.filter(state="running", origin_wanted_at__gt=lately)
    turns = [_turn(other) for other in others.exclude(pk=plan.pk).only("created_at", "priority")]
    held = sum(row.plan_id == plan.pk for row in open_rows)
    return origin_room(_turn(plan), turns, held, len(open_rows), ORIGIN_FETCHES)


def _note_want(plan: WarmPlan) -> None:
    """Note that a plan got fewer reads than it wanted, but not at each request."""
    now = clock.now()
    if plan.origin_wanted_at is None or plan.origin_wanted_at < now - _WANTED / 3:
        WarmPlan.objects.filter(pk=plan.pk).update(origin_wanted_at=now)


def _begin(part: WarmPlanNode, choices: list[Choice], mine: list[PackFetch]) -> list[PackFetch]:
    """Store fetches as open. One whose peer failed keeps its row: it has two sources."""
    if not choices:
        return []
    plan, sizes = part.plan, pack_table(part.plan.version)
    if part.state == "waiting":
        part.state, part.error = "warming", ""
        part.save(update_fields=["state", "error", "updated_at"])
    rate = None
    if plan.rate_bytes_s:
        nodes = plan.parts.exclude(state="replaced").count()
        rate = max(plan.rate_bytes_s // (nodes * RATED_FETCHES), 1)
    waiting = {row.pack: row for row in mine if row.project_id == plan.project_id}
    fetches = []
    for choice in choices:
        fetch = waiting.get(choice.pack) or PackFetch(node_id=part.node_id, pack=choice.pack)
        fetch.plan, fetch.cluster_id = plan, plan.cluster_id
        fetch.project = plan.version.dataset.project
        fetch.size_bytes = int(sizes.sizes[sizes.places[choice.pack]])
        fetch.rate_bytes_s, fetch.bytes_done = rate, 0
        fetch.kind = SourceKind.PEER if choice.peer else SourceKind.ORIGIN
        fetch.peer_id = UUID(choice.peer) if choice.peer else None
        fetch.store, fetch.heard_at = None, clock.now()
        fetches.append(fetch)
    new = [fetch for fetch in fetches if fetch.pack not in waiting]
    PackFetch.objects.bulk_create(new)
    for fetch in fetches:
        if fetch.pack in waiting:
            fetch.save()
    return fetches


def fetch_lines(fetches: list[PackFetch]) -> list[dict[str, Any]]:
    """Return fetches as the protocol shapes them, each with fresh access to its source."""
    peers = NodeAgent.objects.select_related("node").filter(
        node__in=[fetch.peer_id for fetch in fetches if fetch.peer_id]
    )
    by_node: dict[UUID | None, NodeAgent] = {peer.node_id: peer for peer in peers}
    origins = _origins([fetch for fetch in fetches if fetch.peer_id not in by_node])
    return [_line(fetch, by_node.get(fetch.peer_id), origins) for fetch in fetches]


def _origins(fetches: Sequence[PackFetch]) -> dict[UUID, str]:
    """Return the address of each fetch from a store, by its id; the rows keep the store."""
    by_place: dict[tuple[UUID, UUID], list[PackFetch]] = defaultdict(list)
    for fetch in fetches:
        by_place[fetch.cluster_id, fetch.plan.version_id].append(fetch)
    urls: dict[UUID, str] = {}
    for (cluster_id, _), group in by_place.items():
        packs = [fetch.pack for fetch in group]
        addresses = pack_origins(cluster_id, group[0].plan.version, packs)
        for fetch in group:
            address = addresses[fetch.pack]
            urls[fetch.pk] = address.url
            if fetch.store != address.store:
                fetch.store = address.store
                fetch.save(update_fields=["store", "updated_at"])
    return urls


def _line(fetch: PackFetch, peer: NodeAgent | None, origins: Mapping[UUID, str]) -> dict[str, Any]:
    return {
        "fetch": str(fetch.pk),
        "plan": str(fetch.plan_id),
        "project": str(fetch.project_id),
        "pack": fetch.pack,
        "size_bytes": fetch.size_bytes,
        "rate_bytes_s": fetch.rate_bytes_s,
        "source": _origin(origins[fetch.pk]) if peer is None else _peer_source(fetch, peer),
    }


def _origin(url: str) -> dict[str, Any]:
    return {"kind": "origin", "url": url}


def _peer_source(fetch: PackFetch, peer: NodeAgent) -> dict[str, Any]:
    return {
        "kind": "peer",
        "node": peer.node.name,
        "url": f"{peer.address}/packs/{fetch.project_id}/{fetch.pack}",
        "token": peer_token(peer, fetch),
    }


def peer_token(peer: NodeAgent, fetch: PackFetch) -> str:
    """Return what opens one pack at a peer, for one plan, for an hour."""
    claims = {
        "project": str(fetch.project_id),
        "pack": fetch.pack,
        "plan": str(fetch.plan_id),
        "exp": int(clock.now().timestamp()) + _PEER_TOKEN_S,
    }
    body = base64.urlsafe_b64encode(json.dumps(claims).encode()).decode()
    mac = hmac.new(peer_key(peer), body.encode(), hashlib.sha256).digest()
    return f"{body}.{base64.urlsafe_b64encode(mac).decode()}"
