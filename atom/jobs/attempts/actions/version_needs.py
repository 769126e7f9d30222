"""Which versions runs need on nodes of clusters, for the eviction of caches."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator
from uuid import UUID

from atom.cache.needs import NeedRank, VersionNeed
from atom.jobs import states
from atom.jobs.models import Rank, RunInput


def needs_of_runs(node_ids: Collection[UUID]) -> Iterator[VersionNeed]:
    """Yield what runs need: a queued run on each node, one that runs on the nodes of its ranks.

    A run whose nodes are not known yet needs its data on each node.
    """
    nodes: dict[UUID, set[UUID | None]] = defaultdict(set)
    ranks = Rank.objects.filter(
        ended_at=None, attempt__run__state__in=states.ACTIVE - states.WAITING
    ).exclude(attempt__state__in=states.TERMINAL)
    for run_id, node_id in ranks.values_list("attempt__run_id", "node_id"):
        nodes[run_id].add(node_id)
    inputs = RunInput.objects.filter(
        run__origin=states.EXECUTED, run__state__in=states.ACTIVE
    ).values_list("run_id", "run__state", "version_id")
    for run_id, state, version_id in inputs:
        if state in states.WAITING:
            yield VersionNeed(version_id, None, NeedRank.QUEUED)
            continue
        places = nodes[run_id] or {None}
        for node_id in {None} if None in places else places:
            if node_id is None or node_id in node_ids:
                yield VersionNeed(version_id, node_id, NeedRank.RUNNING)
