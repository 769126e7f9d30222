"""Whether a cluster has the PriorityClass of its profile: without it no pod of a run is created."""

from __future__ import annotations

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterForbids
from atom.clusters.registration.engines.findings import Finding
from atom_sdk.sentences import Sentence

_CODE = "priority_class"
_NOT_FOUND = 404


def check_priority_class(cluster: ClusterConnection, name: str) -> Finding:
    """Return whether the cluster has a PriorityClass of this name. Raises ClusterFailure."""
    try:
        found = cluster.get(f"/apis/scheduling.k8s.io/v1/priorityclasses/{name}").body
    except ClusterForbids as refused:
        said = Sentence(
            "clusters.priority_class_unknown",
            "The account may not read the PriorityClass {name}: {reason}",
            name=name,
            reason=refused.detail,
        )
        return Finding(_CODE, "warn", said)
    except ClusterFails as error:
        if error.status_code != _NOT_FOUND:
            raise
        said = Sentence(
            "clusters.priority_class_missing",
            "The cluster has no PriorityClass {name}: it would refuse the pods of runs. Create it, "
            "or name another one in the profile.",
            name=name,
        )
        return Finding(_CODE, "fail", said)
    value = found.get("value")
    said = Sentence(
        "clusters.priority_class_found",
        "Runs have the PriorityClass {name}, {value}.",
        name=name,
        value=value if type(value) is int else 0,
    )
    return Finding(_CODE, "ok", said)
