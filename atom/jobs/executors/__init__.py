"""Ways of running an attempt, one for each kind of cluster; no other part asks for the kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from uuid import UUID

from django.conf import settings

from atom.clusters.actions import LOCAL
from atom.clusters.kubernetes import KIND as KUBERNETES
from atom.clusters.models import Cluster, Node, NodeQuerySet
from atom.jobs.executors.base import Environments, Executor
from atom.jobs.executors.kubernetes.environments import ClusterEnvironments
from atom.jobs.executors.kubernetes.executor import KubernetesExecutor
from atom.jobs.executors.local.environments import LocalEnvironments
from atom.jobs.executors.local.executor import LocalExecutor
from atom.jobs.models import Attempt
from atom.jobs.runtimes.actions import cluster_builds


def executor_of(attempt: Attempt) -> Executor:
    """Return what runs the attempt; `attempt.cluster` should be fetched already."""
    return local_executor() if attempt.cluster is None else executor_in(attempt.cluster)


def executor_in(cluster: Cluster) -> Executor:
    """Return what runs attempts in a cluster."""
    return _BY_KIND[cluster.kind]()


def environments_in(cluster: Cluster | None) -> Environments:
    """Return the environments of runs in a cluster, of Atom's own machines without one."""
    if cluster is None or cluster.kind == LOCAL:
        return LocalEnvironments()
    return _ENVIRONMENTS[cluster.kind](cluster)


def advance_builds() -> None:
    """Take the next step of each build of an environment in a cluster."""
    for build in cluster_builds.open_builds():
        environments_in(build.cluster).advance(build)


def start_build(build_id: UUID) -> None:
    """Ask a cluster for the Job of a build that is not over."""
    build = cluster_builds.open_builds().select_related("project").filter(pk=build_id).first()
    if build is not None:
        environments_in(build.cluster).start(build)


def nodes_for_runs() -> NodeQuerySet:
    """Return the nodes whose slots Atom itself gives out."""
    return Node.objects.filter(cluster__kind=LOCAL)


def local_executor() -> LocalExecutor:
    """Return the executor of this machine; it keeps everything below ATOM_HOME."""
    return LocalExecutor(Path(settings.ATOM_HOME))


_BY_KIND: dict[str, Callable[[], Executor]] = {
    LOCAL: local_executor,
    KUBERNETES: KubernetesExecutor,
}
_ENVIRONMENTS: dict[str, Callable[[Cluster], Environments]] = {KUBERNETES: ClusterEnvironments}
