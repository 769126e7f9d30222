"""How many files a version changed, and of how many others only the labels."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from operator import methodcaller
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.version_plan import ANNOTATIONS
from atom_sdk.manifests.diff.diff import RootDiff

# Rows that are looked up together: the paths of a large push are never in memory twice.
_ROWS = 65_536


@dataclass(frozen=True, slots=True)
class VersionChanges:
    """Files; a renamed one is removed and added. None: of an older Atom, nobody counted it."""

    added: int = 0
    removed: int = 0
    changed: int = 0
    labels_changed: int | None = None


def count_version_changes(diff: RootDiff) -> VersionChanges:
    """Count what differs."""
    return VersionChanges(
        added=len(diff.added_paths),
        removed=len(diff.removed_paths),
        changed=len(diff.changed_paths),
        labels_changed=_count_relabelled(diff),
    )


def _count_relabelled(diff: RootDiff) -> int:
    """Return how many files have other labels and are otherwise the same, as in a diff."""
    touched = diff.added_paths, diff.removed_paths, diff.changed_paths
    found = [
        left
        for layer in diff.layers
        if layer.kind in ANNOTATIONS
        for table in (layer.added, layer.removed, layer.changed_to)
        for left in _others(table["path"], touched)
    ]
    return len(pc.unique(pa.chunked_array(found, pa.string()))) if found else 0


def _others(paths: pa.ChunkedArray, touched: Sequence[pa.Array]) -> Iterator[pa.Array]:
    """Yield the paths that are not among the touched ones, which are sorted."""
    for start in range(0, len(paths), _ROWS):
        some = pa.array(paths.slice(start, _ROWS).cast(pa.string()).combine_chunks())
        reach = pc.min_max(some).as_py()
        near = [_between(part, reach) for part in touched]
        is_touched = pc.is_in(some, value_set=pa.concat_arrays(near))
        yield some.filter(pc.invert(is_touched))


def _between(paths: pa.Array, reach: dict[str, Any]) -> pa.Array:
    text = methodcaller("as_py")
    first = bisect_left(paths, reach["min"], key=text)
    last = bisect_right(paths, reach["max"], key=text)
    return paths.slice(first, last - first).cast(pa.string())
