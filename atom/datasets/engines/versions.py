"""Builds the root of a new version from its parent and a changes file.

Deterministic: the same parent and plan give the same root, so a worker may run it again. What
is written follows the change; of a layer that changes, all rows are read.

Layers of a pushed version: `folder` (classification, from class folders), `given` (classification,
what an import or a writer said), `split`. Layers that people publish (`labels`) are carried over. A
layer only ever holds rows that are current.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.engines.changes import ChangesFile
from atom.datasets.engines.spilled import Entries, SpilledEntries, merged, tables_of
from atom_sdk.errors import LayerKindError
from atom_sdk.manifests.build import Changes, apply_changes, build_root, read_range
from atom_sdk.manifests.deltas import clip
from atom_sdk.manifests.entries import DIGEST
from atom_sdk.manifests.folder_labels import folder_labels
from atom_sdk.manifests.joined import LABEL_LAYERS, LayerJoin, iter_ranges
from atom_sdk.manifests.layers import (
    change_layer,
    layer_schema,
    layer_table,
    merge_layer,
    read_layer,
    write_layer,
)
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.query import matches
from atom_sdk.manifests.roots import LayerRef, Root
from atom_sdk.manifests.split_requests import SplitInput, SplitRequest, draw, group_of
from atom_sdk.manifests.watching import UNWATCHED, Watch, watched_ranges

FOLDER_LAYER = "folder"
GIVEN_LAYER = "given"
SPLIT_LAYER = "split"
REST = "train"


@dataclass(frozen=True)
class VersionPlan:
    """What a push asks for.

    `previous_split` is what the parent's split was drawn by, if that is known. `relabels` says
    that the class folders label every file, not only those that are put.
    """

    changes: ChangesFile
    labels_from_folders: bool = False
    unlabelled_prefixes: tuple[str, ...] = field(default=())
    split: SplitRequest | None = None
    previous_split: SplitRequest | None = None
    relabels: bool = False
    watch: Watch = UNWATCHED


def build_version(parent: Root | None, plan: VersionPlan, store: ObjectStore) -> Root:
    """Return the new root, not stored yet.

    Raises EmptyDatasetError if no file would be left, SplitTooLargeError, SplitUnlabelledError,
    SplitRedrawError.
    """
    return with_layers_of(_with_entries(parent, plan, store), parent, plan, store)


def _with_entries(parent: Root | None, plan: VersionPlan, store: ObjectStore) -> Root:
    changes = plan.changes
    if parent is None:
        return build_root(tables_of(changes.puts), store)
    if not isinstance(changes.puts, SpilledEntries):
        wanted = Changes(changes.puts, changes.deletes)
        return apply_changes(parent, wanted, store, watch=plan.watch)
    # So many changes touch every range: all are read once, in order, and equal ones not written.
    before = iter_ranges(parent, store)
    root = build_root(merged(before, changes.puts, changes.deletes), store, parent)
    return root.with_layers(*parent.layers)


def with_layers_of(root: Root, parent: Root | None, plan: VersionPlan, store: ObjectStore) -> Root:
    """Return the root with its layers brought up to date with the plan's changes.

    `root` has the parent's layers already. Raises SplitTooLargeError, SplitUnlabelledError,
    LayerKindError.
    """
    root = _with_current_labels(root, plan, store)
    root = _with_given_labels(root, plan.changes, store)
    return _with_split(root, parent, plan, store)


def _with_current_labels(root: Root, plan: VersionPlan, store: ObjectStore) -> Root:
    """Drop label rows whose bytes are gone and label new files from their folders."""
    layers = [layer for layer in root.layers if layer.kind == "classification"]
    plan.watch.begin("labels", sum(ref.rows for ref in layers))
    for ref in layers:
        old = read_layer(ref, store)
        table = _without_stale(old, plan.changes)
        root = put_layer(root, ref.name, ref.kind, table, store, old=old)
        plan.watch.advance(ref.rows)
    if plan.labels_from_folders:
        before = None if plan.relabels else root.layer(FOLDER_LAYER)
        empty = layer_schema("classification").empty_table()
        table = read_layer(before, store) if before else empty
        files = _all_files(root, store) if before is None else plan.changes.puts
        table = merge_layer(table, _folder_rows(files, plan.unlabelled_prefixes))
        root = put_layer(root, FOLDER_LAYER, "classification", table, store)
    return root


def _with_given_labels(root: Root, changes: ChangesFile, store: ObjectStore) -> Root:
    """Add the labels that came with the files, of an import or a writer."""
    if not changes.labels:
        return root
    before = root.layer(GIVEN_LAYER)
    if before is not None and before.kind != "classification":
        raise LayerKindError(f"The layer {GIVEN_LAYER} is of the kind {before.kind}.")
    table = read_layer(before, store) if before else layer_schema("classification").empty_table()
    paths, digests = changes.puts["path"].to_pylist(), changes.puts["digest"].to_pylist()
    rows = (
        {"path": path, "digest": digest, "label": changes.labels[path], "source": GIVEN_LAYER}
        for path, digest in zip(paths, digests, strict=True)
        if path in changes.labels
    )
    table = merge_layer(table, layer_table("classification", rows))
    return put_layer(root, GIVEN_LAYER, "classification", table, store)


def _without_stale(layer: pa.Table, changes: ChangesFile) -> pa.Table:
    gone = pc.is_in(layer["path"], value_set=pa.array(sorted(changes.deletes), pa.string()))
    row = pc.index_in(layer["path"], value_set=changes.puts["path"].combine_chunks())
    now = changes.puts["digest"].take(row)
    replaced = pc.and_(row.is_valid(), pc.not_equal(pc.fill_null(now, b"\0" * 32), layer["digest"]))
    # A path that is deleted and put in one push is put.
    return layer.filter(pc.invert(pc.or_(pc.and_(gone, row.is_null()), replaced)))


def _all_files(root: Root, store: ObjectStore) -> pa.Table:
    """Return path and digest of every entry."""
    columns = ["path", "digest"]
    return pa.concat_tables([read_range(part, store).select(columns) for part in root.ranges])


def _folder_rows(files: Entries, unlabelled_prefixes: tuple[str, ...]) -> pa.Table:
    paths = files["path"].to_pylist()
    labels = folder_labels(paths, unlabelled_prefixes)
    digests = files["digest"].to_pylist()
    return layer_table(
        "classification",
        (
            {"path": path, "digest": digest, "label": label, "source": "folder"}
            for path, digest, label in zip(paths, digests, labels, strict=True)
            if label is not None
        ),
    )


def _with_split(root: Root, parent: Root | None, plan: VersionPlan, store: ObjectStore) -> Root:
    """Keep every path in its split, unless all are to be drawn anew."""
    before = parent.layer(SPLIT_LAYER) if parent else None
    if before is None and plan.split is None and not plan.changes.splits:
        return root
    empty = layer_schema("split").empty_table()
    kept = _kept_split(read_layer(before, store) if before else empty, plan.changes)
    if plan.split is not None:
        table = _drawn_split(root, plan.split, plan, kept, store)
    else:
        filled = pc.fill_null(kept["value"], REST)
        table = kept.set_column(2, layer_schema("split").field("value"), filled)
    return put_layer(root, SPLIT_LAYER, "split", table, store)


def _kept_split(before: pa.Table, changes: ChangesFile) -> pa.Table:
    """Return the rows of the layer after the changes; `value` is null for new paths."""
    puts = changes.puts
    row = pc.index_in(puts["path"], value_set=before["path"].combine_chunks())
    said = [changes.splits.get(path) for path in puts["path"].to_pylist()]
    values = pc.coalesce(pa.array(said, pa.string()), before["value"].take(row))
    columns = [puts["path"], puts["digest"], values]
    loose = pa.schema([*list(layer_schema("split"))[:2], pa.field("value", pa.string())])
    rows = pa.Table.from_arrays(
        [column.cast(kind) for column, kind in zip(columns, loose.types, strict=True)], schema=loose
    )
    return merge_layer(before.cast(loose), rows, changes.deletes)


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
    """Return what a split is drawn from, and the digest of each path."""
    labels: dict[str, str | None] = {}
    digests: dict[str, bytes] = {}
    groups: dict[str, str] = {}
    query = split.query
    chosen: set[str] | None = None if query is None else set()
    join = LayerJoin(root, store)
    for part in watched_ranges(root.ranges, watch):
        table = join.join(read_range(part, store))
        paths = table["path"].to_pylist()
        labels.update(zip(paths, table["label"].to_pylist(), strict=True))
        digests.update(zip(paths, table["digest"].to_pylist(), strict=True))
        if split.group_by:
            groups.update(_groups(split.group_by, paths, table["attributes"].to_pylist()))
        if query is not None and chosen is not None:
            chosen.update(table.filter(matches(query, table))["path"].to_pylist())
    return SplitInput(labels, groups, existing, chosen), digests


def _groups(
    group_by: str, paths: list[str], attributes: list[str | None]
) -> Iterator[tuple[str, str]]:
    for path, text in zip(paths, attributes, strict=True):
        name = group_of(group_by, path, json.loads(text) if text else {})
        if name is not None:
            yield path, name


def label_layers(layers: Iterable[LayerRef]) -> list[LayerRef]:
    """Return the layers that label entries, the strongest first."""
    by_name = {layer.name: layer for layer in layers if layer.kind == "classification"}
    return [by_name[name] for name in LABEL_LAYERS if name in by_name]


def publish_rows(root: Root, name: str, kind: str, rows: pa.Table, store: ObjectStore) -> Root:
    """Return the root with rows of a layer added or replaced by path; stale rows are left out.

    Raises LayerKindError if the layer exists with another kind or a column does not fit.
    """
    current = _current(root, rows.cast(layer_schema(kind)), store)
    before = root.layer(name)
    table = read_layer(before, store) if before else layer_schema(kind).empty_table()
    return put_layer(root, name, kind, merge_layer(table, current), store, old=table)


def _current(root: Root, rows: pa.Table, store: ObjectStore) -> pa.Table:
    """Keep the rows whose path has that digest in the root."""
    rows = rows.sort_by("path")
    pieces = [rows.schema.empty_table()]
    for part in root.ranges:
        here = clip(rows, part.min, part.max)
        if not len(here):
            continue
        table = read_range(part, store)
        found = pc.index_in(here["path"], value_set=table["path"].combine_chunks())
        known = here.filter(found.is_valid())
        same = pc.equal(known["digest"], table["digest"].take(found.drop_null()))
        pieces.append(known.filter(pc.fill_null(same, False)))
    return pa.concat_tables(pieces).sort_by("path")


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
