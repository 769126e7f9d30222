"""Select the entries of a version for a label task."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Self

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.packs.engines.images import marked_unreadable, raster_images
from atom_sdk.manifests.layers.layers import current_rows
from atom_sdk.manifests.roots.roots import RangeRef


@dataclass(frozen=True)
class ExcludedCounts:
    """How many entries match the filter and can still not be labelled as images, and why."""

    not_images: int = 0
    unreadable: int = 0

    def __add__(self, other: Self) -> "ExcludedCounts":
        """Return the sums."""
        return ExcludedCounts(
            self.not_images + other.not_images, self.unreadable + other.unreadable
        )


def may_hold(part: RangeRef, prefix: str) -> bool:
    """Return whether a range can have paths that begin with `prefix`."""
    return part.max >= prefix and part.min[: len(prefix)] <= prefix


def may_list(part: RangeRef, paths: frozenset[str]) -> bool:
    """Return whether a range can have one of the paths; without paths, any can."""
    return not paths or any(part.min <= path <= part.max for path in paths)


def listed(table: pa.Table, paths: frozenset[str]) -> pa.Table:
    """Return the rows at the paths; without paths, all."""
    if not paths:
        return table
    return table.filter(pc.is_in(table["path"], value_set=pa.array(sorted(paths), pa.string())))


def matching(
    table: pa.Table, label_layers: Sequence[pa.Table], prefix: str, labelled: bool | None
) -> pa.Table:
    """Return the rows of a range below `prefix`, with or without a label (None: both).

    A label counts only while its digest is the entry's: a changed file is unlabelled again.
    """
    if prefix:
        table = table.filter(pc.starts_with(table.column("path"), prefix))
    if labelled is None or not len(table):
        return table
    return table.filter(pc.equal(_has_label(table, label_layers), labelled))


def images(table: pa.Table) -> tuple[pa.Table, ExcludedCounts]:
    """Return the entries that a person can be shown as an image, and how many cannot."""
    raster = table.filter(raster_images(table))
    readable = raster.filter(pc.invert(marked_unreadable(raster)))
    return readable, ExcludedCounts(len(table) - len(raster), len(raster) - len(readable))


def drawable(table: pa.Table, undrawable: pa.Array) -> tuple[pa.Table, ExcludedCounts]:
    """Return the images whose digests (32 bytes) are not in `undrawable`, and how many are."""
    if not len(undrawable):
        return table, ExcludedCounts()
    digests = table["digest"].cast(undrawable.type)
    kept = table.filter(pc.invert(pc.is_in(digests, value_set=undrawable)))
    return kept, ExcludedCounts(unreadable=len(table) - len(kept))


def rows(table: pa.Table) -> Iterator[dict[str, object]]:
    """Yield the rows of a table of entries as dicts."""
    for batch in table.to_batches():
        yield from batch.to_pylist()


def _has_label(table: pa.Table, label_layers: Sequence[pa.Table]) -> pa.ChunkedArray:
    found = pa.chunked_array([pa.repeat(False, len(table))])
    for layer in label_layers:
        labels = current_rows(layer, table).column("digest")
        found = pc.or_(found, pc.is_valid(labels))
    return found
