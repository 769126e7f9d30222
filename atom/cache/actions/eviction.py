"""Making room on a node."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from django.db import transaction

from atom.cache.actions.records import MANIFEST_GONE, UNREADABLE, move, note_coverage
from atom.cache.errors import VersionPinned
from atom.cache.models import CacheRecord
from atom.cache.placement import pack_store
from atom.cache.registered import forget_registered, noted_packs, registered_packs
from atom.clusters.models import Node
from atom.datasets.models import Version
from atom.datasets.reads import packs_named_by, packs_of


def evict(version: Version, node: Node) -> CacheRecord | None:
    """Remove the version's packs that no other version on the node shares.

    Raises VersionPinned while a run or a label task needs it, or while it is being warmed.
    """
    with transaction.atomic():
        record = (
            CacheRecord.objects.select_for_update(of=("self",))
            .select_related("version__dataset__project")
            .filter(node=node, version=version)
            .first()
        )
        if record is None:
            return None
        if record.state == "warming" or version.pins.exists():
            raise VersionPinned(f"{version.dataset.name}@{version.ref} is in use.")
        _remove_packs(record)
        if record.state != "cold":
            move(record, "cold")
        note_coverage(record)
        record.rate_bytes_s, record.error = 0, ""
        record.save()
    return record


def _remove_packs(record: CacheRecord) -> None:
    version = record.version
    kept = _wanted_by_others(record)
    store = pack_store(version.dataset.project)
    own = set(noted_packs(version) or ())
    try:
        going = own.union(packs_named_by(version))
    except MANIFEST_GONE:
        # Nobody knows any more which packs it had: all go that no other version wants.
        going = own = store.present()
    for digest in going - kept:
        store.remove(bytes.fromhex(digest))
        if digest in own:
            forget_registered(version, digest)


def _wanted_by_others(record: CacheRecord) -> set[str]:
    """Return the packs of the other versions on the node; those that nobody can read want none."""
    project = record.version.dataset.project
    others = CacheRecord.objects.filter(
        node=record.node, version__dataset__project=project, state__in=["warm", "warming"]
    ).exclude(pk=record.pk)
    wanted: set[str] = set()
    for other in others.select_related("version__dataset__project"):
        with suppress(*UNREADABLE):
            wanted.update(packs_of(other.version))
            wanted.update(registered_packs(other.version) or ())
    return wanted


def evictable(node: Node) -> Iterator[CacheRecord]:
    """Yield the records that may go, the least recently used first."""
    rows = CacheRecord.objects.filter(node=node, state__in=["warm", "failed"], version__pins=None)
    yield from rows.select_related("version__dataset__project", "node").order_by("used_at")
