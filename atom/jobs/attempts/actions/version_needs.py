"""Which versions runs need on nodes of clusters, for the eviction of caches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from uuid import UUID

from django.db.models import Q

from atom.cache.models import CacheRecord
from atom.cache.needs import NeedRank, VersionNeed
from atom.clusters.models import Node
from atom.core import clock
from atom.jobs import states
from atom.jobs.models import Rank, Run, RunInput


def needs_of_runs(node_ids: Collection[UUID]) -> Iterator[VersionNeed]:
    """Yield what runs need: a queued run in its whole cluster, others on the nodes of their ranks.

    A run whose nodes are not known yet needs its data on each node of its cluster. One without a
    cluster may go anywhere.
    """
    clusters = dict(Node.objects.filter(pk__in=node_ids).values_list("pk", "cluster_id"))
    ranked = _nodes_of_ranks()
    inputs = RunInput.objects.filter(
        Q(run__cluster=None) | Q(run__cluster__in=set(clusters.values())),
        run__origin=states.EXECUTED,
        run__state__in=states.ACTIVE,
    ).values_list("run_id", "run__cluster_id", "run__state", "version_id")
    for run_id, cluster_id, state, version_id in inputs:
        is_waiting = state in states.WAITING
        rank = NeedRank.QUEUED if is_waiting else NeedRank.RUNNING
        places = set() if is_waiting else ranked[run_id]
        for node_id, node_cluster in clusters.items():
            is_near = cluster_id in (None, node_cluster)
            if node_id in places or (not places and is_near):
                yield VersionNeed(version_id, node_id, rank)


def _nodes_of_ranks() -> defaultdict[UUID, set[UUID]]:
    """Return the nodes of each run; {} for one with a rank whose node is not known yet."""
    nodes: defaultdict[UUID, set[UUID]] = defaultdict(set)
    unknown: set[UUID] = set()
    ranks = Rank.objects.filter(
        ended_at=None, attempt__run__state__in=states.ACTIVE - states.WAITING
    ).exclude(attempt__state__in=states.TERMINAL)
    for run_id, node_id in ranks.values_list("attempt__run_id", "node_id"):
        if node_id is None:
            unknown.add(run_id)
        else:
            nodes[run_id].add(node_id)
    for run_id in unknown:
        nodes[run_id].clear()
    return nodes


def note_use(run: Run) -> None:
    """Note that the nodes of a run that ends used its versions until now."""
    nodes = Rank.objects.filter(attempt__run=run, node__isnull=False).values("node")
    records = CacheRecord.objects.filter(node__in=nodes, version__in=run.inputs.values("version"))
    records.update(used_at=clock.now())
