"""Reads from a cluster why Jobs wait: events and Kueue's Workloads of their namespaces.

Both are many and change often. So they are read only for namespaces in which a Job waits, a few
pages at most, and not watched.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, Final

import structlog

from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterFails, ClusterForbids
from atom.clusters.models import Cluster
from atom.jobs.executors.kubernetes.engines.wait_objects import slim_event, slim_workload

log = structlog.get_logger(__name__)

Json = dict[str, Any]

KUEUE: Final = "kueue"
_PAGE: Final = 500
_MOST_PAGES: Final = 4


@dataclass(frozen=True, slots=True)
class WaitObjects:
    """Slim events and Workloads of some namespaces."""

    namespaces: frozenset[str] = frozenset()
    events: list[Json] = field(default_factory=list)
    workloads: list[Json] = field(default_factory=list)


def read_waits(api: ClusterConnection, cluster: Cluster, namespaces: Iterable[str]) -> WaitObjects:
    """Return what the namespaces say about their waiting Jobs. Raises ClusterFailure.

    An account that may not read one of the kinds learns nothing from it.
    """
    found = WaitObjects(frozenset(namespaces))
    version = _kueue_version(cluster)
    for namespace in sorted(found.namespaces):
        events = f"/api/v1/namespaces/{namespace}/events"
        found.events.extend(slim_event(one) for one in _items(api, events))
        if version:
            workloads = f"/apis/kueue.x-k8s.io/{version}/namespaces/{namespace}/workloads"
            found.workloads.extend(slim_workload(one) for one in _items(api, workloads))
    return found


def _kueue_version(cluster: Cluster) -> str:
    """Return the version of Kueue's API that the cluster's check has discovered, "" if none."""
    engines = cluster.facts.get("api_groups") or {}
    versions = engines.get(KUEUE) or []
    return str(versions[0]) if versions else ""


def _items(api: ClusterConnection, path: str) -> list[Json]:
    """Return the first items of a list: what is left out explains less, and nothing is lost."""
    found: list[Json] = []
    query: dict[str, str | int] = {"limit": _PAGE}
    for _ in range(_MOST_PAGES):
        try:
            body = api.get(path, query).body
        except ClusterForbids as error:
            log.info("waits_not_read", path=path, why=str(error))
            return found
        except ClusterFails as error:
            # Kueue was removed since the last check, or the list's token expired.
            if error.status_code in (404, 410):
                return found
            raise
        found += [one for one in body.get("items") or () if isinstance(one, dict)]
        following = (body.get("metadata") or {}).get("continue")
        if not following:
            break
        query["continue"] = str(following)
    return found
