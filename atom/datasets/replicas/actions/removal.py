"""Removal of a replica: what other replicas of the project need in the store stays."""

from __future__ import annotations

import structlog
from django.db import transaction
from django.db.models import QuerySet

from atom.core import clock
from atom.core.crash_points import reach
from atom.datasets.catalog.reads import packs_named_by, require_kept
from atom.datasets.errors import DatasetDeleted, VersionExpired, VersionGone
from atom.datasets.models import Replica, StoredPack
from atom.datasets.replicas.actions.manifests import replicated_keys
from atom.datasets.replicas.actions.replicas import notify, remove_replica
from atom.datasets.replicas.pipelines.second_store import SecondStore

log = structlog.get_logger(__name__)

UNREADABLE = (DatasetDeleted, VersionExpired, VersionGone)


def remove_unneeded(replica: Replica) -> None:
    """Delete all that no other replica needs, and then the replica's row. Repeatable.

    It waits while readers may hold addresses of another replica that is on its way out. The caller
    holds the lock on the project's replicas in the store. Raises StoreAway and its kin, and what
    reading the manifests of other replicas raises: then nothing is deleted.
    """
    project = replica.version.dataset.project
    others = Replica.objects.filter(store=replica.store, version__dataset__project=project).exclude(
        pk=replica.pk
    )
    packs, keys = _needed(others)
    last = others.filter(state="removing", removes_at__gt=clock.now()).order_by("-removes_at")
    if (ending := last.first()) is not None:
        Replica.objects.filter(pk=replica.pk).update(removes_at=ending.removes_at)
        return
    bucket = SecondStore(replica.store.spec, project.pk)
    bucket.check_address()
    rows = StoredPack.objects.filter(store=replica.store, project=project)
    # Rows first: a pack without an object must not be read, an object without a row costs a little.
    rows.exclude(digest__in=packs).delete()
    reach("replica.rows_removed")
    unneeded = [key for key in bucket.list_keys() if key not in keys]
    for key in unneeded:
        bucket.delete(key)
    with transaction.atomic():
        notify(replica)
        Replica.objects.filter(pk=replica.pk, state="removing").delete()
    log.info("replica_removed", replica=str(replica.pk), objects=len(unneeded))


def _needed(others: QuerySet[Replica]) -> tuple[frozenset[str], frozenset[str]]:
    """Return the packs and the keys that other replicas need."""
    packs: set[str] = set()
    keys: set[str] = set()
    live = others.exclude(state="removing").select_related("version__dataset__project", "store")
    for other in live:
        try:
            require_kept(other.version)
        except UNREADABLE:
            # Its version is gone: so is its replica, after those who still read it.
            remove_replica(other, None)
            continue
        named = packs_named_by(other.version)
        packs.update(named)
        keys.update(replicated_keys(other.version, named))
    return frozenset(packs), frozenset(keys)
