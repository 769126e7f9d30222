"""The heat map: how much of each version is on each node of a cluster."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from django.db.models import Sum

from atom.accounts.models import Project
from atom.cache.agents.actions.evicting import ranks_on
from atom.cache.agents.actions.reports import is_live
from atom.cache.models import CacheRecord
from atom.cache.needs import NeedRank
from atom.clusters.models import Cluster, Node
from atom.core import clock
from atom.datasets.models import Version

MAX_VERSIONS = 200


@dataclass(frozen=True, slots=True)
class CoverageMap:
    """Rows as the API shows them; `left_out` versions have fewer bytes than those shown."""

    nodes: list[dict[str, Any]]
    versions: list[dict[str, Any]]
    cells: list[dict[str, Any]]
    left_out: int


def coverage_map(cluster: Cluster, projects: list[Project] | None) -> CoverageMap:
    """Return the coverage of the cluster's nodes, of these projects' versions; None: of all.

    Coverage is the share of a version's bytes that a node's agent verified. Versions without a
    byte on a node are left out.
    """
    records = CacheRecord.objects.filter(node__cluster=cluster, bytes_present__gt=0)
    if projects is not None:
        records = records.filter(version__dataset__project__in=projects)
    sums = records.values_list("version_id").annotate(bytes=Sum("bytes_present"))
    order = [version_id for version_id, _ in sums.order_by("-bytes", "version_id")]
    shown = order[:MAX_VERSIONS]
    nodes = list(Node.objects.filter(cluster=cluster).select_related("agent").order_by("name"))
    rows = list(
        records.filter(version__in=shown)
        .select_related("node")
        .defer("bitmap")
        .order_by("node__name", "pk")
    )
    return CoverageMap(
        [_node_line(node) for node in nodes],
        _version_lines(shown, rows),
        _cells(rows),
        len(order) - len(shown),
    )


def _node_line(node: Node) -> dict[str, Any]:
    agent = getattr(node, "agent", None)
    is_reporting = agent is not None and is_live(agent, clock.now())
    return {"node": node.name, "is_reporting": is_reporting}


def _version_lines(shown: list[UUID], rows: list[CacheRecord]) -> list[dict[str, Any]]:
    versions = Version.objects.select_related("dataset__project").in_bulk(shown)
    totals = {row.version_id: row for row in rows}
    return [
        {
            "id": version_id,
            "project": versions[version_id].dataset.project.slug,
            "dataset": versions[version_id].dataset.name,
            "ref": versions[version_id].ref,
            "bytes_total": totals[version_id].bytes_total,
            "packs_total": totals[version_id].packs_total,
        }
        for version_id in shown
    ]


def _cells(rows: list[CacheRecord]) -> list[dict[str, Any]]:
    ranks = ranks_on({row.node_id for row in rows}, {row.version_id for row in rows})
    return [_cell(row, ranks[row.node_id, row.version_id]) for row in rows]


def _cell(row: CacheRecord, rank: NeedRank) -> dict[str, Any]:
    return {
        "node": row.node.name,
        "version": row.version_id,
        "state": row.state,
        "bytes_present": row.bytes_present,
        "bytes_total": row.bytes_total,
        "packs_present": row.packs_present,
        "coverage": row.bytes_present / row.bytes_total if row.bytes_total else 0.0,
        "need": rank.word,
        "used_at": row.used_at,
    }
