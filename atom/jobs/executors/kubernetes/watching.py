"""Writes down what a cluster says about its placements."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from atom.clusters.kubernetes.listing import read_list
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.jobs import effects
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.observations import placement_of, slim_job, slim_pod
from atom.jobs.executors.kubernetes.orders import installation
from atom.jobs.models import Placement

# Pods that were seen in one Job: each suspension and resumption makes new ones.
_SEEN = 100
JOBS = "/apis/batch/v1/jobs"
PODS = "/api/v1/pods"


def followed(cluster: Cluster) -> list[Placement]:
    """Return the placements of a cluster whose Jobs it has accepted and that are not removed."""
    rows = Placement.objects.filter(cluster=cluster, removed_at=None).exclude(job_uid="")
    return list(rows.order_by("pk"))


def sync_cluster(cluster: Cluster) -> int:
    """Ask a cluster for all that is ours, and write down what it says; return how many changed.

    Raises ClusterFailure and its kin; then nothing was written.
    """
    placements = followed(cluster)
    if not placements:
        return 0
    with open_cluster(cluster) as api:
        jobs = read_list(api, JOBS, slim_job, selector=selector()).objects.values()
        pods = read_list(api, PODS, slim_pod, selector=selector()).objects.values()
    return note(placements, [one.value for one in jobs], [one.value for one in pods], is_whole=True)


def selector() -> str:
    """Return what selects the objects of this installation."""
    return f"{names.INSTALLATION}={installation()}"


def note(
    placements: Iterable[Placement],
    jobs: Iterable[dict[str, Any]],
    pods: Iterable[dict[str, Any]],
    *,
    is_whole: bool,
) -> int:
    """Write what slim objects say about placements; return how many placements changed.

    A Job that was seen before and is not among `jobs` is gone. One that never was seen is gone only
    if the lists are whole and were asked for after the placements had been read (`is_whole`).
    """
    of_job = {str(job["metadata"].get("uid")): job for job in jobs}
    of_placement: dict[str, list[dict[str, Any]]] = {}
    for pod in pods:
        of_placement.setdefault(placement_of(pod), []).append(pod)
    changed = 0
    for placement in placements:
        job = of_job.get(placement.job_uid)
        if job is None and not is_whole and not placement.observed.get("job"):
            continue
        changed += _write(placement, job, of_placement.get(str(placement.pk), []))
    if changed:
        effects.wake()
    return changed


def _write(placement: Placement, job: dict[str, Any] | None, pods: list[dict[str, Any]]) -> bool:
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
    if observed == placement.observed:
        return False
    placement.observed, placement.observed_at = observed, clock.now()
    placement.save(update_fields=["observed", "observed_at", "updated_at"])
    return True
