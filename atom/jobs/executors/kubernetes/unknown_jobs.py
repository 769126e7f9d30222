"""Jobs of this installation that its database does not know: they are listed and left alone."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Mapping
from datetime import datetime
from typing import Any
from uuid import UUID

from django.db import transaction
from django.db.models.functions import Now
from django.utils.dateparse import parse_datetime

from atom.clusters.kubernetes.listing import Held, Key
from atom.clusters.models import Cluster
from atom.jobs.executors.kubernetes.engines.observations import is_over, placement_of
from atom.jobs.models import ClusterJob, EnvironmentBuild, Placement, UnknownJob

Slim = dict[str, Any]


def list_unknown_jobs(
    cluster: Cluster, jobs: Mapping[Key, Held[Slim]], pods: Iterable[Slim]
) -> int:
    """Keep the unknown Jobs of a whole list, in place of those before; return how many there are.

    A placement is committed before its Job is asked for, so a Job of the list that has no
    placement now never had one in this database.
    """
    unknown = _unknown(cluster, jobs)
    counts = Counter(placement_of(pod) for pod in pods if not is_over(pod))
    rows = [
        UnknownJob(
            cluster=cluster,
            namespace=key.namespace[:63],
            name=key.name[:253],
            uid=held.uid[:64],
            made_at=_time_of(held.value),
            pods=counts[placement_of(held.value)],
        )
        for key, held in unknown.items()
    ]
    with transaction.atomic():
        gone = UnknownJob.objects.filter(cluster=cluster).exclude(uid__in=[row.uid for row in rows])
        gone.delete()
        if rows:
            UnknownJob.objects.bulk_create(
                rows,
                update_conflicts=True,
                unique_fields=["cluster", "uid"],
                update_fields=["pods"],
            )
            UnknownJob.objects.filter(cluster=cluster).update(updated_at=Now())
    return len(rows)


def _unknown(cluster: Cluster, jobs: Mapping[Key, Held[Slim]]) -> dict[Key, Held[Slim]]:
    ids = {found for held in jobs.values() if (found := _id_of(held.value))}
    kinds: tuple[type[ClusterJob], ...] = (Placement, EnvironmentBuild)
    uids: dict[str, str] = {}
    for kind in kinds:
        rows = kind._default_manager.filter(cluster=cluster, pk__in=ids)
        uids |= {str(row.pk): row.job_uid for row in rows.only("job_uid")}
    return {
        key: held
        for key, held in jobs.items()
        # One that is being deleted is in nobody's way.
        if not held.value["metadata"].get("deletionTimestamp")
        # A placement without a uid has just asked for its Job.
        and uids.get(placement_of(held.value)) not in ("", held.uid)
    }


def _id_of(job: Slim) -> UUID | None:
    try:
        return UUID(placement_of(job))
    except ValueError:
        return None


def _time_of(job: Slim) -> datetime | None:
    text = str(job["metadata"].get("creationTimestamp") or "")
    try:
        time = parse_datetime(text)
    except ValueError:
        return None
    return time if time and time.tzinfo else None
