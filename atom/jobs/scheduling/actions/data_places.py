"""How much of the data of a run is in each cluster, and the ways on which the rest comes."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Mapping
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Avg

from atom.cache.models import CacheRecord
from atom.clusters.models import StoreRoute
from atom.datasets.models import Source, Version

# The name of the installation's own store.
OWN_STORE = "atom"
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Held:
    """Bytes of a version that a node has, and bytes that are on their way to it."""

    there_bytes: int
    moving_bytes: int = 0


HeldByNode = dict[str, dict[UUID, Held]]


@dataclass(frozen=True, slots=True)
class Way:
    """The way from a store: bytes per second, None if unknown, and money per byte."""

    bandwidth: float | None = None
    # The bandwidth is the mean of what nodes measured, since nobody stated one.
    is_measured: bool = False
    egress_per_byte: float = 0.0
    currency: str = ""


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


def stores_of(versions: Collection[Version]) -> dict[UUID, str]:
    """Return the name of the store of each version: "atom", or that of its dataset's source."""
    sources = Source.objects.filter(dataset__in={version.dataset_id for version in versions})
    rows = sources.exclude(state="removed").order_by("-name").values_list("dataset_id", "name")
    names = dict(rows)
    return {version.pk: names.get(version.dataset_id, OWN_STORE) for version in versions}


def ways_in(
    clusters: Collection[UUID], stores: Collection[str]
) -> defaultdict[UUID, dict[str, Way]]:
    """Return the way from each store to each cluster.

    Where no bandwidth is stated, the mean rate of the cluster's nodes stands for it.
    """
    rates = CacheRecord.objects.filter(node__cluster__in=clusters, rate_bytes_s__gt=0)
    means = dict(
        rates.values("node__cluster_id")
        .annotate(mean=Avg("rate_bytes_s"))
        .values_list("node__cluster_id", "mean")
    )
    ways: defaultdict[UUID, dict[str, Way]] = defaultdict(dict)
    for cluster_id in clusters:
        for store in stores:
            mean = means.get(cluster_id)
            ways[cluster_id][store] = Way(mean, is_measured=mean is not None)
    for route in StoreRoute.objects.filter(cluster__in=clusters, store__in=stores):
        stated, mean = route.bandwidth_bytes_per_s, means.get(route.cluster_id)
        ways[route.cluster_id][route.store] = Way(
            bandwidth=stated or mean,
            is_measured=not stated and mean is not None,
            egress_per_byte=float(route.egress_per_gib) / _GIB,
            currency=route.currency if route.egress_per_gib else "",
        )
    return ways
