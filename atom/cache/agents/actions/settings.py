"""Settings of the caches of a cluster's nodes."""

from __future__ import annotations

from datetime import timedelta
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.cache.models import CacheSettings
from atom.clusters.models import Cluster


def cache_settings(cluster: Cluster) -> CacheSettings:
    """Return the settings of a cluster; the defaults are not stored."""
    return CacheSettings.objects.filter(cluster=cluster).first() or CacheSettings(cluster=cluster)


def change_cache_settings(
    cluster: Cluster, limit_bytes: int | None, replace_after_s: int, user: User
) -> CacheSettings:
    """Replace the settings of a cluster; its agents learn the limit with their next report."""
    values = {"limit_bytes": limit_bytes, "replace_after_s": replace_after_s}
    with transaction.atomic():
        row, _ = CacheSettings.objects.update_or_create(cluster=cluster, defaults=values)
        audit.record(user, "cluster.cache_changed", cluster, None, name=cluster.name, **values)
    return row


def limit_of(cluster_id: UUID) -> int | None:
    """Return how large the cache of each node of a cluster may grow, in bytes; None: no limit."""
    rows = CacheSettings.objects.filter(cluster=cluster_id)
    return rows.values_list("limit_bytes", flat=True).first()


def replace_after(cluster_id: UUID) -> timedelta:
    """Return after how long a silence another node takes a node's part."""
    row = CacheSettings.objects.filter(cluster=cluster_id).first() or CacheSettings()
    return timedelta(seconds=row.replace_after_s)
