"""How long a run would wait for its data and for room, for the choice of its way to start."""

from __future__ import annotations

from dataclasses import replace

from django.conf import settings

from atom.cache.origins import nearest, ways_in
from atom.clusters.models import Cluster
from atom.jobs.models import Run
from atom.jobs.scheduling.actions.cluster_capacities import capacity_of
from atom.jobs.scheduling.actions.data_gates import live_agents
from atom.jobs.scheduling.actions.data_places import held_in, stores_of
from atom.jobs.scheduling.actions.histories import Likeness, waits_in
from atom.jobs.scheduling.engines.estimates import estimate_from
from atom.jobs.scheduling.engines.placement import Demand, Fleet
from atom.jobs.scheduling.engines.start_choice import by_person, choose_way, without_agents
from atom.jobs.start_ways import NOW, StartWay
from atom_sdk.sentences import Sentence


def way_in(run: Run, cluster: Cluster) -> tuple[StartWay, Sentence]:
    """Return the way in which a run that reads data starts in a cluster, and why."""
    if not live_agents(cluster):
        return StartWay(NOW), without_agents(cluster.name)
    if run.start_when:
        return StartWay(run.start_when, run.start_percent), by_person()
    return choose_way(data_s(run, cluster), queue_s(run, cluster))


def data_s(run: Run, cluster: Cluster) -> float | None:
    """Return the seconds until as many nodes as the run has pods have all data; None if unknown.

    The nodes with the most data count; they fetch side by side, so the last one decides.
    """
    versions = {one.version_id: one.version for one in run.inputs.select_related("version")}
    sizes = {pk: version.size_bytes for pk, version in versions.items()}
    held = held_in([cluster.pk], sizes)[cluster.pk]
    sums = {name: sum(part.there_bytes for part in parts.values()) for name, parts in held.items()}
    best = sorted(sums, key=lambda name: (-sums[name], name))
    last = held[best[run.nodes - 1]] if len(best) >= run.nodes else {}
    stores = stores_of(list(versions.values()))
    ways = ways_in([cluster.pk], {name for names in stores.values() for name in names})[cluster.pk]
    seconds = 0.0
    for pk, size in sizes.items():
        missing = size - (last[pk].there_bytes if pk in last else 0)
        first, *others = stores[pk]
        bandwidth = ways[nearest(first, others, ways)].bandwidth
        if missing > 0 and not bandwidth:
            return None
        seconds += missing / bandwidth if missing > 0 and bandwidth else 0.0
    return seconds


def queue_s(run: Run, cluster: Cluster) -> float | None:
    """Return the seconds until the cluster has room for the run; None if unknown."""
    capacity = capacity_of(cluster)
    fleet = Fleet([replace(node, coverage=None) for node in capacity.nodes])
    demands = [*capacity.unplaced, *[_demand_of(run)] * run.nodes]
    if capacity.nodes and all(fleet.choose(demand) is not None for demand in demands):
        return 0.0
    like = Likeness(run.gpus, [run.accelerator], run.nodes)
    waits = waits_in([cluster.pk], like, settings.ATOM_IMAGE_FETCH_S)
    return estimate_from(waits.get((cluster.pk, run.accelerator), [])).p50_s


def _demand_of(run: Run) -> Demand:
    return Demand(run.cpus, run.memory_bytes, run.gpus, run.accelerator)
