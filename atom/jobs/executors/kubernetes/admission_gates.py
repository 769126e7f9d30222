"""The gate that keeps a suspended Job from being admitted until the data of its run is there."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, Final

from atom.clusters.engines.documents import child, text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.manifests import affinity_of
from atom.jobs.executors.kubernetes.orders import is_of
from atom.jobs.executors.kubernetes.paths import path_of
from atom.jobs.models import Placement

_NOT_FOUND, _CONFLICT, _INVALID = 404, 409, 422
# Kueue and the Job controller write the Job's status meanwhile.
_TRIES: Final = 3


def remove_gate(
    api: ClusterConnection, placement: Placement, preferred: Iterable[tuple[str, int]]
) -> None:
    """Take our gate from a placement's Job, and let its pods prefer these nodes; repeatable.

    Gates of others stay. A Job that is gone, or is not ours, has nothing to take away. Raises
    ClusterFailure.
    """
    path = f"{path_of('Job', placement.namespace)}/{placement.job_name}"
    affinity = affinity_of(preferred)
    for left in reversed(range(_TRIES)):
        job = _job_at(api, path)
        if not is_of(placement, job) or text(job, "metadata", "uid") != placement.job_uid:
            return
        gates = gates_of(job)
        if names.DATA_GATE not in gates:
            return
        try:
            api.patch(path, _without_gate(job, gates, affinity))
        except ClusterFails as error:
            if error.status_code == _INVALID and affinity:
                # Its template is fixed once it has started: the preference alone is lost.
                affinity = {}
            elif error.status_code != _CONFLICT or not left:
                raise
        else:
            return


def gates_of(job: object) -> list[str]:
    """Return the names of the gates that keep a Job from being admitted."""
    named = text(child(job, "metadata", "annotations"), names.GATES)
    return [name for part in named.split(",") if (name := part.strip())]


def _job_at(api: ClusterConnection, path: str) -> Any:
    try:
        return api.get(path).body
    except ClusterFails as error:
        if error.status_code == _NOT_FOUND:
            return None
        raise


def _without_gate(job: Any, gates: list[str], affinity: dict[str, Any]) -> dict[str, Any]:
    rest = ",".join(name for name in gates if name != names.DATA_GATE)
    metadata = {
        # A gate that somebody else takes away meanwhile must not come back.
        "resourceVersion": text(job, "metadata", "resourceVersion"),
        "annotations": {names.GATES: rest or None},
    }
    if not affinity or child(job, "spec").get("suspend") is not True:
        return {"metadata": metadata}
    return {"metadata": metadata, "spec": {"template": {"spec": {"affinity": affinity}}}}
