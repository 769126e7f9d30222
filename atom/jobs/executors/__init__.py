"""Ways of running an attempt, one for each kind of cluster; no other part asks for the kind."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from django.conf import settings

from atom.clusters.actions import LOCAL
from atom.clusters.models import Node, NodeQuerySet
from atom.jobs.executors.base import Executor
from atom.jobs.executors.local.executor import LocalExecutor
from atom.jobs.models import Attempt


def executor_of(attempt: Attempt) -> Executor:
    """Return what runs the attempt; `attempt.cluster` should be fetched already."""
    kind = LOCAL if attempt.cluster is None else attempt.cluster.kind
    return _BY_KIND[kind]()


def nodes_for_runs() -> NodeQuerySet:
    """Return the nodes of clusters that have an executor."""
    return Node.objects.filter(cluster__kind__in=_BY_KIND)


def local_executor() -> LocalExecutor:
    """Return the executor of this machine; it keeps everything below ATOM_HOME."""
    return LocalExecutor(Path(settings.ATOM_HOME))


_BY_KIND: dict[str, Callable[[], Executor]] = {LOCAL: local_executor}
