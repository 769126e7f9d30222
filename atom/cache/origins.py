"""The stores that hold a version, the ways from them to a cluster, and the one that is nearest.

A second store counts for a cluster that has a route to it: by the route its administrator says that
the cluster is near.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from django.db.models import Avg

from atom.cache.models import CacheRecord
from atom.clusters.models import StoreRoute
from atom.datasets.catalog.reads import presigned
from atom.datasets.keys import pack_key
from atom.datasets.models import Store, Version
from atom.datasets.replicas.reads import addresses_in, stores_holding

# The name of the installation's own store.
OWN_STORE = "atom"
_GIB = 1 << 30


@dataclass(frozen=True, slots=True)
class Way:
    """The way from a store: bytes per second, None if unknown, and money per byte."""

    bandwidth: float | None = None
    # The bandwidth is the mean of what nodes measured, since nobody stated one.
    is_measured: bool = False
    egress_per_byte: float = 0.0
    currency: str = ""
    # An administrator described the way.
    is_stated: bool = False


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
            is_stated=True,
        )
    return ways


def nearest(first: str, others: Iterable[str], ways: Mapping[str, Way]) -> str:
    """Return the store with the best way: the lowest egress fee, then the highest bandwidth.

    `first` is where the version is anyway; another counts with a stated way only. Fees in two
    currencies cannot be compared: such a store counts where its way is free.
    """
    best = first
    for name in sorted(others):
        way, known = ways[name], ways[best]
        if not way.is_stated:
            continue
        if not known.is_stated:
            best = name
            continue
        is_comparable = not way.currency or not known.currency or way.currency == known.currency
        if is_comparable and _rank(way) < _rank(known):
            best = name
    return best


def _rank(way: Way) -> tuple[float, float]:
    return way.egress_per_byte, -(way.bandwidth or 0.0)


def nearest_store(cluster_id: UUID, version: Version) -> Store | None:
    """Return the second store from which a cluster reads a version; None for Atom's own."""
    names = stores_holding([version.pk]).get(version.pk, [])
    if not names:
        return None
    ways = ways_in([cluster_id], [OWN_STORE, *names])[cluster_id]
    name = nearest(OWN_STORE, names, ways)
    return None if name == OWN_STORE else Store.objects.filter(name=name).first()


@dataclass(frozen=True, slots=True)
class PackAddress:
    """Where a pack is read, and the second store that this is; None: Atom's own."""

    url: str
    store: Store | None


def pack_origins(
    cluster_id: UUID, version: Version, packs: Sequence[str]
) -> dict[str, PackAddress]:
    """Return where a cluster GETs packs (hex): in the nearest store, or in Atom's own.

    A pack that the nearest store lacks, or with which a reader had trouble of late, comes from
    Atom's own store.
    """
    project = version.dataset.project
    store = nearest_store(cluster_id, version)
    near = addresses_in(store, project.pk, packs) if store else {}
    rest = [digest for digest in packs if digest not in near]
    own = presigned(project, map(pack_key, rest))
    origins = {digest: PackAddress(url, store) for digest, url in near.items()}
    return origins | {digest: PackAddress(own[pack_key(digest)], None) for digest in rest}
