"""Layers of objects in a new version: rows are large, so they are read and written piece by piece.

Nothing is written where no row changes; to learn that, only paths and digests are read.
"""

from __future__ import annotations

import tempfile
from collections.abc import Callable, Iterable, Iterator, Mapping
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.layer_rows import without_stale
from atom.datasets.versions.engines.spilled import paths_of, tables_of
from atom_sdk.manifests.entries import ENTRY_SCHEMA
from atom_sdk.manifests.layers.layers import layer_schema, merge_layer
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_SCHEMA
from atom_sdk.manifests.layers.pieces import Pair, change_layer_pieces, layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import LayerRef, Root
from atom_sdk.manifests.rows.pieces import Pieces, aligned

KEY = pa.schema([OBJECTS_SCHEMA.field(name) for name in ("path", "digest")])
# The source of rows that people made.
DRAWN = "human"
# Rows of a piece before a change, and those that come.
MergeRows = Callable[[pa.Table, pa.Table], pa.Table]
_Pairs = Callable[[Pieces], Iterable[Pair]]


def object_layers(root: Root) -> list[LayerRef]:
    """Return the layers of objects that a root has."""
    return [layer for layer in root.layers if layer.kind == OBJECTS_KIND]


def without_stale_objects(root: Root, changes: ChangesFile, store: ObjectStore) -> Root:
    """Return the root without the rows whose bytes the changes take away."""
    for ref in object_layers(root):
        with tempfile.TemporaryDirectory(prefix="atom-keys-") as scratch:
            keys = Pieces(layer_pieces(ref, store, Path(scratch), KEY), KEY)
            # To the end, for then the objects in the folder are let go.
            stale = sum(len(old) - len(new) for old, new in _kept(keys, changes))
        if stale:
            root = _changed(root, ref.name, store, lambda rows: _kept(rows, changes))
    return root


def with_objects(
    root: Root,
    name: str,
    rows: Iterable[pa.Table],
    store: ObjectStore,
    merge: MergeRows = merge_layer,
) -> Root:
    """Return the root with rows of a layer added or replaced by path; they come in path order.

    `merge` makes the rows of a piece from those before and those that come.
    """
    coming = Pieces((table for table in rows if len(table)), OBJECTS_SCHEMA)
    return _changed(
        root,
        name,
        store,
        lambda old: ((before, merge(before, new)) for before, new in aligned(old, coming)),
    )


def with_imported_objects(
    root: Root, name: str, rows: Iterable[pa.Table], store: ObjectStore
) -> Root:
    """Return the root with imported rows; what people drew on the same bytes stays."""
    return with_objects(root, name, rows, store, _merge_imported)


def _merge_imported(before: pa.Table, new: pa.Table) -> pa.Table:
    row = pc.index_in(new["path"], value_set=before["path"].combine_chunks())
    is_same = pc.equal(before["digest"].take(row), new["digest"])
    is_drawn = pc.and_(is_same, pc.equal(before["source"].take(row), DRAWN))
    return merge_layer(before, new.filter(pc.invert(pc.fill_null(is_drawn, False))))


def with_objects_along(
    root: Root,
    name: str,
    source: Root,
    targets: Mapping[str, str],
    gone: Iterable[str],
    store: ObjectStore,
) -> Root:
    """Return the root with the rows of a source at the new paths of their files.

    `targets` are new paths by old ones; rows at paths that are `gone` are left out.
    """
    brought = source.layer(name)
    along = [OBJECTS_SCHEMA.empty_table()]
    if brought is not None and brought.kind == OBJECTS_KIND and targets:
        along += _moved(brought, targets, store)
    rows = pa.concat_tables(along).sort_by("path").combine_chunks()
    left = pa.array(list(gone), pa.string())
    if not len(rows) and not len(left):
        return root

    def pairs(old: Pieces) -> Iterator[Pair]:
        for before, new in aligned(old, Pieces([rows], OBJECTS_SCHEMA)):
            kept = before.filter(pc.invert(pc.is_in(before["path"], value_set=left)))
            yield before, merge_layer(kept, new)

    return _changed(root, name, store, pairs)


def _kept(rows: Pieces, changes: ChangesFile) -> Iterator[Pair]:
    puts = Pieces(tables_of(changes.puts), ENTRY_SCHEMA)
    for old, coming, gone in aligned(rows, puts, paths_of(changes.deletes)):
        here = ChangesFile(coming, frozenset(gone["path"].to_pylist()))
        yield old, without_stale(old, here)


def _moved(ref: LayerRef, targets: Mapping[str, str], store: ObjectStore) -> Iterator[pa.Table]:
    olds, news = pa.array(list(targets), pa.string()), pa.array(targets.values(), pa.string())
    with tempfile.TemporaryDirectory(prefix="atom-objects-") as scratch:
        for table in layer_pieces(ref, store, Path(scratch)):
            row = pc.index_in(table["path"], value_set=olds)
            if row.null_count < len(row):
                rows = table.filter(row.is_valid())
                paths = news.take(row.drop_null().combine_chunks())
                yield rows.set_column(0, OBJECTS_SCHEMA.field("path"), paths)


def _changed(root: Root, name: str, store: ObjectStore, pairs: _Pairs) -> Root:
    before = root.layer(name)
    with tempfile.TemporaryDirectory(prefix="atom-objects-") as folder:
        scratch = Path(folder)
        is_there = before is not None and before.kind == OBJECTS_KIND
        tables = layer_pieces(before, store, scratch) if before and is_there else ()
        old = Pieces(tables, layer_schema(OBJECTS_KIND))
        after = change_layer_pieces(before, (name, OBJECTS_KIND), pairs(old), store, scratch)
    return root.without_layer(name) if after is None else root.with_layers(after)
