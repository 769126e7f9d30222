"""Rows of layers after changes: of a whole layer, or of what lies between two paths."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.spilled import Entries
from atom.datasets.versions.engines.version_plan import GIVEN_LAYER, REST
from atom_sdk.manifests.entries import LINK_COLUMN
from atom_sdk.manifests.folder_labels import folder_labels
from atom_sdk.manifests.layers import layer_schema, layer_table, merge_layer
from atom_sdk.manifests.split_requests import group_of


def without_stale(layer: pa.Table, changes: ChangesFile) -> pa.Table:
    """Return the rows whose bytes the changes leave there."""
    gone = pc.is_in(layer["path"], value_set=pa.array(sorted(changes.deletes), pa.string()))
    row = pc.index_in(layer["path"], value_set=changes.puts["path"].combine_chunks())
    now = changes.puts["digest"].take(row)
    replaced = pc.and_(row.is_valid(), pc.not_equal(pc.fill_null(now, b"\0" * 32), layer["digest"]))
    # A path that is deleted and put in one push is put.
    return layer.filter(pc.invert(pc.or_(pc.and_(gone, row.is_null()), replaced)))


def folder_rows(files: Entries, unlabelled_prefixes: tuple[str, ...]) -> pa.Table:
    """Return the labels that the files have from their folders; links have none."""
    is_file = files[LINK_COLUMN].is_null()
    paths, digests = (files[name].filter(is_file).to_pylist() for name in ("path", "digest"))
    labels = folder_labels(paths, unlabelled_prefixes)
    return layer_table(
        "classification",
        (
            {"path": path, "digest": digest, "label": label, "source": "folder"}
            for path, digest, label in zip(paths, digests, labels, strict=True)
            if label is not None
        ),
    )


def given_rows(puts: Entries, labels: Mapping[str, str]) -> pa.Table:
    """Return the labels that came with the files."""
    paths, digests = puts["path"].to_pylist(), puts["digest"].to_pylist()
    said = ((path, digest, labels.get(path)) for path, digest in zip(paths, digests, strict=True))
    return layer_table(
        "classification",
        (
            {"path": path, "digest": digest, "label": label, "source": GIVEN_LAYER}
            for path, digest, label in said
            if label is not None
        ),
    )


def kept_split(before: pa.Table, changes: ChangesFile) -> pa.Table:
    """Return the rows of the layer after the changes; `value` is null for new paths."""
    is_link = changes.puts[LINK_COLUMN].is_valid()
    paths, digests = (changes.puts[name].filter(pc.invert(is_link)) for name in ("path", "digest"))
    row = pc.index_in(paths, value_set=before["path"].combine_chunks())
    said = [changes.splits.get(path) for path in paths.to_pylist()]
    values = pc.coalesce(pa.array(said, pa.string()), before["value"].take(row))
    columns = [paths, digests, values]
    loose = pa.schema([*list(layer_schema("split"))[:2], pa.field("value", pa.string())])
    rows = pa.Table.from_arrays(
        [column.cast(kind) for column, kind in zip(columns, loose.types, strict=True)], schema=loose
    )
    # A link is in the split of the file that it leads to.
    links = changes.puts["path"].filter(is_link).to_pylist()
    return merge_layer(before.cast(loose), rows, {*changes.deletes, *links})


def filled_split(kept: pa.Table) -> pa.Table:
    """Return the rows of `kept_split` with a split for new paths too."""
    filled = pc.fill_null(kept["value"], REST)
    return kept.set_column(2, layer_schema("split").field("value"), filled)


def groups_of(
    group_by: str, paths: list[str], attributes: list[str | None]
) -> Iterator[str | None]:
    """Yield the group of each file, None for a file that has none."""
    for path, text in zip(paths, attributes, strict=True):
        yield group_of(group_by, path, json.loads(text) if text else {})
