"""Handing out fetches: each with its one source, under the ceiling of reads of the origin."""

from __future__ import annotations

import base64
import hashlib
import hmac
import json
from collections import defaultdict
from typing import Any, Final
from uuid import UUID

from django.db import transaction
from django.db.models import Q

from atom.cache.agents.actions.coverage import present_packs, sized_packs
from atom.cache.agents.actions.joining import peer_key
from atom.cache.agents.actions.plans import end_plan, reason_of
from atom.cache.agents.actions.reports import is_live
from atom.cache.engines.sources import (
    Choice,
    OpenFetch,
    SourceKind,
    choose_sources,
    rotated,
)
from atom.cache.models import CacheRecord, NodeAgent, PackFetch, WarmPlan, WarmPlanNode
from atom.cache.warming.actions.records import UNREADABLE
from atom.core import clock, storage
from atom.core.locks import in_turn
from atom.datasets.catalog.reads import URL_EXPIRES_S, require_kept
from atom.datasets.keys import pack_key

# Fetches from the object store at once, of all clusters together.
ORIGIN_FETCHES: Final = 64
# A plan with a rate gives each node this many fetches, which share the node's part of the rate.
RATED_FETCHES: Final = 2
MAX_ROOM: Final = 64
_PEER_TOKEN_S = 3600
_HANDING_OUT = UUID("0195a3f2-7c41-7b3e-9d52-6167656e7473")


def hand_out(agent: NodeAgent, room: int) -> list[PackFetch]:
    """Choose the next fetches of a node, at most `room`, and store them as open."""
    parts = WarmPlanNode.objects.filter(
        node=agent.node, plan__state="running", state__in=["waiting", "warming"]
    ).select_related("plan__version__dataset__project")
    fetches: list[PackFetch] = []
    if room <= 0 or not parts.exists():
        return fetches
    with transaction.atomic(), in_turn(_HANDING_OUT):
        for part in parts.order_by("plan__created_at"):
            left = min(room, MAX_ROOM) - len(fetches)
            if left <= 0:
                break
            try:
                require_kept(part.plan.version)
                fetches += _next_of(agent, part, left)
            except UNREADABLE as gone:
                end_plan(part.plan, "failed", reason_of(gone))
    return fetches


def _next_of(agent: NodeAgent, part: WarmPlanNode, room: int) -> list[PackFetch]:
    plan = part.plan
    open_rows = list(PackFetch.objects.filter(cluster=plan.cluster_id, project=plan.project_id))
    nodes = sorted(plan.parts.exclude(state="replaced").values_list("node_id", flat=True))
    if plan.rate_bytes_s:
        mine = [row for row in open_rows if row.plan_id == plan.pk and row.node_id == agent.node_id]
        running = [row for row in mine if row.kind != SourceKind.WAIT]
        room = min(room, RATED_FETCHES - len(running))
    holders = _holders(plan)
    own = holders.pop(str(agent.node_id), frozenset())
    sizes = dict(sized_packs(plan.version))
    missing = [digest for digest in sizes if digest not in own]
    by_pack: dict[str, list[str]] = defaultdict(list)
    for node, packs in holders.items():
        for pack in packs:
            by_pack[pack].append(node)
    origin_open = PackFetch.objects.filter(kind=SourceKind.ORIGIN).count()
    choices = choose_sources(
        str(agent.node_id),
        rotated(missing, nodes.index(agent.node_id), len(nodes)),
        by_pack,
        [
            OpenFetch(str(row.node_id), row.pack, SourceKind(row.kind), str(row.peer_id or ""))
            for row in open_rows
        ],
        room=room,
        origin_room=ORIGIN_FETCHES - origin_open,
    )
    if choices and part.state == "waiting":
        part.state, part.error = "warming", ""
        part.save(update_fields=["state", "error", "updated_at"])
    rate = max(plan.rate_bytes_s // (len(nodes) * RATED_FETCHES), 1) if plan.rate_bytes_s else None
    return [_opened(agent, plan, choice, sizes[choice.pack], rate) for choice in choices]


def _holders(plan: WarmPlan) -> dict[str, frozenset[str]]:
    """Return the packs of the version on each live node of the cluster, by node id."""
    now = clock.now()
    records = CacheRecord.objects.filter(
        Q(packs_present__gt=0), node__cluster=plan.cluster_id, version=plan.version
    ).select_related("node__agent", "version__dataset__project")
    return {
        str(record.node_id): frozenset(present_packs(record))
        for record in records
        if hasattr(record.node, "agent") and is_live(record.node.agent, now)
    }


def _opened(
    agent: NodeAgent, plan: WarmPlan, choice: Choice, size_bytes: int, rate: int | None
) -> PackFetch:
    kind = SourceKind.PEER if choice.peer else SourceKind.ORIGIN
    values = {
        "plan": plan,
        "cluster_id": plan.cluster_id,
        "size_bytes": size_bytes,
        "rate_bytes_s": rate,
        "kind": kind,
        "peer_id": UUID(choice.peer) if choice.peer else None,
        "bytes_done": 0,
        "heard_at": clock.now(),
    }
    # A fetch whose peer failed keeps its row: it is one fetch from two sources.
    fetch, _ = PackFetch.objects.update_or_create(
        node=agent.node, project_id=plan.project_id, pack=choice.pack, defaults=values
    )
    return fetch


def fetch_lines(fetches: list[PackFetch]) -> list[dict[str, Any]]:
    """Return fetches as the protocol shapes them, each with fresh access to its source."""
    peers = NodeAgent.objects.select_related("node").filter(
        node__in=[fetch.peer_id for fetch in fetches if fetch.peer_id]
    )
    by_node: dict[UUID | None, NodeAgent] = {peer.node_id: peer for peer in peers}
    return [_line(fetch, by_node.get(fetch.peer_id)) for fetch in fetches]


def _line(fetch: PackFetch, peer: NodeAgent | None) -> dict[str, Any]:
    return {
        "fetch": str(fetch.pk),
        "plan": str(fetch.plan_id),
        "project": str(fetch.project_id),
        "pack": fetch.pack,
        "size_bytes": fetch.size_bytes,
        "rate_bytes_s": fetch.rate_bytes_s,
        "source": _origin(fetch) if peer is None else _peer_source(fetch, peer),
    }


def _origin(fetch: PackFetch) -> dict[str, Any]:
    key = storage.project_prefix(fetch.project) + pack_key(fetch.pack)
    return {"kind": "origin", "url": storage.objects().presign_get(key, URL_EXPIRES_S)}


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
