"""Writes down what a cluster says about its placements."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.jobs import effects
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.observations import slim_job, slim_pod
from atom.jobs.executors.kubernetes.orders import installation
from atom.jobs.models import Placement

# Pods that were seen in one Job: each suspension and resumption makes new ones.
_SEEN = 100
PAGE = 500


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
        jobs = list(listed(api, "/apis/batch/v1/jobs"))
        pods = list(listed(api, "/api/v1/pods"))
    return note(placements, jobs, pods)


def listed(api: ClusterConnection, path: str) -> Iterator[dict[str, Any]]:
    """Yield all objects of this installation at a path, page by page. Raises ClusterFailure."""
    query: dict[str, str | int] = {
        "labelSelector": f"{names.INSTALLATION}={installation()}",
        "limit": PAGE,
    }
    while True:
        body = api.get(path, query).body
        yield from body.get("items") or ()
        going_on = (body.get("metadata") or {}).get("continue")
        if not going_on:
            return
        query["continue"] = going_on


def note(
    placements: Iterable[Placement],
    jobs: Iterable[Mapping[str, Any]],
    pods: Iterable[Mapping[str, Any]],
) -> int:
    """Write what whole lists of a cluster's objects say; return how many placements changed.

    The placements must have been read before the lists were asked for: a Job that is in none of the
    lists is gone.
    """
    of_job = {str(job["metadata"].get("uid")): job for job in jobs}
    of_placement: dict[str, list[dict[str, Any]]] = {}
    for pod in pods:
        owner = (pod["metadata"].get("labels") or {}).get(names.PLACEMENT, "")
        of_placement.setdefault(owner, []).append(slim_pod(pod))
    changed = 0
    for placement in placements:
        job, own = of_job.get(placement.job_uid), of_placement.get(str(placement.pk), [])
        changed += _write(placement, None if job is None else slim_job(job), own)
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
