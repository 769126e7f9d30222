"""Whether a cluster has the queues of Kueue that runs are to use, and what these cover."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFailure, ClusterForbids
from atom.clusters.registration.engines.cluster_queues import (
    ALWAYS,
    INACTIVE,
    MISSING,
    UNKNOWN,
    read_cluster_queues,
)
from atom.clusters.registration.engines.findings import Finding
from atom_sdk.sentences import Sentence

CODE = "queues"
GATES = "kueue.x-k8s.io/admission-gated-by"
_QUEUE = "kueue.x-k8s.io/queue-name"
_NO_GATE_NAME = "Not a name!"
_MAX_SHOWN = 20


def check_queues(
    cluster: ClusterConnection,
    queues: Mapping[str, Collection[str]],
    documents: Collection[Any] | None,
    accelerators: Collection[str],
    namespace: str,
) -> tuple[Finding, dict[str, Any]]:
    """Return the finding about the queues of a cluster with Kueue, and the facts to keep.

    `queues` maps the names of ClusterQueues to resources that they need not cover. `documents` are
    all ClusterQueues, None if the account may not read them. `accelerators` are the resources that
    nodes have. Raises ClusterFailure.
    """
    found = read_cluster_queues(queues, documents)
    facts = {"gates": probe_gates(cluster, namespace), "cluster_queues": found}
    asked = {*ALWAYS, *accelerators}
    lacking = {
        name: sorted(asked - set(row["covered"]) - set(queues[name]))
        for name, row in found.items()
        if row["covered"] is not None
    }
    said = _worst(found, {name: names for name, names in lacking.items() if names})
    evidence = {"queues": found, "gates": facts["gates"]}
    if said is not None:
        return Finding(CODE, "warn", said, evidence), facts
    ready = Sentence(
        "clusters.queues_ready",
        "Runs use queues of Kueue: {queues}.",
        queues=_listed(found),
    )
    return Finding(CODE, "ok", ready, evidence), facts


def without_kueue(queues: Collection[str]) -> Finding:
    """Return that runs are to use queues which nobody admits: their Jobs would never start."""
    said = Sentence(
        "clusters.queues_without_kueue",
        "Runs are to use queues of Kueue ({queues}), and the cluster serves no version of Kueue "
        "that Atom knows (v1beta2, v1beta1). Install Kueue, or take the queues away.",
        queues=_listed(queues),
    )
    return Finding(CODE, "fail", said)


def probe_gates(cluster: ClusterConnection, namespace: str) -> bool | None:
    """Return whether Kueue knows admission gates (0.19 or newer); None if it does not say.

    A dry run asks for a Job whose gate has a wrong name: only a Kueue that reads gates refuses it.
    """
    path = f"/apis/batch/v1/namespaces/{namespace}/jobs?dryRun=All"
    try:
        cluster.post(path, _wrongly_gated_job())
    except ClusterForbids as refused:
        return True if GATES.partition("/")[2] in str(refused.detail) else None
    except ClusterFailure:
        return None
    return False


def _wrongly_gated_job() -> dict[str, Any]:
    container = {"name": "main", "image": "none", "command": ["true"]}
    return {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "metadata": {
            "name": "atom-gate-probe",
            "labels": {_QUEUE: "atom-gate-probe"},
            "annotations": {GATES: _NO_GATE_NAME},
        },
        "spec": {
            "suspend": True,
            "template": {"spec": {"restartPolicy": "Never", "containers": [container]}},
        },
    }


def _worst(
    found: Mapping[str, Mapping[str, Any]], lacking: Mapping[str, list[str]]
) -> Sentence | None:
    """Return the gravest of what is wrong with the queues, None if nothing is."""
    in_state = {
        state: [name for name, row in found.items() if row["state"] == state]
        for state in (MISSING, INACTIVE, UNKNOWN)
    }
    if missing := in_state[MISSING]:
        return Sentence(
            "clusters.queues_missing",
            "The cluster has no ClusterQueue {queues}: it refuses runs that use it. Create it, or "
            "name another one.",
            queues=_listed(missing),
        )
    if inactive := in_state[INACTIVE]:
        return Sentence(
            "clusters.queue_inactive",
            "The ClusterQueue {queue} admits nothing now: {said}",
            queue=inactive[0],
            said=found[inactive[0]]["reason"],
        )
    if in_state[UNKNOWN]:
        return Sentence(
            "clusters.queues_unknown",
            "The account may not read ClusterQueues: it is not known whether {queues} can take "
            "runs.",
            queues=_listed(in_state[UNKNOWN]),
        )
    if lacking:
        name, resources = next(iter(sorted(lacking.items())))
        return Sentence(
            "clusters.queue_lacks",
            "The ClusterQueue {queue} has no quota of {resources}: Kueue never starts runs that "
            "ask for these. Add them to the queue, or list them as not counted.",
            queue=name,
            resources=", ".join(resources),
        )
    return None


def _listed(names: Collection[str]) -> str:
    return ", ".join(sorted(names)[:_MAX_SHOWN])
