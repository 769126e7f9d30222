"""Removal of what ended placements and builds left in their clusters."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import TypeVar

import structlog
from django.db.models import Q, QuerySet

from atom.clusters.engines.documents import text
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails
from atom.clusters.models import Cluster
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.core.prepared_queries import Prepared
from atom.jobs.executors.kubernetes.orders import is_of
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.models import EnvironmentBuild, Placement

_Row = TypeVar("_Row", Placement, EnvironmentBuild)

log = structlog.get_logger(__name__)

_AT_ONCE = 200
_NOT_FOUND = 404
_GONE = (_NOT_FOUND, 409)


def remove_ended() -> int:
    """Delete the Jobs of ended placements and builds, with their pods; return how many went.

    A cluster that does not answer is asked again the next time.
    """
    ended = sorted(_ended(), key=lambda row: row.cluster_id)
    by_cluster = groupby(ended, key=lambda row: row.cluster)
    return sum(_remove_in(cluster, list(mine)) for cluster, mine in by_cluster)


def _ended() -> Iterator[Placement | EnvironmentBuild]:
    yield from _ENDED_PLACEMENTS.rows()
    yield from _ENDED_BUILDS.rows()


def _in_order(rows: QuerySet[_Row]) -> QuerySet[_Row]:
    return rows.filter(removed_at=None).exclude(ended_at=None).order_by("ended_at")[:_AT_ONCE]


_ENDED_PLACEMENTS = Prepared(lambda: _in_order(Placement.objects.select_related("cluster")))
_ENDED_BUILDS = Prepared(
    lambda: _in_order(EnvironmentBuild.objects.select_related("cluster", "runtime"))
)


def _remove_in(cluster: Cluster, rows: list[Placement | EnvironmentBuild]) -> int:
    """Delete the Jobs of rows of one cluster over one connection, until it fails."""
    removed = 0
    try:
        with open_cluster(cluster) as api:
            for row in rows:
                _remove(api, row)
                done = Q(pk=row.pk, removed_at=None)
                type(row)._default_manager.filter(done).update(removed_at=clock.now())
                removed += 1
    except AWAY as error:
        log.info("jobs_not_removed", cluster=cluster.name, why=sentence_of(error))
    return removed


def _remove(api: ClusterConnection, row: Placement | EnvironmentBuild) -> None:
    """Delete a row's Job unless it is gone, or another. Raises ClusterFailure."""
    path = f"{path_of('Job', row.namespace)}/{row.job_name}"
    try:
        uid = row.job_uid or _uid_of(api, path, row)
        if uid:
            api.delete(path, uid=uid)
    except ClusterFails as error:
        if error.status_code not in _GONE:
            raise


def _uid_of(api: ClusterConnection, path: str, row: Placement | EnvironmentBuild) -> str:
    """Return the uid of a Job whose making was not noted, "" for one that is not ours."""
    job = api.get(path).body
    return text(job, "metadata", "uid") if is_of(row, job) else ""
