"""Coverage of nodes with an agent: bits of cache records, in the order of `packs_of`."""

from __future__ import annotations

from collections.abc import Callable, Collection
from contextlib import suppress
from functools import lru_cache
from uuid import UUID

import numpy as np

from atom.cache.models import CacheRecord
from atom.cache.warming.actions.records import UNREADABLE, transition
from atom.clusters.models import Node
from atom.datasets.catalog.reads import packs_named_by
from atom.datasets.models import Pack, Version
from atom_sdk.packs.store import covered_packs


@lru_cache(maxsize=64)
def _packs_of_root(version_id: UUID, root: str) -> tuple[tuple[str, int], ...]:
    version = Version.objects.select_related("dataset__project").get(pk=version_id)
    digests = packs_named_by(version)
    packs = Pack.objects.filter(project=version.dataset.project, digest__in=digests)
    sizes = dict(packs.values_list("digest", "size_bytes"))
    return tuple((digest, sizes.get(digest, 0)) for digest in digests)


def sized_packs(version: Version) -> tuple[tuple[str, int], ...]:
    """Return digest (hex) and bytes of each pack. Raises ObjectNotFoundError, ManifestError."""
    return _packs_of_root(version.pk, version.readable_root)


def present_packs(record: CacheRecord) -> set[str]:
    """Return the packs (hex) that the node has. Raises as `sized_packs` does."""
    packs = sized_packs(record.version)
    if not record.bitmap:
        return set()
    bits = covered_packs(bytes(record.bitmap), len(packs))
    return {digest for (digest, _), is_here in zip(packs, bits, strict=True) if is_here}


def add_packs(node: Node, project_id: UUID, digests: Collection[str]) -> None:
    """Set the bits of packs that the node verified, in all of its records of a project."""
    _change(node, project_id, lambda here: here | set(digests))


def remove_packs(node: Node, project_id: UUID, digests: Collection[str]) -> None:
    """Clear the bits of packs that the node has no more."""
    _change(node, project_id, lambda here: here - set(digests))


def replace_packs(node: Node, packs: dict[str, list[str]]) -> None:
    """Set the bits of all the node's records by its whole inventory: packs by project id."""
    projects = CacheRecord.objects.filter(node=node).values_list(
        "version__dataset__project_id", flat=True
    )
    for project_id in set(projects):
        _change(node, project_id, _replacement(set(packs.get(str(project_id), ()))))


def _replacement(inventory: set[str]) -> Callable[[set[str]], set[str]]:
    return lambda _: inventory


def ensure_record(node: Node, version: Version) -> CacheRecord:
    """Return the record of a version on a node; a new one has what other records name there."""
    record, is_new = CacheRecord.objects.get_or_create(node=node, version=version)
    record.version = version
    if is_new:
        others = CacheRecord.objects.filter(
            node=node, version__dataset__project=version.dataset.project
        ).exclude(pk=record.pk)
        here: set[str] = set()
        for other in others.select_related("version__dataset__project"):
            with suppress(*UNREADABLE):
                here |= present_packs(other)
        _write(record, here)
    return record


def _change(node: Node, project_id: UUID, change: Callable[[set[str]], set[str]]) -> None:
    rows = CacheRecord.objects.select_for_update(of=("self",)).filter(
        node=node, version__dataset__project_id=project_id
    )
    for record in rows.select_related("version__dataset__project").order_by("pk"):
        with suppress(*UNREADABLE):
            before = present_packs(record)
            if (after := change(before)) != before or not record.packs_total:
                _write(record, after)


def _write(record: CacheRecord, here: set[str]) -> None:
    packs = sized_packs(record.version)
    bits = np.array([digest in here for digest, _ in packs], dtype=np.bool_)
    record.bitmap = np.packbits(bits).tobytes()
    record.packs_total, record.packs_present = len(packs), int(bits.sum())
    record.bytes_total = sum(size for _, size in packs)
    record.bytes_present = sum(size for digest, size in packs if digest in here)
    is_whole = record.packs_present == record.packs_total
    if is_whole and record.state == "cold":
        transition(record, "warming")
    if is_whole and record.state == "warming":
        transition(record, "warm")
    elif not is_whole and record.state == "warm":
        transition(record, "cold")
    record.save()
