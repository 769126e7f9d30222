"""Ranges in a store: reading one with what lies over it, writing one."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.entries import ENTRY_SCHEMA, LINK_COLUMN
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, range_key
from atom_sdk.manifests.ranges.deltas import lay_over, read_delta
from atom_sdk.manifests.ranges.ranges import decode_range, encode_range, range_content
from atom_sdk.manifests.ranges.refs import RangeRef


def read_range(
    part: RangeRef, store: ObjectStore, columns: Sequence[str] = ENTRY_SCHEMA.names
) -> pa.Table:
    """Read and check one range, or some of its columns, the first of them the path.

    Raises ObjectNotFoundError or ManifestCorruptError.
    """
    key = range_key(part.object)
    table = decode_range(get_verified(store, key, part.object), key, columns)
    for delta in part.deltas:
        table = lay_over(table, read_delta(delta, store), part.min, part.max)
    return table


def write_range(table: pa.Table, store: ObjectStore, known: Mapping[bytes, RangeRef]) -> RangeRef:
    """Store one range, unless `known` (by content digest) already has its entries."""
    content = range_content(table)
    if content in known:
        return known[content]
    data = encode_range(table)
    digest = digest_of(data)
    store.put(range_key(digest), data)
    return range_ref(table, content, digest)


def range_ref(
    table: pa.Table, content: bytes, digest: bytes, deltas: tuple[bytes, ...] = ()
) -> RangeRef:
    """The reference to a range with these entries: logical columns and the one of links."""
    paths = table.column("path")
    first, last = paths[0].as_py(), paths[-1].as_py()
    size_bytes = pc.sum(table.column("size")).as_py()
    links = len(table) - table.column(LINK_COLUMN).null_count
    return RangeRef(first, last, len(table), size_bytes, content, digest, deltas, links)
