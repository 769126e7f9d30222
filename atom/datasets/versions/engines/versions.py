"""Builds the root of a new version from its parent and a changes file.

Deterministic: the same parent and plan give the same root, so a worker may run it again. Writes
follow the size of the change; if a layer changes, all its rows are read.

Layers of a pushed version: `folder` (classification, from class folders), `given` (classification,
what an import or a writer said), `objects` (what an import says is drawn), `split`. Layers that
people publish (`labels`) are carried over. A layer only ever holds rows that are current.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.given_documents import given_object_rows
from atom.datasets.versions.engines.large_layers import with_large_layers
from atom.datasets.versions.engines.layer_rows import (
    filled_split,
    folder_rows,
    given_rows,
    groups_of,
    kept_split,
    without_stale,
)
from atom.datasets.versions.engines.object_layers import (
    MergeRows,
    with_imported_objects,
    with_objects,
    without_stale_objects,
)
from atom.datasets.versions.engines.spilled import merged, tables_of
from atom.datasets.versions.engines.version_plan import (
    FOLDER_LAYER,
    GIVEN_LAYER,
    SPLIT_LAYER,
    VersionPlan,
)
from atom_sdk.errors import LayerKindError
from atom_sdk.manifests.build import Changes, apply_changes, build_root, read_range
from atom_sdk.manifests.entries import DIGEST, LINK_COLUMN
from atom_sdk.manifests.joined import LABEL_LAYERS, LayerJoin, iter_ranges
from atom_sdk.manifests.layers.layers import (
    change_layer,
    layer_schema,
    merge_layer,
    read_layer,
    write_layer,
)
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND, OBJECTS_LAYER
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch, watched_ranges
from atom_sdk.manifests.query import matches, read_object_facts
from atom_sdk.manifests.ranges.deltas import clip
from atom_sdk.manifests.roots.roots import LayerRef, Root
from atom_sdk.manifests.rows.spilled_rows import SpilledRows
from atom_sdk.manifests.splits.requests import SplitInput, SplitRequest, draw
from atom_sdk.sentences import Sentence

# At this number of files, pieces take less memory and no more time.
LARGE_ENTRIES = 200_000
# Rows of objects are large: so many are copied at a time.
_PUBLISHED_ROWS = 4096


def build_version(
    parent: Root | None,
    plan: VersionPlan,
    store: ObjectStore,
    large_entries: int = LARGE_ENTRIES,
) -> Root:
    """Return the new root, not stored yet; `large_entries` as for `with_layers_of`.

    Raises EmptyDatasetError if no file would be left, SplitTooLargeError, SplitUnlabelledError,
    SplitRedrawError.
    """
    root = _with_entries(parent, plan, store)
    return with_layers_of(root, parent, plan, store, large_entries)


def _with_entries(parent: Root | None, plan: VersionPlan, store: ObjectStore) -> Root:
    changes = plan.changes
    if parent is None:
        return build_root(tables_of(changes.puts), store)
    if not isinstance(changes.puts, SpilledRows):
        wanted = Changes(changes.puts, frozenset(changes.deletes))
        return apply_changes(parent, wanted, store, watch=plan.watch)
    # This many changes touch every range: all are read once, in order, and equal ones not written.
    before = iter_ranges(parent, store)
    root = build_root(merged(before, changes.puts, changes.deletes), store, parent)
    return root.with_layers(*parent.layers)


def with_layers_of(
    root: Root,
    parent: Root | None,
    plan: VersionPlan,
    store: ObjectStore,
    large_entries: int = LARGE_ENTRIES,
) -> Root:
    """Return the root with its layers brought up to date with the plan's changes.

    Those of more than `large_entries` files are not in memory as a whole. `root` has the parent's
    layers already. Raises SplitTooLargeError, SplitUnlabelledError, LayerKindError.
    """
    root = without_stale_objects(root, plan.changes, store)
    root = _with_given_objects(root, plan.changes, store)
    if root.count > large_entries or isinstance(plan.changes.puts, SpilledRows):
        return with_large_layers(root, parent, plan, store)
    root = _with_current_labels(root, plan, store)
    root = _with_given_labels(root, plan.changes, store)
    return _with_split(root, parent, plan, store)


def _with_current_labels(root: Root, plan: VersionPlan, store: ObjectStore) -> Root:
    """Drop label rows whose bytes are gone and label new files from their folders."""
    layers = [layer for layer in root.layers if layer.kind == "classification"]
    plan.watch.begin("labels", sum(ref.rows for ref in layers))
    for ref in layers:
        old = read_layer(ref, store)
        table = without_stale(old, plan.changes)
        root = put_layer(root, ref.name, ref.kind, table, store, old=old)
        plan.watch.advance(ref.rows)
    if plan.labels_from_folders:
        before = None if plan.relabels else root.layer(FOLDER_LAYER)
        empty = layer_schema("classification").empty_table()
        table = read_layer(before, store) if before else empty
        files = _all_files(root, store) if before is None else plan.changes.puts
        table = merge_layer(table, folder_rows(files, plan.unlabelled_prefixes))
        root = put_layer(root, FOLDER_LAYER, "classification", table, store)
    return root


def _with_given_labels(root: Root, changes: ChangesFile, store: ObjectStore) -> Root:
    """Add the labels that came with the files, of an import or a writer."""
    if not changes.labels:
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
    table = read_layer(before, store) if before else layer_schema("classification").empty_table()
    table = merge_layer(table, given_rows(changes.puts, changes.labels))
    return put_layer(root, GIVEN_LAYER, "classification", table, store)


def _with_given_objects(root: Root, changes: ChangesFile, store: ObjectStore) -> Root:
    """Add what is drawn on pictures that came with them, of an import or a writer."""
    if not changes.documents:
        return root
    before = root.layer(OBJECTS_LAYER)
    if before is not None and before.kind != OBJECTS_KIND:
        raise LayerKindError(
            Sentence(
                "datasets.layer_is_of_kind",
                "The layer {layer} is of the kind {kind}.",
                layer=OBJECTS_LAYER,
                kind=before.kind,
            )
        )
    rows = given_object_rows(tables_of(changes.puts), changes.documents)
    return with_imported_objects(root, OBJECTS_LAYER, rows, store)


def _all_files(root: Root, store: ObjectStore) -> pa.Table:
    """Return path, digest and link of every entry."""
    columns = ["path", "digest", LINK_COLUMN]
    return pa.concat_tables([read_range(part, store).select(columns) for part in root.ranges])


def _with_split(root: Root, parent: Root | None, plan: VersionPlan, store: ObjectStore) -> Root:
    """Keep every path in its split, unless all are to be drawn again."""
    before = parent.layer(SPLIT_LAYER) if parent else None
    if before is None and plan.split is None and not plan.changes.splits:
        return root
    empty = layer_schema("split").empty_table()
    kept = kept_split(read_layer(before, store) if before else empty, plan.changes)
    if plan.split is not None:
        table = _drawn_split(root, plan.split, plan, kept, store)
    else:
        table = filled_split(kept)
    return put_layer(root, SPLIT_LAYER, "split", table, store)


def _drawn_split(
    root: Root,
    split: SplitRequest,
    plan: VersionPlan,
    kept: pa.Table,
    store: ObjectStore,
) -> pa.Table:
    paired = zip(kept["path"].to_pylist(), kept["value"].to_pylist(), strict=True)
    existing = {path: value for path, value in paired if value is not None}
    files, digests = split_input(root, split, existing, store, plan.watch)
    assigned = draw(split, files, plan.previous_split)
    columns = [
        pa.array(list(assigned), pa.string()),
        pa.array([digests[path] for path in assigned], DIGEST),
        pa.array(list(assigned.values()), pa.string()),
    ]
    return pa.Table.from_arrays(columns, schema=layer_schema("split"))


def split_input(
    root: Root,
    split: SplitRequest,
    existing: Mapping[str, str],
    store: ObjectStore,
    watch: Watch = UNWATCHED,
) -> tuple[SplitInput, dict[str, bytes]]:
    """Return what a split is drawn from, files and no links, and the digest of each path."""
    labels: dict[str, str | None] = {}
    digests: dict[str, bytes] = {}
    groups: dict[str, str] = {}
    query = split.query
    chosen: set[str] | None = None if query is None else set()
    join = LayerJoin(root, store, facts=read_object_facts(root, store, query))
    for part in watched_ranges(root.ranges, watch):
        table = join.join(without_links(read_range(part, store)))
        paths = table["path"].to_pylist()
        labels.update(zip(paths, table["label"].to_pylist(), strict=True))
        digests.update(zip(paths, table["digest"].to_pylist(), strict=True))
        if split.group_by:
            found = groups_of(split.group_by, paths, table["attributes"].to_pylist())
            groups.update(
                (p, name) for p, name in zip(paths, found, strict=True) if name is not None
            )
        if query is not None and chosen is not None:
            chosen.update(table.filter(matches(query, table))["path"].to_pylist())
    return SplitInput(labels, groups, existing, chosen), digests


def label_layers(layers: Iterable[LayerRef]) -> list[LayerRef]:
    """Return the layers that label entries, the strongest first."""
    by_name = {layer.name: layer for layer in layers if layer.kind == "classification"}
    return [by_name[name] for name in LABEL_LAYERS if name in by_name]


def publish_rows(
    root: Root,
    name: str,
    kind: str,
    rows: pa.Table,
    store: ObjectStore,
    *,
    merge: MergeRows = merge_layer,
) -> Root:
    """Return the root with rows of a layer added or replaced by path; stale rows are left out.

    Raises LayerKindError if the layer exists with another kind or a column does not fit.
    """
    before = root.layer(name)
    if before is not None and before.kind != kind:
        raise LayerKindError(
            Sentence(
                "datasets.layer_is_of_kind",
                "The layer {layer} is of the kind {kind}.",
                layer=name,
                kind=before.kind,
            )
        )
    if kind == OBJECTS_KIND:
        return with_objects(root, name, current_pieces(root, rows, store), store, merge)
    current = _current(root, rows.cast(layer_schema(kind)), store)
    table = read_layer(before, store) if before else layer_schema(kind).empty_table()
    return put_layer(root, name, kind, merge_layer(table, current), store, old=table)


def _current(root: Root, rows: pa.Table, store: ObjectStore) -> pa.Table:
    """Keep the rows whose path has that digest in the root."""
    rows = rows.sort_by("path")
    pieces = [rows.schema.empty_table(), *current_pieces(root, rows, store)]
    return pa.concat_tables(pieces).sort_by("path")


def current_pieces(root: Root, rows: pa.Table, store: ObjectStore) -> Iterator[pa.Table]:
    """Yield the rows of each range whose path has that digest in the root.

    `rows` have the columns `path`, by which they are sorted, and `digest`, and any others.
    """
    for part in root.ranges:
        here = clip(rows, part.min, part.max)
        if not len(here):
            continue
        table = read_range(part, store)
        paths, digests = table["path"].combine_chunks(), table["digest"].combine_chunks()
        for start in range(0, len(here), _PUBLISHED_ROWS):
            piece = here.slice(start, _PUBLISHED_ROWS)
            row = pc.index_in(piece["path"], value_set=paths)
            same = pc.equal(piece["digest"], digests.take(row.combine_chunks()))
            yield piece.filter(pc.fill_null(same, False))


def put_layer(
    root: Root,
    name: str,
    kind: str,
    table: pa.Table,
    store: ObjectStore,
    *,
    old: pa.Table | None = None,
) -> Root:
    """Return the root with a layer replaced, without it if it has no rows.

    `old` are the layer's rows before, where these have been read.
    """
    if not len(table):
        return root.without_layer(name)
    table, before = table.cast(layer_schema(kind)), root.layer(name)
    if before is not None and before.kind == kind:
        return root.with_layers(change_layer(before, table, store, old=old))
    return root.with_layers(write_layer(name, kind, table, store))


def layer_json(layer: LayerRef) -> dict[str, str | int]:
    """Return what the catalogue keeps of a layer."""
    return {
        "name": layer.name,
        "kind": layer.kind,
        "rows": layer.rows,
        "content": layer.content.hex(),
    }
