"""Removal of what ended placements left in their clusters."""

from __future__ import annotations

from typing import Any

import structlog
from django.db.models import Q

from atom.clusters.kubernetes.errors import ClusterFails
from atom.clusters.registration.actions.registering import open_cluster
from atom.core import clock
from atom.jobs.executors.kubernetes.paths import AWAY, path_of, sentence_of
from atom.jobs.models import Placement

log = structlog.get_logger(__name__)

_AT_ONCE = 200
_GONE = (404, 409)


def remove_ended() -> int:
    """Delete the Jobs of ended placements, with their pods; return how many went.

    A cluster that does not answer is asked again the next time.
    """
    ended = Placement.objects.filter(removed_at=None).exclude(ended_at=None)
    away: set[Any] = set()
    removed = 0
    for placement in ended.select_related("cluster").order_by("ended_at")[:_AT_ONCE]:
        if placement.cluster_id in away:
            continue
        if _remove(placement):
            removed += 1
        else:
            away.add(placement.cluster_id)
    return removed


def _remove(placement: Placement) -> bool:
    path = f"{path_of('Job', placement.namespace)}/{placement.job_name}"
    try:
        with open_cluster(placement.cluster) as api:
            api.delete(path, uid=placement.job_uid)
    except ClusterFails as error:
        if error.status_code not in _GONE:
            return False
    except AWAY as error:
        log.info("job_not_removed", placement=str(placement.pk), why=sentence_of(error))
        return False
    done = Q(pk=placement.pk, removed_at=None)
    Placement.objects.filter(done).update(removed_at=clock.now())
    return True
