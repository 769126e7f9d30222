"""The nodes where a version may go: what each has of it, and what its disk lacks."""

from __future__ import annotations

from dataclasses import dataclass

from atom.cache.agents.actions.coverage import pack_table
from atom.cache.agents.actions.evicting import free_on
from atom.cache.agents.actions.reports import is_live
from atom.cache.models import CacheRecord, NodeAgent
from atom.clusters.models import Cluster
from atom.core import clock
from atom.datasets.catalog.reads import require_kept
from atom.datasets.models import Version


@dataclass(frozen=True, slots=True)
class NodeChoice:
    """A node with an agent; sizes in bytes.

    `free_bytes` is the room of its cache beside what open plans bring, before anything is evicted.
    """

    node: str
    is_reporting: bool
    is_read_only: bool
    problem: str
    free_bytes: int
    bytes_present: int
    bytes_total: int

    @property
    def lacking_bytes(self) -> int:
        """Return how many bytes do not fit there unless others are evicted."""
        missing = self.bytes_total - self.bytes_present
        return max(missing - self.free_bytes, 0) if missing else 0


@dataclass(frozen=True, slots=True)
class ClusterNodes:
    """A cluster with its nodes that have an agent, by name."""

    cluster: str
    nodes: list[NodeChoice]


def node_choices(version: Version, clusters: list[Cluster]) -> list[ClusterNodes]:
    """Return each cluster with its nodes that have an agent.

    Raises VersionExpired, DatasetDeleted, and ObjectNotFoundError of a collected manifest.
    """
    require_kept(version)
    total = int(pack_table(version).sizes.sum())
    agents = NodeAgent.objects.filter(node__cluster__in=clusters).select_related("node")
    records = CacheRecord.objects.filter(version=version, node__agent__in=agents)
    present = dict(records.values_list("node_id", "bytes_present"))
    now = clock.now()
    free = free_on(list(agents))
    by_cluster: dict[object, list[NodeChoice]] = {}
    for agent in agents.order_by("node__name"):
        choice = NodeChoice(
            node=agent.node.name,
            is_reporting=is_live(agent, now),
            is_read_only=bool(agent.disk.get("is_read_only", False)),
            problem=str(agent.disk.get("problem", "")),
            free_bytes=free[agent.node_id],
            bytes_present=present.get(agent.node_id, 0),
            bytes_total=total,
        )
        by_cluster.setdefault(agent.node.cluster_id, []).append(choice)
    return [ClusterNodes(cluster.name, by_cluster.get(cluster.pk, [])) for cluster in clusters]
