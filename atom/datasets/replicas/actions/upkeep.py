"""Upkeep of replicas: ends that have passed, versions that are gone, packs that gave trouble."""

from __future__ import annotations

from collections.abc import Collection
from datetime import timedelta
from typing import Final
from uuid import UUID

from django.db import transaction
from django.db.models import Exists, OuterRef, Q

from atom.core import clock
from atom.datasets.models import Replica, Store, StoredPack, VersionPin
from atom.datasets.replicas.actions.replicas import ask_work, notify, remove_replica, set_state
from atom.datasets.replicas.reads import outdated

AVOIDED_FOR: Final = timedelta(minutes=10)


def keep_replicas() -> None:
    """Remove what has ended, renew what is outdated, and send workers to what is due."""
    now = clock.now()
    _remove(Q(pinned=False, ends_at__lte=now))
    pins = VersionPin.objects.filter(version=OuterRef("version"))
    _remove(
        Q(version__dataset__deleted_at__isnull=False)
        | (~Q(version__state="kept") & ~Q(Exists(pins)))
    )
    for replica in outdated().select_related("version__dataset"):
        _renew(replica.pk)
    due = Q(retry_at=None) | Q(retry_at__lte=now)
    open_rows = Replica.objects.filter(due).filter(
        Q(state__in=["waiting", "copying", "verifying"]) | Q(state="removing", removes_at__lte=now)
    )
    places = open_rows.order_by().values_list("store", "version__dataset__project").distinct()
    for store_id, project_id in places:
        ask_work(store_id, project_id)


def _remove(ended: Q) -> None:
    for replica in Replica.objects.filter(ended).exclude(state="removing"):
        remove_replica(replica, None)


def _renew(replica_id: UUID) -> None:
    """Have a replica that is there compared with its version again."""
    with transaction.atomic():
        rows = Replica.objects.select_for_update(of=("self",)).filter(pk=replica_id, state="there")
        replica = rows.select_related("version__dataset").first()
        if replica is not None:
            set_state(replica, "waiting")
            replica.save(update_fields=["state", "updated_at"])
            notify(replica)


def avoid_packs(
    store: Store, project_id: UUID, digests: Collection[str], *, is_suspect: bool
) -> None:
    """Have packs read from Atom's own store for a while, since a reader had trouble with them.

    A suspect one, which was missing or had other bytes, is read back before it is used again.
    """
    with transaction.atomic():
        rows = StoredPack.objects.select_for_update().filter(
            store=store, project=project_id, digest__in=digests, state="there"
        )
        packs = list(rows.order_by("digest"))
        for pack in packs:
            pack.avoided_until = clock.now() + AVOIDED_FOR
            if is_suspect:
                pack.state = "copied"
            pack.save(update_fields=["state", "avoided_until", "updated_at"])
    if packs and is_suspect:
        held = Replica.objects.filter(
            store=store, version__dataset__project=project_id, state="there"
        )
        for replica_id in held.values_list("pk", flat=True):
            _renew(replica_id)
        ask_work(store.pk, project_id)
