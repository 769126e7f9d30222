"""Quotas of a cluster: one for all projects, and those of single projects in its place."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict

from django.db import transaction
from django.db.models import F, Q

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.clusters.models import Cluster, ClusterQuota
from atom.clusters.quotas.engines.limits import QuotaLimits


def quota_of(cluster: Cluster, project: str) -> QuotaLimits:
    """Return the limits of a project (its slug): its own, else those of all, else none."""
    applies = Q(project__slug=project) | Q(project=None)
    rows = ClusterQuota.objects.filter(applies, cluster=cluster)
    # Its own comes first.
    row = rows.order_by(F("project").asc(nulls_last=True)).first()
    return limits_of(row) if row else QuotaLimits()


def limits_of(row: ClusterQuota) -> QuotaLimits:
    """Return what a row says."""
    return QuotaLimits(row.cpus, row.memory_bytes, row.pods, row.accelerators)


def set_quotas(
    cluster: Cluster,
    common: QuotaLimits | None,
    by_project: Mapping[Project, QuotaLimits],
    actor: User,
) -> None:
    """Replace all quotas of a cluster; `common` is for projects without one of their own."""
    rows: list[tuple[Project | None, QuotaLimits]] = list(by_project.items())
    if common is not None:
        rows.append((None, common))
    with transaction.atomic():
        Cluster.objects.select_for_update().get(pk=cluster.pk)
        ClusterQuota.objects.filter(cluster=cluster).delete()
        ClusterQuota.objects.bulk_create(
            ClusterQuota(cluster=cluster, project=project, **asdict(limits))
            for project, limits in rows
        )
        audit.record(actor, "cluster.quotas_changed", cluster, name=cluster.name)
