"""Eviction of versions from a node, to make room."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import suppress

from django.db import transaction

from atom.cache.backends import backend_of
from atom.cache.backends.base import CacheBackend
from atom.cache.errors import VersionPinned
from atom.cache.models import CacheRecord
from atom.cache.warming.actions.records import UNREADABLE, note_coverage, transition
from atom.clusters.models import Node
from atom.datasets.models import Version
from atom_sdk.sentences import Sentence


def evict(version: Version, node: Node) -> CacheRecord | None:
    """Remove the version's packs that no other version on the node shares.

    Raises VersionPinned while a run or a label task needs it, or while it is being warmed, and
    NodeOutOfReach.
    """
    backend = backend_of(node)
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
            raise VersionPinned(
                Sentence(
                    "cache.version_in_use",
                    "{dataset}@{ref} is in use.",
                    dataset=version.dataset.name,
                    ref=version.ref,
                )
            )
        backend.remove(version, _needed_by_others(record, backend))
        if record.state != "cold":
            transition(record, "cold")
        note_coverage(record)
        record.rate_bytes_s, record.error = 0, ""
        record.save()
    return record


def _needed_by_others(record: CacheRecord, backend: CacheBackend) -> set[str]:
    """Return the packs of the node's other versions; a version that cannot be read needs none."""
    project = record.version.dataset.project
    others = CacheRecord.objects.filter(
        node=record.node, version__dataset__project=project, state__in=["warm", "warming"]
    ).exclude(pk=record.pk)
    needed: set[str] = set()
    for other in others.select_related("version__dataset__project"):
        with suppress(*UNREADABLE):
            needed.update(backend.needed_packs(other.version))
    return needed


def evictable(node: Node) -> Iterator[CacheRecord]:
    """Yield the records that may go, the least recently used first."""
    rows = CacheRecord.objects.filter(node=node, state__in=["warm", "failed"], version__pins=None)
    yield from rows.select_related("version__dataset__project", "node__cluster").order_by("used_at")
