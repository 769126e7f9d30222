"""The ResourceQuota of a project's namespace, which the cluster enforces."""

from __future__ import annotations

from typing import Any
from uuid import UUID

import structlog

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterForbids
from atom.clusters.kubernetes.pod_identity import installation
from atom.clusters.models import Cluster
from atom.clusters.quotas.actions.quotas import quota_of
from atom.clusters.registration.actions.registering import open_cluster
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.models import EnvironmentBuild, Placement

log = structlog.get_logger(__name__)

_NOT_FOUND = 404


def sync_quota(api: ClusterConnection, cluster: Cluster, project: str, namespace: str) -> None:
    """Make the ResourceQuota what the project's quota is now; without limits it goes.

    The namespace is the project's own. Raises ClusterFailure.
    """
    hard = quota_of(cluster, project).hard()
    path = f"{path_of('ResourceQuota', namespace)}/{names.QUOTA}"
    if not hard:
        _delete(api, path)
        return
    api.apply(path, _quota(namespace, project, hard), names.MANAGER, force=True)


def sync_open_quotas(cluster_id: UUID) -> None:
    """Write changed quotas to the namespaces in which Jobs are open; others get them at a start."""
    cluster = Cluster.objects.present().filter(pk=cluster_id).first()
    if cluster is None:
        return
    placements = Placement.objects.filter(cluster=cluster, ended_at=None).exclude(job_uid="")
    builds = EnvironmentBuild.objects.filter(cluster=cluster, ended_at=None).exclude(job_uid="")
    places = {
        *placements.values_list("namespace", "run__project__slug"),
        *builds.values_list("namespace", "project__slug"),
    }
    try:
        with open_cluster(cluster) as api:
            for namespace, project in sorted(places):
                sync_quota(api, cluster, project, namespace)
    except (*AWAY, ClusterFails) as error:
        log.info("quotas_not_written", cluster=cluster.name, why=sentence_of(error))


def _quota(namespace: str, project: str, hard: dict[str, str]) -> dict[str, Any]:
    return {
        "apiVersion": "v1",
        "kind": "ResourceQuota",
        "metadata": {
            "name": names.QUOTA,
            "namespace": namespace,
            "labels": {
                names.MANAGED_BY: names.MANAGER,
                names.INSTALLATION: installation(),
                names.PROJECT: project,
            },
        },
        "spec": {"hard": hard},
    }


def _delete(api: ClusterConnection, path: str) -> None:
    try:
        api.delete(path)
    except ClusterForbids:
        return  # without the right, no quota of ours was ever made
    except ClusterFails as error:
        if error.status_code != _NOT_FOUND:
            raise
