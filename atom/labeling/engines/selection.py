"""Which entries of a version a label task is about."""

from collections.abc import Iterator, Sequence

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.layers import current_rows
from atom_sdk.manifests.roots import RangeRef


def may_hold(part: RangeRef, prefix: str) -> bool:
    """Return whether a range can have paths that begin with `prefix`."""
    return part.max >= prefix and part.min[: len(prefix)] <= prefix


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


def rows(table: pa.Table) -> Iterator[dict[str, object]]:
    """Yield the rows of a table of entries as dicts."""
    for batch in table.to_batches():
        yield from batch.to_pylist()


def _has_label(table: pa.Table, label_layers: Sequence[pa.Table]) -> pa.ChunkedArray:
    found = pa.chunked_array([pa.repeat(False, len(table))])
    for layer in label_layers:
        labels = current_rows(layer, table).column("label")
        found = pc.or_(found, pc.is_valid(labels))
    return found
