"""Layers of very many files after a push: read and written piece by piece, in path order.

`versions` handles whole layers. This module does the same with the rows between two paths, since
rows of layers depend only on the entries and changes at their path. A split is drawn in arrays.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterable, Iterator
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.layer_rows import (
    filled_split,
    folder_rows,
    given_rows,
    groups_of,
    kept_split,
    without_stale,
)
from atom.datasets.versions.engines.spilled import paths_of, tables_of
from atom.datasets.versions.engines.version_plan import (
    FOLDER_LAYER,
    GIVEN_LAYER,
    SPLIT_LAYER,
    VersionPlan,
)
from atom_sdk.errors import LayerKindError
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.joined import LABEL_LAYERS, iter_ranges, join_facts
from atom_sdk.manifests.layers.layers import current_rows, layer_schema, merge_layer
from atom_sdk.manifests.layers.pieces import Pair, change_layer_pieces, layer_pieces
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import watched_ranges
from atom_sdk.manifests.query import matches, read_object_facts
from atom_sdk.manifests.roots.roots import LayerRef, Root
from atom_sdk.manifests.rows.pieces import Pieces, aligned
from atom_sdk.manifests.splits.large import DrawnRows, draw_rows
from atom_sdk.manifests.splits.requests import SplitRequest
from atom_sdk.manifests.splits.rows import SplitRows
from atom_sdk.sentences import Sentence

_CLASSES = layer_schema("classification")
_SPLITS = layer_schema("split")
_KEY = pa.schema(list(_SPLITS)[:2])


def with_large_layers(
    root: Root, parent: Root | None, plan: VersionPlan, store: ObjectStore
) -> Root:
    """Return the root with its layers brought up to date. Raises what `with_layers_of` raises."""
    with tempfile.TemporaryDirectory(prefix="atom-layers-") as scratch:
        layers = _Layers(plan, store, Path(scratch))
        root = layers.with_current_labels(root)
        root = layers.with_given_labels(root)
        return layers.with_split(root, parent)


class _Layers:
    def __init__(self, plan: VersionPlan, store: ObjectStore, scratch: Path) -> None:
        self._plan = plan
        self._store = store
        self._scratch = scratch

    def with_current_labels(self, root: Root) -> Root:
        """Drop label rows whose bytes are gone and label new files from their folders."""
        layers = [layer for layer in root.layers if layer.kind == "classification"]
        self._plan.watch.begin("labels", sum(ref.rows for ref in layers))
        for ref in layers:
            root = self._put(root, (ref.name, ref.kind), self._without_stale(ref))
            self._plan.watch.advance(ref.rows)
        if self._plan.labels_from_folders:
            root = self._put(root, (FOLDER_LAYER, "classification"), self._labelled(root))
        return root

    def with_given_labels(self, root: Root) -> Root:
        """Add the labels that came with the files, of an import or a writer."""
        if not self._plan.changes.labels:
            return root
        before = root.layer(GIVEN_LAYER)
        if before is not None and before.kind != "classification":
            raise LayerKindError(
                Sentence(
                    "datasets.layer_is_of_kind",
                    "The layer {layer} is of the kind {kind}.",
                    layer=GIVEN_LAYER,
                    kind=before.kind,
                )
            )
        return self._put(root, (GIVEN_LAYER, "classification"), self._annotated(before))

    def with_split(self, root: Root, parent: Root | None) -> Root:
        """Keep every path in its split, unless all are to be drawn again."""
        before = parent.layer(SPLIT_LAYER) if parent else None
        if before is None and self._plan.split is None and not self._plan.changes.splits:
            return root
        kept = self._kept(before)
        if self._plan.split is None:
            pairs: Iterable[Pair] = ((old, filled_split(rows)) for old, rows in kept)
        else:
            drawn = self._drawn(root, self._plan.split, (rows for _, rows in kept))
            pairs = self._with_codes(root, before, drawn)
        return self._put(root, (SPLIT_LAYER, "split"), pairs)

    def _put(self, root: Root, layer: tuple[str, str], pairs: Iterable[Pair]) -> Root:
        before = root.layer(layer[0])
        after = change_layer_pieces(before, layer, pairs, self._store, self._scratch)
        return root.without_layer(layer[0]) if after is None else root.with_layers(after)

    def _rows(self, ref: LayerRef | None, schema: pa.Schema) -> Pieces:
        tables = () if ref is None else layer_pieces(ref, self._store, self._scratch)
        return Pieces(tables, schema)

    def _changes(self) -> tuple[Pieces, Pieces]:
        """The entries to put, and the paths to delete."""
        changes = self._plan.changes
        return Pieces(tables_of(changes.puts), ENTRY_SCHEMA), paths_of(changes.deletes)

    def _without_stale(self, ref: LayerRef) -> Iterator[Pair]:
        for old, puts, gone in aligned(self._rows(ref, _CLASSES), *self._changes()):
            yield old, without_stale(old, self._piece(puts, gone))

    def _piece(self, puts: pa.Table, gone: pa.Table) -> ChangesFile:
        splits = self._plan.changes.splits
        return ChangesFile(puts, frozenset(gone["path"].to_pylist()), splits=splits)

    def _labelled(self, root: Root) -> Iterator[Pair]:
        before = root.layer(FOLDER_LAYER)
        if before is not None and before.kind != "classification":
            before = None
        is_whole = self._plan.relabels or before is None
        files = iter_ranges(root, self._store) if is_whole else tables_of(self._plan.changes.puts)
        labelled = aligned(self._rows(before, _CLASSES), Pieces(files, ENTRY_SCHEMA))
        for old, found in labelled:
            kept = _CLASSES.empty_table() if is_whole else old
            yield old, merge_layer(kept, folder_rows(found, self._plan.unlabelled_prefixes))

    def _annotated(self, before: LayerRef | None) -> Iterator[Pair]:
        puts, _ = self._changes()
        for old, found in aligned(self._rows(before, _CLASSES), puts):
            yield old, merge_layer(old, given_rows(found, self._plan.changes.labels))

    def _kept(self, before: LayerRef | None) -> Iterator[Pair]:
        for old, puts, gone in aligned(self._rows(before, _SPLITS), *self._changes()):
            yield old, kept_split(old, self._piece(puts, gone))

    def _drawn(self, root: Root, split: SplitRequest, kept: Iterable[pa.Table]) -> DrawnRows:
        rows, query = SplitRows(split), split.query
        facts = read_object_facts(root, self._store, query)
        ranges = watched_ranges(root.ranges, self._plan.watch)
        files = (without_links(read_range(part, self._store)) for part in ranges)
        entries = Pieces(files, ENTRY_SCHEMA)
        labels = [self._rows(ref, _CLASSES) for ref in _label_layers(root)]
        for table, splits, *layers in aligned(entries, Pieces(kept, _LOOSE), *labels):
            if not len(table):
                continue
            label = pc.coalesce(
                pa.nulls(len(table), pa.string()),
                *(current_rows(layer, table)["label"].combine_chunks() for layer in layers),
            )
            paths = table["path"].to_pylist()
            found = pc.index_in(table["path"], value_set=splits["path"].combine_chunks())
            attributes = table["attributes"].to_pylist() if split.group_by else []
            nulls = pa.nulls(len(table), pa.string())
            joined = table.append_column("label", label).append_column("split", nulls)
            joined = join_facts(joined, facts)
            rows.add(
                paths,
                label.to_pylist(),
                splits["value"].take(found).to_pylist(),
                list(groups_of(split.group_by, paths, attributes)) if split.group_by else None,
                None if query is None else np.asarray(matches(query, joined), np.bool_),
            )
        return draw_rows(split, rows, self._plan.previous_split)

    def _with_codes(self, root: Root, before: LayerRef | None, drawn: DrawnRows) -> Iterator[Pair]:
        names = pa.array(drawn.names, pa.string())
        # The same rows as those that the split was drawn from.
        entries = Pieces(map(without_links, iter_ranges(root, self._store)), ENTRY_SCHEMA)
        row = 0
        for old, files in aligned(self._rows(before, _SPLITS), entries):
            codes = drawn.codes[row : row + len(files)]
            row += len(files)
            values = names.take(pa.array(codes, mask=codes < 0))
            new = files.select(_KEY.names).append_column(_SPLITS.field("value"), values)
            yield old, new.filter(pa.array(codes >= 0)).cast(_SPLITS)


# The value of a new path is null.
_LOOSE = pa.schema([*_KEY, pa.field("value", pa.string())])


def _label_layers(root: Root) -> Iterator[LayerRef]:
    for name in LABEL_LAYERS:
        layer = root.layer(name)
        if layer is not None and layer.kind != "classification":
            kind = layer.kind
            raise LayerKindError(
                Sentence(
                    "datasets.layer_not_classification",
                    "The layer {layer} has the kind {kind}, not 'classification'.",
                    layer=repr(name),
                    kind=repr(kind),
                )
            )
        if layer is not None:
            yield layer
