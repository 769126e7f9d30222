"""Manifest objects through a cache per process, bounded in bytes. Objects never change."""

from __future__ import annotations

import pyarrow as pa

from atom.accounts.models import Project
from atom.core.storage import PrefixStore, project_store
from atom.datasets.engines.byte_cache import ByteCache
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.layers import read_layer
from atom_sdk.manifests.roots import LayerRef, RangeRef, Root, read_root

_TABLE_CACHE_BYTES = 192 << 20
_ROOT_CACHE_BYTES = 32 << 20
# A RangeRef with two paths and two digests; near enough for a bound.
_RANGE_REF_BYTES = 700
# Of larger roots only some groups of ranges are kept.
_RANGES_IN_MEMORY = 16_384


def _root_bytes(root: Root) -> int:
    return 1024 + _RANGE_REF_BYTES * min(len(root.ranges), _RANGES_IN_MEMORY)


_tables: ByteCache[pa.Table] = ByteCache(_TABLE_CACHE_BYTES, lambda table: int(table.nbytes) + 256)
_roots: ByteCache[Root] = ByteCache(_ROOT_CACHE_BYTES, _root_bytes)


class VersionStore:
    """The manifests of one project: cached reads of decoded roots, ranges and layers.

    The cache is keyed by digest: whoever can name an object of a root has read that root.
    """

    def __init__(self, store: PrefixStore) -> None:
        """`store` is the project's prefix of the bucket."""
        self.store = store

    def root(self, digest: str) -> Root:
        """Return a root by its hex digest."""
        return _roots.get(digest, lambda: read_root(bytes.fromhex(digest), self.store))

    def range(self, part: RangeRef) -> pa.Table:
        """Return the entries of a range."""
        return _tables.get(part.layout, lambda: read_range(part, self.store))

    def layer(self, ref: LayerRef) -> pa.Table:
        """Return the rows of a layer."""
        return _tables.get((ref.kind, *ref.layout), lambda: read_layer(ref, self.store))


def version_store(project: Project) -> VersionStore:
    """Return the cached store of a project."""
    return VersionStore(project_store(project))
