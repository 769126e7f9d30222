"""Manifest objects through a cache per process, bounded in bytes. Objects never change."""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Hashable, Sequence
from functools import partial
from pathlib import Path
from typing import BinaryIO, cast

import pyarrow as pa

from atom.accounts.models import Project
from atom.core.parquet.ranged_file import RangedFile
from atom.core.storage import PrefixStore, project_store
from atom.datasets.catalog.engines.byte_cache import ByteCache
from atom.datasets.versions.engines.linked_ranges import shown_files
from atom.datasets.versions.engines.version_stats import VersionStats
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.layers.layers import read_values
from atom_sdk.manifests.layers.object_labels import count_object_labels
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND
from atom_sdk.manifests.layers.picked import pick_rows
from atom_sdk.manifests.links import read_links
from atom_sdk.manifests.query import Query, read_object_facts
from atom_sdk.manifests.query.tree import object_terms
from atom_sdk.manifests.roots.roots import LayerRef, RangeRef, Root, read_root

_TABLE_CACHE_BYTES = 192 << 20
_ROOT_CACHE_BYTES = 32 << 20
# A RangeRef with two paths and two digests; near enough for a bound.
_RANGE_REF_BYTES = 700
# Larger roots keep only some of their groups of ranges.
_RANGES_IN_MEMORY = 16_384
# Matches of queries take 8 bytes each. The second cache holds the counts of versions.
_NUMBERS_CACHE_BYTES = 32 << 20
_STATS_CACHE_BYTES = 4 << 20
_COUNT_BYTES = 100
_LINK_CACHE_BYTES = 64 << 20
# Two short strings and their place in a dictionary.
_LINK_BYTES = 300
# Layers of objects: such a small one is fetched whole, others by the parts that are read.
_WHOLE_BYTES = 4 << 20
_OBJECT_CACHE_BYTES = 48 << 20
_SIZE_CACHE_BYTES, _SIZE_BYTES = 1 << 20, 200
# About 100 bytes a difference.
_DIFF_CACHE_BYTES = 64 << 20


def _root_bytes(root: Root) -> int:
    return 1024 + _RANGE_REF_BYTES * min(len(root.ranges), _RANGES_IN_MEMORY)


_tables: ByteCache[pa.Table] = ByteCache(_TABLE_CACHE_BYTES, lambda table: int(table.nbytes) + 256)


def _stats_bytes(stats: VersionStats) -> int:
    return 1024 + _COUNT_BYTES * (len(stats.labels) + len(stats.splits) + len(stats.media_types))


_numbers: ByteCache[pa.Array] = ByteCache(
    _NUMBERS_CACHE_BYTES, lambda found: int(found.nbytes) + 512
)
_diffs: ByteCache[pa.Table] = ByteCache(_DIFF_CACHE_BYTES, lambda table: int(table.nbytes) + 512)
_stats: ByteCache[VersionStats] = ByteCache(_STATS_CACHE_BYTES, _stats_bytes)
_links: ByteCache[dict[str, str]] = ByteCache(
    _LINK_CACHE_BYTES, lambda links: 1024 + _LINK_BYTES * len(links)
)
_objects: ByteCache[bytes] = ByteCache(_OBJECT_CACHE_BYTES, len)
_sizes: ByteCache[int] = ByteCache(_SIZE_CACHE_BYTES, lambda _: _SIZE_BYTES)
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

    def links(self, root: Root) -> dict[str, str]:
        """Return the target of each link of a version by its path."""
        if not root.links:
            return {}
        return _links.get(root.content, lambda: read_links(root, self.store))

    def files(self, root: Root, part: RangeRef) -> pa.Table:
        """Return the entries of one of a root's ranges, each link as the file that it leads to."""
        if not part.links:
            return self.range(part)

        def show() -> pa.Table:
            return shown_files(root, self.range(part), self.links(root), self.scanned)

        # Where links lead depends on all of the version, where bytes lie on the layout.
        groups: list[Hashable] = [group.object for group in root.groups]
        parts = groups or [other.layout for other in root.ranges]
        return _tables.get(("files", hash(tuple(parts)), root.content, *part.layout), show)

    def scanned(self, part: RangeRef) -> pa.Table:
        """Return the entries of one of many ranges: they push nothing else out of the cache."""
        return _tables.get(part.layout, lambda: read_range(part, self.store), evicts=False)

    def values(self, ref: LayerRef, column: str) -> pa.Table:
        """Return `path`, `digest` and one column of a layer."""
        key = (ref.kind, column, *ref.layout)
        return _tables.get(key, lambda: read_values(ref, column, self.store))

    def object_rows(self, ref: LayerRef, paths: Sequence[str]) -> pa.Table:
        """Return the rows of a layer of objects at paths, which are in order."""
        return pick_rows(ref, paths, self._open)

    def object_facts(self, root: Root, query: Query) -> pa.Table | None:
        """Return what a query asks of a version's objects, by path and digest."""
        layout = [layer.layout for layer in root.layers if layer.kind == OBJECTS_KIND]
        asked = tuple(map(str, object_terms(query)))
        return _tables.get(
            ("facts", asked, *layout), lambda: read_object_facts(root, self.store, query)
        )

    def object_labels(self, ref: LayerRef) -> dict[str, int]:
        """Return how many objects of each label a layer has; callers keep it with other counts."""
        with tempfile.TemporaryDirectory(prefix="atom-objects-") as scratch:
            return count_object_labels(ref, self.store, Path(scratch))

    def _open(self, key: str) -> BinaryIO | pa.BufferReader:
        size_bytes = _sizes.get(key, lambda: self.store.size_bytes(key))
        if size_bytes <= _WHOLE_BYTES:
            data = _objects.get(key, lambda: self.store.get(key))
            return pa.BufferReader(data)
        read = partial(self.store.get_range, key)
        # The column chunks of a few row groups are much less than all.
        return cast("BinaryIO", RangedFile(read, size_bytes))

    def numbers(self, key: Hashable, find: Callable[[], pa.Array]) -> pa.Array:
        """Return numbers of rows that follow from the key alone."""
        return _numbers.get(key, find)

    def differences(self, key: Hashable, find: Callable[[], pa.Table]) -> pa.Table:
        """Return the differences of two versions, which follow from the key alone."""
        return _diffs.get(key, find)

    def stats(self, key: Hashable, count: Callable[[], VersionStats]) -> VersionStats:
        """Return counts that follow from the key alone."""
        return _stats.get(key, count)


def version_store(project: Project) -> VersionStore:
    """Return the cached store of a project."""
    return VersionStore(project_store(project))
