"""Writes down what a cluster says about its placements."""

from __future__ import annotations

from collections.abc import Collection, Container, Iterable, Mapping, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from functools import partial
from typing import Any
from uuid import UUID

from django.db.models import Q, QuerySet
from django.db.models.functions import Now

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterForbids
from atom.clusters.kubernetes.listing import read_list
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.core.prepared_queries import Prepared
from atom.jobs import effects
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.node_states import (
    NodeState,
    nodes_of,
    observed_nodes,
    slim_node,
)
from atom.jobs.executors.kubernetes.engines.observations import (
    may_end,
    placement_of,
    slim_job,
    slim_pod,
)
from atom.jobs.executors.kubernetes.engines.phases import phase_of
from atom.jobs.executors.kubernetes.engines.wait_objects import may_wait, wait_objects_of
from atom.jobs.executors.kubernetes.unknown_jobs import list_unknown_jobs
from atom.jobs.executors.kubernetes.waits import read_waits
from atom.jobs.models import ClusterJob, EnvironmentBuild, Placement

# Pods that were seen in one Job: each suspension and resumption makes new ones.
_SEEN = 100
JOBS = "/apis/batch/v1/jobs"
PODS = "/api/v1/pods"
NODES = "/api/v1/nodes"
# A cluster that was not heard for longer proves nothing about its nodes. Its watcher notes each
# answer of the lease, and the check asks it about once a minute.
ANSWERS_WITHIN = timedelta(seconds=60)
_NOTED_EVERY = timedelta(seconds=10)
_NOT_FOUND = 404
# The parts of an observation that are read for waiting placements alone.
_OF_WAITS = ("events", "workload")


def followed(cluster: Cluster, ids: Collection[str] | None = None) -> list[ClusterJob]:
    """Return the rows of a cluster whose Jobs it has accepted and that are not removed.

    `ids`: those of them alone.
    """
    if ids is None:
        return [row for kind in _FOLLOWED for row in kind.rows(cluster.pk)]
    some = uuids(ids)
    return [row for kind in _KINDS for row in _open_ones(kind, cluster.pk).filter(pk__in=some)]


def _open_ones(kind: type[ClusterJob], cluster: UUID) -> QuerySet[ClusterJob]:
    rows = kind._default_manager.filter(cluster=cluster, removed_at=None)
    return rows.exclude(job_uid="").order_by("pk")


_KINDS: tuple[type[ClusterJob], ...] = (Placement, EnvironmentBuild)
_FOLLOWED = [Prepared(partial(_open_ones, kind), UUID) for kind in _KINDS]


def answers_now(cluster: Cluster, now: datetime) -> bool:
    """Return whether the cluster was heard a moment ago."""
    heard_at = cluster.heartbeat_at
    return heard_at is not None and abs(now - heard_at) <= ANSWERS_WITHIN


def note_answer(cluster: Cluster) -> None:
    """Note that the cluster answers, every few seconds at most."""
    now = clock.now()
    due = Q(heartbeat_at=None) | Q(heartbeat_at__lt=now - _NOTED_EVERY)
    Cluster.objects.filter(due, pk=cluster.pk).update(heartbeat_at=now)


def sync_cluster(cluster: Cluster, nodes: Mapping[str, NodeState] | None = None) -> int:
    """Ask a cluster for all that is ours, and write down what it says; return how many changed.

    Jobs that belong to no placement are listed as unknown. `nodes` are those that a watch knows;
    others are asked for. Raises ClusterFailure and its kin; then nothing was written.
    """
    placements = followed(cluster)
    with open_cluster(cluster) as api:
        jobs = read_list(api, JOBS, slim_job, selector=selector()).objects
        found = read_list(api, PODS, slim_pod, selector=selector()).objects.values()
        pods = [one.value for one in found]
        known = read_nodes(api, nodes_of(pods), nodes or {})
        note_answer(cluster)
        list_unknown_jobs(cluster, jobs, pods)
        seen = [one.value for one in jobs.values()]
        changed = note(placements, seen, pods, nodes=known, is_whole=True)
        note_waits(api, cluster, [one for one in placements if may_wait(one.observed)])
    return changed


def waiting_namespaces(cluster: Cluster) -> list[str]:
    """Return the namespaces in which a placement of the cluster waits."""
    return sorted({one.namespace for one in followed(cluster) if may_wait(one.observed)})


def note_waits(api: ClusterConnection, cluster: Cluster, placements: Sequence[ClusterJob]) -> int:
    """Write why placements wait, as their namespaces say it now; return how many changed.

    Raises ClusterFailure.
    """
    if not placements:
        return 0
    waits = read_waits(api, cluster, {one.namespace for one in placements})
    changed, now = 0, clock.now()
    for placement in placements:
        observed = {k: v for k, v in placement.observed.items() if k not in _OF_WAITS}
        observed |= wait_objects_of(observed, waits.events, waits.workloads)
        changed += _save(placement, observed, now)
    return changed


def read_nodes(
    api: ClusterConnection, names_: Iterable[str], known: Mapping[str, NodeState]
) -> dict[str, NodeState]:
    """Return the states of nodes; of those that are not known, each is asked for.

    An account that may not read nodes learns nothing about them. Raises ClusterFailure.
    """
    states: dict[str, NodeState] = {}
    for name in names_:
        if name in known:
            states[name] = known[name]
            continue
        try:
            states[name] = slim_node(api.get(f"{NODES}/{name}").body)
        except ClusterForbids:
            return {**known, **states}
        except ClusterFails as error:
            if error.status_code != _NOT_FOUND:
                raise
            states[name] = NodeState.GONE
    return states


def uuids(texts: Iterable[str]) -> list[UUID]:
    """Return the ids among texts that somebody may have written by hand into a label."""
    found = []
    for text in texts:
        with suppress(ValueError):
            found.append(UUID(text))
    return found


def selector() -> str:
    """Return what selects the objects of this installation."""
    return f"{names.INSTALLATION}={installation()}"


def note(
    placements: Iterable[ClusterJob],
    jobs: Iterable[dict[str, Any]],
    pods: Iterable[dict[str, Any]],
    *,
    nodes: Mapping[str, NodeState],
    is_whole: bool,
) -> int:
    """Write what slim objects say about placements; return how many placements changed.

    `nodes` has the state of each node that is known. Raises ClusterFailure and its kin if a Job is
    lost and its cluster does not confirm that it is the one that was registered.

    A Job that was seen before and is not among `jobs` is gone. One that never was seen is gone only
    if the lists are whole and were asked for after the placements had been read (`is_whole`).
    """
    of_job = {str(job["metadata"].get("uid")): job for job in jobs}
    of_placement: dict[str, list[dict[str, Any]]] = {}
    for pod in pods:
        of_placement.setdefault(placement_of(pod), []).append(pod)
    placements = [
        one for one in placements if is_whole or one.job_uid in of_job or one.observed.get("job")
    ]
    if not placements:
        return 0
    _confirm_loss(placements, of_job.keys())
    changed, to_look, now = 0, [], clock.now()
    for placement in placements:
        before = placement.observed
        job = of_job.get(placement.job_uid)
        own = of_placement.get(str(placement.pk), [])
        changed += _write(placement, job, own, nodes, now)
        if may_end(placement.observed) != may_end(before):
            to_look.append(placement.pk)
    if to_look:
        Placement.objects.filter(pk__in=to_look).update(looked_at=None)
        effects.wake()
    return changed


def _confirm_loss(placements: Iterable[ClusterJob], jobs: Container[str]) -> None:
    """Ask which cluster it is before Jobs count as gone. Raises ClusterFailure and its kin.

    A watch may go on at a server that took the place of the cluster, and that has none of our Jobs.
    """
    lost = [one for one in placements if one.job_uid not in jobs and not one.observed.get("gone")]
    if lost:
        open_cluster(lost[0].cluster).close()


def _write(
    placement: ClusterJob,
    job: dict[str, Any] | None,
    pods: list[dict[str, Any]],
    nodes: Mapping[str, NodeState],
    now: datetime,
) -> bool:
    pods = sorted(pods, key=lambda pod: str(pod["metadata"].get("name")))
    uids = [str(pod["metadata"].get("uid")) for pod in pods]
    seen = list(dict.fromkeys([*placement.observed.get("seen", ()), *uids]))[-_SEEN:]
    observed: dict[str, Any] = {"pods": pods, "seen": seen}
    if job is None:
        # The last that was seen of it says how it ended.
        observed |= {"gone": True, "job": placement.observed.get("job") or {}}
        observed["pods"] = pods or placement.observed.get("pods") or []
    else:
        observed["job"] = job
    observed |= {key: placement.observed[key] for key in _OF_WAITS if key in placement.observed}
    observed["nodes"] = observed_nodes(placement.observed, observed["pods"], nodes, now)
    return _save(placement, observed, now)


def _save(placement: ClusterJob, observed: dict[str, Any], now: datetime) -> bool:
    observed["phase"] = str(phase_of(observed))
    if observed == placement.observed:
        return False
    placement.observed, placement.observed_at = observed, now
    row = type(placement)._default_manager.filter(pk=placement.pk)
    row.update(observed=observed, observed_at=now, updated_at=Now())
    return True
