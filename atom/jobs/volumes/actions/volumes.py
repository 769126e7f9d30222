"""Inputs of runs as volumes of their pods: the cluster and the records say whose pod it is.

A pod's author chooses the attributes of an inline volume, so none of them is believed.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any
from uuid import UUID

import structlog

from atom.cache.agents.actions.volumes import OpenVolume, VolumeOrder, open_volume
from atom.cache.errors import ClusterAway
from atom.cache.models import NodeAgent
from atom.clusters.engines.documents import rows, text
from atom.clusters.kubernetes.pod_identity import read_pod
from atom.clusters.registration.actions.registering import open_cluster
from atom.jobs.errors import VolumeRefused
from atom.jobs.event_kinds import EventKind
from atom.jobs.events import record
from atom.jobs.executors.kubernetes.paths import AWAY
from atom.jobs.models import Placement, RunInput
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)


@dataclass(frozen=True, slots=True)
class VolumeClaim:
    """A pod's wish for an input of its run, as the driver of its node tells it."""

    volume: str
    version: UUID
    input: str
    mode: str
    namespace: str
    pod: str
    pod_uid: str


def open_input(agent: NodeAgent, claim: VolumeClaim) -> OpenVolume:
    """Open an input of the run whose pod asks.

    Raises VolumeRefused, ClusterAway, and what `open_volume` raises.
    """
    placement = _placement_of(agent, claim)
    source = _input_of(placement, claim)
    order = VolumeOrder(
        volume=claim.volume,
        version=source.version,
        selector=source.selector,
        mode=claim.mode,
        namespace=claim.namespace,
        pod=claim.pod,
        pod_uid=claim.pod_uid,
    )
    volume = open_volume(agent, order, placement.run.created_by)
    if volume.is_new:
        _tell(placement, volume)
    return volume


def _tell(placement: Placement, volume: OpenVolume) -> None:
    """Say in the run's timeline how much of an input the node of a pod has."""
    row, version = volume.row, volume.row.version
    data: dict[str, Any] = {
        "dataset": f"{version.dataset.name}@{version.ref}",
        "node": row.node.name,
        "present": row.packs_present,
        "total": row.packs_total,
    }
    text = "{dataset} is a volume on {node}, which has {present} of its {total} packs."
    record(placement.run, EventKind.VOLUME, text.format(**data), **data)


def _placement_of(agent: NodeAgent, claim: VolumeClaim) -> Placement:
    """Return the placement whose Job made the pod. Raises VolumeRefused, ClusterAway."""
    cluster = agent.node.cluster
    open_here = Placement.objects.select_related("run__created_by", "run__project").filter(
        cluster=cluster, namespace=claim.namespace, ended_at=None
    )
    # Nothing is asked about namespaces that have no run.
    if not open_here.exists():
        raise _refused(claim, "namespace")
    try:
        with open_cluster(cluster) as api:
            pod = read_pod(api, claim.namespace, claim.pod)
    except AWAY as error:
        raise ClusterAway from error
    if pod is None or text(pod, "metadata", "uid") != claim.pod_uid:
        raise _refused(claim, "pod")
    if text(pod, "spec", "nodeName") != agent.node.name:
        raise _refused(claim, "node")
    owners = {
        owner.get("uid")
        for owner in rows(pod, "metadata", "ownerReferences")
        if owner.get("controller")
    }
    placement = next((row for row in open_here.exclude(job_uid="") if row.job_uid in owners), None)
    if placement is None:
        raise _refused(claim, "job")
    return placement


def _input_of(placement: Placement, claim: VolumeClaim) -> RunInput:
    inputs = placement.run.inputs.select_related("version__dataset__project")
    source = inputs.filter(alias=claim.input, version=claim.version).first()
    if source is None or source.version.dataset.project_id != placement.run.project_id:
        raise _refused(claim, "version")
    return source


def _refused(claim: VolumeClaim, why: str) -> VolumeRefused:
    log.warning("volume_refused", namespace=claim.namespace, pod=claim.pod, why=why)
    return VolumeRefused(
        Sentence(
            "jobs.volume_refused",
            "The pod {pod} in {namespace} has no such input in a run.",
            pod=claim.pod[:253],
            namespace=claim.namespace[:63],
        )
    )
