"""View index: what a node needs to read one selection of a version, as one Arrow file."""

from __future__ import annotations

import json
import os
import tempfile
from collections.abc import Callable, Iterator
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.errors import EmptyDatasetError, LayerKindError
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.layers import current_rows, read_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots import Root

VIEW_FORMAT = "atom-view/1"
METADATA_FORMAT = b"atom.format"
METADATA_PACKS = b"atom.packs"
METADATA_CONTENT = b"atom.content"
METADATA_SELECTOR = b"atom.selector"
UNSPLIT_IS = "train"
_CATEGORY = pa.dictionary(pa.int32(), pa.string())
_PARALLEL_READS = 4
VIEW_FIELDS = [
    pa.field("path", pa.large_string(), nullable=False),
    pa.field("size", pa.int64(), nullable=False),
    pa.field("digest", DIGEST),
    pa.field("pack_id", pa.int32(), nullable=False),
    pa.field("offset", pa.int64(), nullable=False),
    pa.field("label", _CATEGORY),
    pa.field("split", _CATEGORY),
]


# Gives entries their digest, pack and offset where the manifest has none: for objects at a source,
# which a node packs for itself. Takes and returns a table of entries, the same rows.
Placed = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True, slots=True)
class ViewSelector:
    """Which entries a view holds.

    `splits`: only these, or all if None. What has no split belongs to "train". `labelled_only`:
    only entries with a label. Label layers are tried in order: the first that labels an entry
    wins. What is left out here is not in the file at all, so a training job cannot see the labels
    of the test split.
    """

    splits: frozenset[str] | None = None
    labelled_only: bool = False
    label_layers: tuple[str, ...] = ("labels", "folder")
    split_layer: str = "split"


def iter_ranges(root: Root, store: ObjectStore) -> Iterator[pa.Table]:
    """Tables of all ranges in path order, a few read ahead."""
    with ThreadPoolExecutor(_PARALLEL_READS, "range") as pool:
        futures = []
        for part in root.ranges:
            futures.append(pool.submit(read_range, part, store))
            if len(futures) > _PARALLEL_READS:
                yield futures.pop(0).result()
        for future in futures:
            yield future.result()


def pack_table(root: Root, store: ObjectStore) -> list[bytes]:
    """Digests of all packs of a version, sorted: the order of its coverage bitmap."""
    packs: set[bytes] = set()
    for table in iter_ranges(root, store):
        packs.update(table.column("pack").unique().drop_null().to_pylist())
    return sorted(packs)


def build_view(
    root: Root,
    store: ObjectStore,
    path: Path | str,
    selector: ViewSelector | None = None,
    placed: Placed | None = None,
) -> int:
    """Write the view index of a root to a file; returns its number of rows.

    Entries whose bytes are in no pack are left out, also after `placed` has seen them.
    Raises EmptyDatasetError if the selector leaves nothing, LayerKindError if a named layer has
    another kind.
    """
    selector = selector or ViewSelector()
    layers = _Layers(root, store, selector, placed)
    tables = [layers.select(table) for table in iter_ranges(root, store)]
    rows = pa.concat_tables(tables)
    if not len(rows):
        raise EmptyDatasetError("No sample of this version fits the selection.")
    packs = sorted(rows.column("pack").unique().to_pylist())
    _write_file(_view_table(rows, packs, _metadata(root, packs, selector)), Path(path))
    return len(rows)


class _Layers:
    """The layers that a selector needs, read once."""

    def __init__(
        self, root: Root, store: ObjectStore, selector: ViewSelector, placed: Placed | None
    ) -> None:
        self._selector = selector
        self._placed = placed
        self._split = _read_kind(root, store, selector.split_layer, "split")
        found = (_read_kind(root, store, name, "classification") for name in selector.label_layers)
        self._labels = [table for table in found if table is not None]

    def select(self, entries: pa.Table) -> pa.Table:
        """Entries that the selector keeps, with `label` and `split`.

        Entries whose bytes are in no pack are left out.
        """
        none = pa.nulls(len(entries), pa.string())
        split = none if self._split is None else current_rows(self._split, entries).column("value")
        label = pc.coalesce(
            none, *(current_rows(layer, entries).column("label") for layer in self._labels)
        )
        if self._placed is not None:
            # Last: labels and splits are keyed by the digests of the manifest.
            entries = self._placed(entries)
        keep = pc.and_(entries.column("pack").is_valid(), entries.column("offset").is_valid())
        if self._selector.splits is not None:
            keep = pc.and_(
                keep,
                pc.is_in(
                    pc.fill_null(split, UNSPLIT_IS),
                    value_set=pa.array(sorted(self._selector.splits), pa.string()),
                ),
            )
        if self._selector.labelled_only:
            keep = pc.and_(keep, label.is_valid())
        return entries.append_column("label", label).append_column("split", split).filter(keep)


def _read_kind(root: Root, store: ObjectStore, name: str, kind: str) -> pa.Table | None:
    layer = root.layer(name)
    if layer is None:
        return None
    if layer.kind != kind:
        raise LayerKindError(f"The layer {name!r} has the kind {layer.kind!r}, not {kind!r}.")
    return read_layer(layer, store)


def _metadata(root: Root, packs: list[bytes], selector: ViewSelector) -> dict[bytes, bytes]:
    selection: dict[str, Any] = {
        "labelled_only": selector.labelled_only,
        "splits": None if selector.splits is None else sorted(selector.splits),
    }
    return {
        METADATA_FORMAT: VIEW_FORMAT.encode(),
        METADATA_PACKS: "".join(pack.hex() for pack in packs).encode(),
        METADATA_CONTENT: root.content.hex().encode(),
        METADATA_SELECTOR: json.dumps(selection, sort_keys=True).encode(),
    }


def _view_table(rows: pa.Table, packs: list[bytes], metadata: dict[bytes, bytes]) -> pa.Table:
    pack_ids = pc.index_in(rows.column("pack"), value_set=pa.array(packs, DIGEST))
    columns = [rows.column(name) for name in ("path", "size", "digest")]
    columns += [pack_ids, rows.column("offset")]
    columns += [_categories(rows.column(name)) for name in ("label", "split")]
    arrays = [column.cast(field.type) for column, field in zip(columns, VIEW_FIELDS, strict=True)]
    return pa.Table.from_arrays(arrays, schema=pa.schema(VIEW_FIELDS, metadata)).combine_chunks()


def _categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionary-encode with sorted values: class numbers must not depend on the order of files."""
    values = pa.array(sorted(column.unique().drop_null().to_pylist()), pa.string())
    codes = pc.index_in(column, value_set=values).cast(pa.int32())
    chunks = [pa.DictionaryArray.from_arrays(chunk, values) for chunk in codes.chunks]
    return pa.chunked_array(chunks, _CATEGORY)


def _write_file(table: pa.Table, path: Path) -> None:
    """Write one record batch, uncompressed, so that readers can map it; the file appears whole."""
    descriptor, name = tempfile.mkstemp(prefix=f".{path.name}.", dir=path.parent)
    os.close(descriptor)
    with pa.OSFile(name, "wb") as sink, pa.ipc.new_file(sink, table.schema) as writer:
        writer.write_table(table, max_chunksize=max(len(table), 1))
    os.rename(name, path)
