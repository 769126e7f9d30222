"""Ways of running an attempt, one for each kind of cluster; no other part asks for the kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from atom.clusters.actions import LOCAL
from atom.clusters.kubernetes import KIND as KUBERNETES
from atom.clusters.models import Cluster, Node, NodeQuerySet
from atom.jobs.executors.base import Executor
from atom.jobs.executors.kubernetes.executor import KubernetesExecutor
from atom.jobs.executors.local.executor import LocalExecutor
from atom.jobs.models import Attempt


def executor_of(attempt: Attempt) -> Executor:
    """Return what runs the attempt; `attempt.cluster` should be fetched already."""
    return local_executor() if attempt.cluster is None else executor_in(attempt.cluster)


def executor_in(cluster: Cluster) -> Executor:
    """Return what runs attempts in a cluster."""
    return _BY_KIND[cluster.kind]()


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
