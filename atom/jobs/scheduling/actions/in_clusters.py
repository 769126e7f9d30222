"""Placement of runs in registered clusters, which find a node for each pod by themselves."""

from __future__ import annotations

from typing import Any
from uuid import UUID

from atom.clusters.models import Cluster
from atom.clusters.registration.actions.stored_profiles import read_profile
from atom.clusters.registration.engines.profiles import pod_profile_of
from atom.core import clock
from atom.jobs import states
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record, transition
from atom.jobs.executors import executor_in
from atom.jobs.models import Placement, Run
from atom.jobs.scheduling.actions.attempts_begun import begin_attempt, note_resumption
from atom.jobs.scheduling.engines.placement import PlacementCode

# Runs that wait for their cluster are looked at so many at a time.
AT_ONCE = 200


def waiting_for_clusters() -> list[UUID]:
    """Return the queued runs whose cluster takes jobs, by priority and age."""
    queued = Run.objects.filter(state=states.QUEUED, cluster__state="ready")
    found = queued.order_by("-priority", "queued_at", "pk").values_list("pk", flat=True)
    return list(found[:AT_ONCE])


def place_in_cluster(run: Run, cluster: Cluster) -> bool:
    """Begin an attempt in the run's cluster; False while the cluster takes no jobs.

    The caller holds the run's row lock. An open placement goes on: its Job was suspended, or has a
    new pod.
    """
    placement = _open_placement(run)
    if placement is None and cluster.state != "ready":
        return False
    if placement is None:
        placement = Placement.objects.create(
            run=run,
            cluster=cluster,
            namespace=executor_in(cluster).namespace_of(cluster, run.project),
            pod_profile=_profile_of(run, cluster),
        )
    text = f"{cluster.name} is the chosen cluster. It chooses the machine itself."
    attempt = begin_attempt(run, cluster=cluster, placed_in=placement, placement={"why": text})
    params = {"cluster": cluster.name}
    record(run, EventKind.PLACED, text, attempt, code=PlacementCode.CHOSEN_CLUSTER, params=params)
    if off := placement.pod_profile.get("rdma_off"):
        record(run, EventKind.RDMA_OFF, off["text"], attempt, sentence=off)
    note_resumption(run, attempt)
    transition(run, states.WARMING, attempt)
    return True


def _profile_of(run: Run, cluster: Cluster) -> dict[str, Any]:
    profile = read_profile(cluster)
    return pod_profile_of(profile, has_accelerators=run.gpus > 0).as_json()


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
