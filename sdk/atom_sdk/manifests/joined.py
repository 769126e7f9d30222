"""Entries with their label and split: what views, queries and listings read."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.errors import LayerKindError
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.layers.layers import current_rows, read_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.parallel import worked_ahead
from atom_sdk.manifests.roots.roots import RangeRef, Root
from atom_sdk.sentences import Sentence

# Tried in order: the first layer that labels an entry wins. Labels of people count more than an
# annotation file, and that more than a folder's name.
LABEL_LAYERS = ("labels", "given", "folder")
SPLIT_LAYER = "split"


def iter_ranges(
    root: Root, store: ObjectStore, wanted: Callable[[RangeRef], bool] | None = None
) -> Iterator[pa.Table]:
    """Tables of all ranges (of those that are `wanted`) in path order, a few read ahead."""
    parts = (part for part in root.ranges if wanted is None or wanted(part))
    return worked_ahead(lambda part: read_range(part, store), parts)


class LayerJoin:
    """The label and split layers of a version, read once."""

    def __init__(
        self,
        root: Root,
        store: ObjectStore,
        label_layers: tuple[str, ...] = LABEL_LAYERS,
        split_layer: str = SPLIT_LAYER,
        facts: pa.Table | None = None,
    ) -> None:
        """`facts` are more columns by path and digest, in path order.

        Raises LayerKindError if a named layer has another kind.
        """
        self._facts = facts
        self._split = _read_kind(root, store, split_layer, "split")
        found = (_read_kind(root, store, name, "classification") for name in label_layers)
        self._labels = [table for table in found if table is not None]

    def join(self, entries: pa.Table) -> pa.Table:
        """Entries with `label`, `split` and the facts, null where there is none."""
        return join_facts(join_labels(entries, self._labels, self._split), self._facts)


def join_labels(entries: pa.Table, labels: Iterable[pa.Table], split: pa.Table | None) -> pa.Table:
    """Entries, in path order, with `label` and `split`, null where no layer has a row for them.

    The tables have `path` (in order) and `digest`, those of `labels` also `label`, `split` also
    `value`. The first of `labels` that labels an entry wins.
    """
    none = pa.nulls(len(entries), pa.string())
    label = pc.coalesce(none, *(_values(layer, entries, "label") for layer in labels))
    split_of = none if split is None else _values(split, entries, "value")
    return entries.append_column("label", label).append_column("split", split_of)


def join_facts(entries: pa.Table, facts: pa.Table | None) -> pa.Table:
    """Entries, in path order, with the columns of facts, null where these have no row for them."""
    for field in () if facts is None else list(facts.schema)[2:]:
        values = _values(facts, entries, field.name).cast(field.type)
        entries = entries.append_column(field, values)
    return entries


def _values(layer: pa.Table, entries: pa.Table, column: str) -> pa.ChunkedArray:
    if not len(entries):
        return pa.chunked_array([], layer.schema.field(column).type)
    rows = part_between(layer.select(["path", "digest", column]), entries)
    return current_rows(rows, entries).column(column)


def part_between(layer: pa.Table, entries: pa.Table) -> pa.Table:
    """Return a layer's part of a range of entries: looking up is linear in its length.

    Both are in path order.
    """
    if not len(entries):
        return layer.slice(0, 0)
    paths = layer.column("path")
    start = _first_from(paths, entries.column("path")[0].as_py())
    end = _first_from(paths, entries.column("path")[-1].as_py() + "\0")
    return layer.slice(start, end - start)


def _first_from(paths: pa.ChunkedArray, path: str) -> int:
    """Index of the first of the sorted paths that is not before `path`."""
    low, high = 0, len(paths)
    while low < high:
        middle = (low + high) // 2
        low, high = (middle + 1, high) if paths[middle].as_py() < path else (low, middle)
    return low


def _read_kind(root: Root, store: ObjectStore, name: str, kind: str) -> pa.Table | None:
    layer = root.layer(name)
    if layer is None:
        return None
    if layer.kind != kind:
        raise LayerKindError(
            Sentence(
                "layers.kind_differs",
                "The layer {layer} has the kind {kind}, not {expected}.",
                layer=repr(name),
                kind=repr(layer.kind),
                expected=repr(kind),
            )
        )
    return read_layer(layer, store)
