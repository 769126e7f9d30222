"""View index: what a node needs to read one selection of a version, as one Arrow file."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc
from xxhash import xxh3_128

from atom_sdk.disk import whole_file
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.entries import DIGEST, LINK_COLUMN
from atom_sdk.manifests.joined import LABEL_LAYERS, SPLIT_LAYER, LayerJoin, iter_ranges
from atom_sdk.manifests.linked_files import LinkedFiles
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.query import UNSPLIT_IS, Query, matches, may_match, read_object_facts
from atom_sdk.manifests.roots.roots import RangeRef, Root
from atom_sdk.manifests.view_annotations import (
    ANNOTATIONS_FIELD,
    read_annotations,
    with_annotations,
)

VIEW_FORMAT = "atom-view/2"
METADATA_FORMAT = b"atom.format"
METADATA_PACKS = b"atom.packs"
METADATA_CONTENT = b"atom.content"
METADATA_SELECTOR = b"atom.selector"
METADATA_LINKS = b"atom.links"
CHECK_BYTES = 16
_CHUNK_BYTES = 1 << 20
_CATEGORY = pa.dictionary(pa.int32(), pa.string())
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


def at_their_source(entries: pa.Table) -> pa.Table:
    """Say of entries at sources that are in no pack that their pin is one, which has only them.

    For readers that fetch what a pin names, in the state that it names.
    """
    is_ours = pc.and_(entries["source"].is_valid(), pc.invert(entries["pack"].is_valid()))
    packs = pc.if_else(is_ours, entries["digest"], entries["pack"])
    offsets = pc.if_else(is_ours, 0, entries["offset"])
    for name, column in (("pack", packs), ("offset", offsets)):
        position = entries.schema.get_field_index(name)
        entries = entries.set_column(position, entries.schema.field(name), column)
    return entries


@dataclass(frozen=True, slots=True)
class ViewSelector:
    """Which entries a view holds.

    `splits`: only these, or all if None. Entries without a split belong to "train".
    `labelled_only`: only entries with a label. `where`: only entries that match. Label layers are
    tried in order: the first that labels an entry wins. Entries that are left out here are not in
    the file at all, so a training job cannot see the labels of the test split.
    """

    splits: frozenset[str] | None = None
    labelled_only: bool = False
    label_layers: tuple[str, ...] = LABEL_LAYERS
    split_layer: str = SPLIT_LAYER
    where: Query | None = None

    def may(self, part: RangeRef) -> bool:
        """Return False only if nothing in the range can be selected."""
        return self.where is None or may_match(self.where, part.min, part.max)


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

    A version with a layer of objects gives its view the column `annotations`, of these rows only.
    Entries whose bytes are in no pack are left out, also after `placed` has seen them. A link to a
    file is a row like that file's; what has to show it as a link finds it in the metadata.
    Raises EmptyDatasetError if the selector leaves neither files nor links, LayerKindError if a
    named layer has another kind.
    """
    selector = selector or ViewSelector()
    tables: list[pa.Table] = []
    links = _ViewLinks()
    annotations = read_annotations(root, store)
    for chosen in _selected(root, store, selector):
        files = chosen.files
        if annotations is not None:
            files = with_annotations(files, annotations)
        tables.append(_in_packs(files, placed))
        links.add(chosen)
    rows = pa.concat_tables(tables) if tables else None
    # A version may hold links to no file of its own: a view of it has no row.
    if rows is None or not (len(rows) or links):
        raise EmptyDatasetError("No sample of this version fits the selection.")
    packs = sorted(rows.column("pack").unique().to_pylist())
    metadata = _metadata(root, packs, selector) | links.metadata()
    _write_file(_view_table(rows, packs, metadata), Path(path))
    return len(rows)


def selected(root: Root, store: ObjectStore, selector: ViewSelector) -> Iterator[pa.Table]:
    """Entries that the selector keeps, with `label` and `split`, in path order; range by range.

    A link to a file is that file under the link's path; other links are left out.
    """
    return (chosen.files for chosen in _selected(root, store, selector))


def selected_with_links(
    root: Root, store: ObjectStore, selector: ViewSelector
) -> Iterator[SelectedRows]:
    """The rows of `selected`, with the links themselves."""
    return _selected(root, store, selector)


class SelectedRows(NamedTuple):
    """The rows of a range that a selector keeps: tables of entries with `label` and `split`.

    `files` has a row for each link to a file, `links` one for each link; `leaving` are the paths of
    those that lead out of the tree. A link without a file is kept if neither a split nor a label is
    asked for.
    """

    files: pa.Table
    links: pa.Table
    leaving: frozenset[str] = frozenset()


def _selected(root: Root, store: ObjectStore, selector: ViewSelector) -> Iterator[SelectedRows]:
    facts = read_object_facts(root, store, selector.where)
    join = LayerJoin(root, store, selector.label_layers, selector.split_layer, facts)
    linked = LinkedFiles(root, store, join) if root.links else None
    for entries in iter_ranges(root, store, selector.may):
        rows = join.join(entries)
        if linked is None:
            yield SelectedRows(select_rows(rows, selector), rows.slice(0, 0))
            continue
        shown = select_rows(linked.shown(rows), selector)
        links = rows.filter(rows[LINK_COLUMN].is_valid())
        kept = pc.is_in(links["path"], value_set=shown["path"].combine_chunks())
        if selector.splits is None and not selector.labelled_only:
            others = select_rows(links.filter(pc.invert(kept)), selector)
            paths = [*links["path"].filter(kept).to_pylist(), *others["path"].to_pylist()]
            kept = pc.is_in(links["path"], value_set=pa.array(paths, pa.string()))
        links = links.filter(kept)
        leaving = frozenset(filter(linked.leaves, links["path"].to_pylist()))
        yield SelectedRows(shown, links, leaving)


class _ViewLinks:
    """The links of a view as they stand in its metadata."""

    def __init__(self) -> None:
        self._inside: dict[str, str] = {}
        self._leaving: dict[str, str] = {}

    def add(self, chosen: SelectedRows) -> None:
        rows = (chosen.links["path"].to_pylist(), chosen.links[LINK_COLUMN].to_pylist())
        for path, target in zip(*rows, strict=True):
            side = self._leaving if path in chosen.leaving else self._inside
            side[path] = target

    def __bool__(self) -> bool:
        return bool(self._inside or self._leaving)

    def metadata(self) -> dict[bytes, bytes]:
        if not self:
            return {}
        value = {"inside": self._inside, "leaving": self._leaving}
        return {METADATA_LINKS: json.dumps(value, sort_keys=True).encode()}


def select_rows(rows: pa.Table, selector: ViewSelector) -> pa.Table:
    """Rows that the selector keeps, of a table with `label` and `split`."""
    if selector.splits is not None:
        names = pa.array(sorted(selector.splits), pa.string())
        split = pc.fill_null(rows.column("split"), UNSPLIT_IS)
        rows = rows.filter(pc.is_in(split, value_set=names))
    if selector.labelled_only:
        rows = rows.filter(rows.column("label").is_valid())
    return rows if selector.where is None else rows.filter(matches(selector.where, rows))


def _in_packs(rows: pa.Table, placed: Placed | None) -> pa.Table:
    """Leave out entries whose bytes are in no pack: a view says where the bytes are."""
    if placed is not None:
        # Last: labels and splits are keyed by the digests of the manifest.
        rows = placed(rows)
    return rows.filter(pc.and_(rows.column("pack").is_valid(), rows.column("offset").is_valid()))


def _metadata(root: Root, packs: list[bytes], selector: ViewSelector) -> dict[bytes, bytes]:
    selection: dict[str, Any] = {
        # This holds for the whole version: if it has splits, a file without one was perhaps
        # forgotten.
        "has_splits": any(layer.name == selector.split_layer for layer in root.layers),
        "labelled_only": selector.labelled_only,
        "splits": None if selector.splits is None else sorted(selector.splits),
    }
    if selector.where is not None:
        selection["where"] = selector.where.text
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
    fields = list(VIEW_FIELDS)
    if ANNOTATIONS_FIELD.name in rows.column_names:
        arrays.append(rows.column(ANNOTATIONS_FIELD.name))
        fields.append(ANNOTATIONS_FIELD)
    return pa.Table.from_arrays(arrays, schema=pa.schema(fields, metadata)).combine_chunks()


def _categories(column: pa.ChunkedArray) -> pa.ChunkedArray:
    """Dictionary-encode with sorted values: class numbers must not depend on the order of files."""
    values = pa.array(sorted(column.unique().drop_null().to_pylist()), pa.string())
    codes = pc.index_in(column, value_set=values).cast(pa.int32())
    chunks = [pa.DictionaryArray.from_arrays(chunk, values) for chunk in codes.chunks]
    return pa.chunked_array(chunks, _CATEGORY)


def _write_file(table: pa.Table, path: Path) -> None:
    """Write one record batch, uncompressed, so that readers can map it; the file appears whole."""
    with whole_file(path) as temporary:
        with (
            pa.OSFile(str(temporary), "wb") as sink,
            pa.ipc.new_file(sink, table.schema) as writer,
        ):
            # Also of no rows there is one batch.
            (batch,) = table.to_batches() or [pa.RecordBatch.from_pylist([], schema=table.schema)]
            writer.write_batch(batch)
        with temporary.open("r+b") as file:
            file.write(_checksum(file))


def _checksum(file: BinaryIO) -> bytes:
    """xxh3 (128 bits) of a file, which is then at its end.

    A view is kept on disks that nobody watches, and Arrow trusts what it maps: one wrong bit could
    be a wrong label, or the end of the process.
    """
    hasher = xxh3_128()
    while chunk := file.read(_CHUNK_BYTES):
        hasher.update(chunk)
    return hasher.digest()


def check_view(data: pa.Buffer) -> bool:
    """Whether a whole view, as it lies on the disk, is what was written."""
    view = memoryview(data).cast("B")
    return xxh3_128(view[:-CHECK_BYTES]).digest() == view[-CHECK_BYTES:]
