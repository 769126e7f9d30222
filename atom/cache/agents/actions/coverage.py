"""Coverage of nodes with an agent: bits of cache records, in the order of a version's packs."""

from __future__ import annotations

from collections.abc import Collection, Iterable
from dataclasses import dataclass
from functools import lru_cache
from uuid import UUID

import numpy as np
from numpy.typing import NDArray

from atom.cache.models import CacheRecord
from atom.cache.warming.actions.records import UNREADABLE, transition
from atom.clusters.models import Node
from atom.datasets.catalog.reads import packs_named_by
from atom.datasets.models import Pack, Version
from atom_sdk.packs.store import covered_packs

Bits = NDArray[np.bool_]
_CHANGED = (
    *("bitmap", "bitmap_root", "packs_total", "packs_present"),
    *("bytes_total", "bytes_present", "state", "updated_at"),
)


@dataclass(frozen=True, eq=False)
class PackTable:
    """The packs of a version: digests (hex, sorted), bytes of shape (packs,), places by digest."""

    digests: tuple[str, ...]
    sizes: NDArray[np.int64]
    places: dict[str, int]

    def bits(self, digests: Iterable[str]) -> Bits:
        """Return which packs are among `digests`, shape (packs,)."""
        bits = np.zeros(len(self.digests), np.bool_)
        places = [self.places[digest] for digest in digests if digest in self.places]
        bits[places] = True
        return bits

    def named(self, bits: Bits) -> list[str]:
        """Return the digests whose bits are set."""
        return [self.digests[place] for place in np.flatnonzero(bits)]


@lru_cache(maxsize=256)
def _table_of_root(version_id: UUID, root: str) -> PackTable:
    version = Version.objects.select_related("dataset__project").get(pk=version_id)
    digests = packs_named_by(version)
    packs = Pack.objects.filter(project=version.dataset.project, digest__in=digests)
    sizes = dict(packs.values_list("digest", "size_bytes"))
    return PackTable(
        tuple(digests),
        np.array([sizes.get(digest, 0) for digest in digests], np.int64),
        {digest: place for place, digest in enumerate(digests)},
    )


def pack_table(version: Version) -> PackTable:
    """Return the packs of a version. Raises ObjectNotFoundError, ManifestError."""
    return _table_of_root(version.pk, version.readable_root)


def sized_packs(version: Version) -> tuple[tuple[str, int], ...]:
    """Return digest (hex) and bytes of each pack. Raises as `pack_table` does."""
    table = pack_table(version)
    return tuple(zip(table.digests, table.sizes.tolist(), strict=True))


def bits_of(record: CacheRecord) -> Bits:
    """Return which packs the node has, shape (packs,). Raises as `pack_table` does.

    A compacted version has other packs than those that its record counted before.
    """
    count = len(pack_table(record.version).digests)
    root = record.version.readable_root
    if not record.bitmap or record.bitmap_root not in ("", root):
        return np.zeros(count, np.bool_)
    return covered_packs(bytes(record.bitmap), count)


def present_packs(record: CacheRecord) -> set[str]:
    """Return the packs (hex) that the node has. Raises as `pack_table` does."""
    return set(pack_table(record.version).named(bits_of(record)))


def add_packs(node: Node, project_id: UUID, digests: Collection[str]) -> None:
    """Set the bits of packs that the node verified, in all of its records of a project."""
    for record, bits in _read(_locked(node, project_id)):
        _write(record, bits, bits | pack_table(record.version).bits(digests))


def remove_packs(node: Node, project_id: UUID, digests: Collection[str]) -> None:
    """Clear the bits of packs that the node has no more."""
    for record, bits in _read(_locked(node, project_id)):
        _write(record, bits, bits & ~pack_table(record.version).bits(digests))


def replace_packs(node: Node, project_id: UUID, digests: Collection[str]) -> set[str]:
    """Set the bits of all the node's records of a project by its whole inventory there.

    Returns the packs that a version of these records has.
    """
    named: set[str] = set()
    for record, bits in _read(_locked(node, project_id)):
        table = pack_table(record.version)
        named.update(table.digests)
        _write(record, bits, table.bits(digests))
    return named


def projects_on(node: Node) -> set[UUID]:
    """Return the projects whose versions the node has records of."""
    rows = CacheRecord.objects.filter(node=node)
    return set(rows.values_list("version__dataset__project_id", flat=True))


def records_on(nodes: Collection[UUID], project_id: UUID) -> list[tuple[CacheRecord, Bits]]:
    """Return the records of a project's readable versions on nodes, with their bits."""
    rows = CacheRecord.objects.filter(node__in=nodes, version__dataset__project_id=project_id)
    return list(_read(rows.select_related("version__dataset__project")))


def bits_on(nodes: Collection[UUID], version: Version) -> dict[UUID, Bits]:
    """Return which packs of a version nodes have, also as parts of the project's other versions.

    Raises as `pack_table` does.
    """
    table = pack_table(version)
    bits = {node_id: np.zeros(len(table.digests), np.bool_) for node_id in nodes}
    for record, there in records_on(nodes, version.dataset.project_id):
        other = pack_table(record.version)
        bits[record.node_id] |= there if other is table else table.bits(other.named(there))
    return bits


def ensure_record(node: Node, version: Version) -> CacheRecord:
    """Return the record of a version on a node; a new one has what other records name there."""
    record, is_new = CacheRecord.objects.get_or_create(node=node, version=version)
    record.version = version
    if is_new:
        _write(record, None, bits_on([node.pk], version)[node.pk])
    return record


def _locked(node: Node, project_id: UUID) -> Iterable[CacheRecord]:
    rows = CacheRecord.objects.select_for_update(of=("self",)).filter(
        node=node, version__dataset__project_id=project_id
    )
    return rows.select_related("version__dataset__project").order_by("pk")


def _read(records: Iterable[CacheRecord]) -> Iterable[tuple[CacheRecord, Bits]]:
    """Yield records with their bits, and leave out versions that cannot be read."""
    for record in records:
        try:
            bits = bits_of(record)
        except UNREADABLE:
            continue
        yield record, bits


def _write(record: CacheRecord, before: Bits | None, bits: Bits) -> None:
    """Store bits unless they are `before`, and what follows from them."""
    table, root = pack_table(record.version), record.version.readable_root
    is_same = record.bitmap_root == root and before is not None and np.array_equal(before, bits)
    if is_same and record.packs_total:
        return
    record.bitmap, record.bitmap_root = np.packbits(bits).tobytes(), root
    record.packs_total, record.packs_present = len(bits), int(bits.sum())
    record.bytes_total = int(table.sizes.sum())
    record.bytes_present = int(table.sizes[bits].sum())
    is_whole = record.packs_present == record.packs_total
    if is_whole and record.state == "cold":
        transition(record, "warming")
    if is_whole and record.state == "warming":
        transition(record, "warm")
    elif not is_whole and record.state == "warm":
        transition(record, "cold")
    record.save(update_fields=_CHANGED)
