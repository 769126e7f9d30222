"""Nodes that have packs of a version: a recent view to choose by, and exact answers to rely on.

A view is read at most once a second in each process, since a request for work comes from each
node every two seconds. It only proposes; the database confirms each pack that is handed out.
"""

from __future__ import annotations

import random
import time
from collections import defaultdict
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

import numpy as np
from django.db import connection
from django.db.models import Count, Q

from atom.cache.agents.actions.coverage import Bits, PackTable
from atom.cache.agents.actions.reports import SILENT_AFTER
from atom.cache.models import CacheRecord, PackFetch, WarmPlan
from atom.core import clock
from atom_sdk.packs.store import covered_packs

_VIEW_S = 1.0
_VIEWS = 64
# Holders of a pack that are asked for; others may serve the next node.
_SAMPLE = 6
# PostgreSQL counts the bits of a byte from its low end, a bitmap from its high end.
_HAS_BIT = """
    record.bitmap_root IN ('', %s) AND CASE
        WHEN length(record.bitmap) * 8 > wanted.place
        THEN get_bit(record.bitmap, wanted.place / 8 * 8 + 7 - wanted.place %% 8) = 1
        ELSE false END
"""
_AMONG = f"""
    SELECT wanted.place, record.node_id
    FROM unnest(%s::uuid[], %s::int[]) AS wanted (node_id, place)
    JOIN cache_cacherecord record
        ON record.node_id = wanted.node_id AND record.version_id = %s
    WHERE {_HAS_BIT}
"""
_ALL = f"""
    SELECT wanted.place, record.node_id
    FROM cache_cacherecord record
    JOIN clusters_node node ON node.id = record.node_id AND node.cluster_id = %s
    JOIN cache_nodeagent agent ON agent.node_id = record.node_id AND agent.reported_at > %s
        AND (agent.distrusted_until IS NULL OR agent.distrusted_until < %s)
    CROSS JOIN unnest(%s::int[]) AS wanted (place)
    WHERE record.version_id = %s AND {_HAS_BIT}
"""

Holders = dict[str, list[str]]


@dataclass(frozen=True, eq=False)
class HolderView:
    """Packs of a version on the live nodes of a cluster: `bits` of shape (nodes, packs)."""

    nodes: list[UUID]
    bits: Bits
    read_s: float

    @property
    def held(self) -> Bits:
        """Return which packs some node has, shape (packs,)."""
        return np.asarray(self.bits.any(axis=0))


_views: dict[tuple[UUID, UUID, str], HolderView] = {}


def holder_view(plan: WarmPlan, table: PackTable) -> HolderView:
    """Return a view of the plan's version that is at most a second old."""
    root = plan.version.readable_root
    key = (plan.cluster_id, plan.version_id, root)
    view = _views.get(key)
    if view is None or time.monotonic() - view.read_s > _VIEW_S:
        view = _read_view(plan, root, len(table.digests))
        while len(_views) >= _VIEWS:
            _views.pop(next(iter(_views)), None)
        _views[key] = view
    return view


def _read_view(plan: WarmPlan, root: str, count: int) -> HolderView:
    now = clock.now()
    records = CacheRecord.objects.filter(
        Q(node__agent__distrusted_until=None) | Q(node__agent__distrusted_until__lt=now),
        node__cluster=plan.cluster_id,
        node__agent__reported_at__gt=now - SILENT_AFTER,
        version=plan.version_id,
        packs_present__gt=0,
        bitmap_root__in=["", root],
    )
    rows = list(records.values_list("node_id", "bitmap"))
    bits = np.zeros((len(rows), count), np.bool_)
    for place, (_, bitmap) in enumerate(rows):
        bits[place] = covered_packs(bytes(bitmap), count)
    return HolderView([node_id for node_id, _ in rows], bits, time.monotonic())


def sampled_holders(
    plan: WarmPlan, table: PackTable, view: HolderView, places: Sequence[int]
) -> Holders:
    """Return a few nodes of the view that have each pack now, by the pack (hex)."""
    nodes: list[UUID] = []
    wanted: list[int] = []
    for place in places:
        rows = np.flatnonzero(view.bits[:, place]).tolist()
        for row in random.sample(rows, min(_SAMPLE, len(rows))):
            nodes.append(view.nodes[row])
            wanted.append(place)
    if not nodes:
        return {}
    values = [nodes, wanted, plan.version_id, plan.version.readable_root]
    return _ask(_AMONG, values, table)


def all_holders(plan: WarmPlan, table: PackTable, places: Sequence[int]) -> Holders:
    """Return the live nodes of the plan's cluster that have each pack now, by the pack (hex)."""
    if not places:
        return {}
    now = clock.now()
    values = [plan.cluster_id, now - SILENT_AFTER, now, [*places]]
    return _ask(_ALL, [*values, plan.version_id, plan.version.readable_root], table)


def _ask(query: str, values: list[Any], table: PackTable) -> Holders:
    holders: Holders = defaultdict(list)
    with connection.cursor() as cursor:
        cursor.execute(query, values)
        for place, node_id in cursor.fetchall():
            holders[table.digests[place]].append(str(node_id))
    return holders


def readers_of(nodes: Iterable[str]) -> dict[str, int]:
    """Return how many fetches each of the nodes serves now."""
    rows = PackFetch.objects.filter(peer__in={*nodes}).values_list("peer_id")
    return {str(peer_id): count for peer_id, count in rows.annotate(count=Count("pk"))}
