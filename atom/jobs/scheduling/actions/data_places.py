"""How much of the data of a run is in each cluster, and the stores from which the rest comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from uuid import UUID

from atom.cache.models import CacheRecord
from atom.cache.origins import OWN_STORE
from atom.clusters.models import Cluster
from atom.datasets.models import Source, Version
from atom.datasets.replicas.reads import stores_holding
from atom.jobs.models import Run
from atom.jobs.scheduling.engines.preferred_nodes import preferred_nodes


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of a version that a node has, and bytes that are on their way to it."""

    there_bytes: int
    moving_bytes: int = 0


HeldByNode = dict[str, dict[UUID, Held]]


def held_in(clusters: Collection[UUID], sizes: Mapping[UUID, int]) -> defaultdict[UUID, HeldByNode]:
    """Return what nodes have of versions of these sizes, by cluster, name of node and version."""
    records = CacheRecord.objects.filter(
        node__cluster__in=clusters, version__in=sizes, bytes_total__gt=0
    ).values_list(
        "node__cluster_id", "node__name", "version_id", "state", "bytes_present", "bytes_total"
    )
    held: defaultdict[UUID, HeldByNode] = defaultdict(dict)
    for cluster_id, name, version_id, state, present, total in records:
        size = sizes[version_id]
        there = int(min(1.0, present / total) * size)
        moving = size - there if state == "warming" else 0
        held[cluster_id].setdefault(name, {})[version_id] = Held(there, moving)
    return held


def best_node(held: HeldByNode) -> dict[UUID, Held]:
    """Return what the node with the most data has, by version; {} without one."""
    names = sorted(held, key=lambda name: (*_sums(held[name]), name))
    return held[names[-1]] if names else {}


def _sums(versions: Mapping[UUID, Held]) -> tuple[int, int]:
    parts = versions.values()
    return sum(part.there_bytes for part in parts), sum(part.moving_bytes for part in parts)


def sizes_of(run: Run) -> dict[UUID, int]:
    """Return the size in bytes of each version that the run reads."""
    return dict(run.inputs.values_list("version_id", "version__size_bytes"))


def bytes_on_nodes(
    cluster_id: UUID | None, sizes: Mapping[UUID, int], nodes: Iterable[str] | None = None
) -> dict[str, int]:
    """Return the bytes of versions of these sizes on nodes of a cluster, by name; None: on all."""
    records = CacheRecord.objects.filter(node__cluster=cluster_id, version__in=sizes)
    if nodes is not None:
        records = records.filter(node__name__in=list(nodes))
    held: dict[str, int] = {}
    rows = records.values_list("node__name", "version_id", "bytes_present", "bytes_total")
    for name, version_id, present, total in rows:
        # Packs hold more than the files: a part of a version is a part of its packs.
        part = present * sizes[version_id] // total if total else 0
        held[name] = held.get(name, 0) + min(part, sizes[version_id])
    return held


def nodes_with_data(run: Run, cluster: Cluster) -> list[tuple[str, int]]:
    """Return the nodes that hold the data of the run, with the weights of its pods."""
    sizes = sizes_of(run)
    return preferred_nodes(bytes_on_nodes(cluster.pk, sizes), sum(sizes.values()))


def stores_of(versions: Collection[Version]) -> dict[UUID, list[str]]:
    """Return the names of the stores that hold each version.

    The first is "atom", or the store of its dataset's source; second stores with a replica follow.
    """
    sources = Source.objects.filter(dataset__in={version.dataset_id for version in versions})
    rows = sources.exclude(state="removed").order_by("-name").values_list("dataset_id", "name")
    names = dict(rows)
    replicas = stores_holding([version.pk for version in versions])
    return {
        version.pk: [names.get(version.dataset_id, OWN_STORE), *replicas.get(version.pk, [])]
        for version in versions
    }
