"""Placement of runs in registered clusters, which find a node for each pod by themselves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from django.db.models import Exists, OuterRef, Q, QuerySet

from atom.cache.agents.actions.volumes import has_volumes_everywhere
from atom.clusters.models import Cluster, NodeAccelerator
from atom.clusters.queues.actions.queues import queue_of
from atom.clusters.queues.engines.choices import QueueChoice
from atom.clusters.registration.actions.stored_profiles import read_profile
from atom.clusters.registration.engines.profiles import pod_profile_of
from atom.core import clock
from atom.core.prepared_queries import Prepared
from atom.jobs import states
from atom.jobs.attempts.actions.resumption import note_resumption
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record, transition
from atom.jobs.executors import executor_in
from atom.jobs.models import Placement, Run
from atom.jobs.scheduling.actions.attempts_begun import begin_attempt
from atom.jobs.scheduling.actions.cluster_capacities import catalog_in
from atom.jobs.scheduling.actions.data_gates import begin_gate
from atom.jobs.scheduling.actions.data_places import nodes_with_data
from atom.jobs.scheduling.actions.queue_gates import hold_in_queue
from atom.jobs.scheduling.actions.start_estimates import way_in
from atom.jobs.scheduling.engines.accelerators import Selector
from atom.jobs.scheduling.engines.placement import Demand, PlacementCode
from atom_sdk.sentences import Sentence

# Runs that wait for their cluster are looked at so many at a time.
AT_ONCE = 200


def waiting_for_clusters() -> list[UUID]:
    """Return the queued runs whose cluster takes jobs and has their kind, by priority and age.

    Runs that Atom places are left out unless they go on in their Job: a round chooses for those.
    Runs that wait for a kind that left their cluster must not keep the others waiting.
    """
    return [run.pk for run in _WAITING.rows()]


def _waiting() -> QuerySet[Run]:
    there = NodeAccelerator.objects.filter(node__cluster=OuterRef("cluster")).exclude(resource="")
    has_any = Q(accelerator="") & Exists(there)
    has_kind = Exists(there.filter(kind=OuterRef("accelerator")))
    goes_on = Exists(Placement.objects.filter(run=OuterRef("pk"), ended_at=None))
    queued = Run.objects.filter(
        Q(gpus=0) | has_any | has_kind | goes_on,
        Q(auto_request__isnull=True) | goes_on,
        state=states.QUEUED,
        cluster__state="ready",
    )
    return queued.order_by("-priority", "queued_at", "pk").only("pk")[:AT_ONCE]


_WAITING = Prepared(_waiting)


def place_in_cluster(run: Run, cluster: Cluster) -> bool:
    """Begin an attempt in the run's cluster; False while the cluster takes no job of its kind.

    The caller holds the run's row lock. An open placement goes on: its Job was suspended, or has a
    new pod.
    """
    placement = _open_placement(run)
    if placement is None and cluster.state != "ready":
        return False
    way = None
    if placement is None:
        selector = _selector_of(run, cluster)
        if selector is None:
            return False
        queue = queue_of(cluster, run.project.slug) or QueueChoice()
        placement = Placement.objects.create(
            run=run,
            cluster=cluster,
            namespace=executor_in(cluster).namespace_of(cluster, run.project),
            pod_profile=_profile_of(run, cluster),
            accelerators={selector.resource: run.gpus} if run.gpus else {},
            node_selector=selector.node_selector,
            preferred_nodes=nodes_with_data(run, cluster),
            has_volumes=has_volumes_everywhere(cluster),
            queue=queue.local_name,
            cluster_queue=queue.cluster_queue,
        )
        # Before the attempt, which takes room itself. A Job that goes on waits for nothing.
        way = way_in(run, cluster) if run.inputs.exists() else None
        if way is not None and way[0].share:
            hold_in_queue(placement, cluster)
    text = f"{cluster.name} is the chosen cluster. It chooses the machine itself."
    attempt = begin_attempt(run, cluster=cluster, placed_in=placement, placement={"why": text})
    params = {"cluster": cluster.name}
    record(run, EventKind.PLACED, text, attempt, code=PlacementCode.CHOSEN_CLUSTER, params=params)
    if off := placement.pod_profile.get("rdma_off"):
        record(run, EventKind.RDMA_OFF, off["text"], attempt, sentence=off)
    if way is not None:
        begin_gate(run, attempt, *way)
    note_resumption(run, attempt)
    transition(run, states.WARMING, attempt)
    return True


def _profile_of(run: Run, cluster: Cluster) -> dict[str, Any]:
    profile = read_profile(cluster)
    return pod_profile_of(profile, has_accelerators=run.gpus > 0).as_json()


def missing_accelerators(run: Run, cluster: Cluster) -> Sentence | None:
    """Return why a registered cluster has not the accelerators of a run now, None if it has."""
    if _selector_of(run, cluster) is not None:
        return None
    demand = _demand_of(run)
    return catalog_in(cluster).refusal_of(cluster.name, demand) or Sentence(
        "jobs.no_accelerators",
        "Cluster {cluster} has no accelerators that a run can ask for.",
        cluster=cluster.name,
    )


def _selector_of(run: Run, cluster: Cluster) -> Selector | None:
    """Return how the run's pods ask for accelerators; None if the cluster has none of them now."""
    if not run.gpus:
        return Selector("")
    return catalog_in(cluster).selector_for(_demand_of(run))


def _demand_of(run: Run) -> Demand:
    return Demand(run.cpus, run.memory_bytes, run.gpus, run.accelerator)


def _open_placement(run: Run) -> Placement | None:
    """Return the placement in which the next attempt can run; others that are open end here."""
    placement = run.placements.filter(ended_at=None).first()
    if placement is None:
        return None
    if executor_in(placement.cluster).goes_on(placement):
        return placement
    placement.ended_at = clock.now()
    placement.save(update_fields=["ended_at", "updated_at"])
    return None
