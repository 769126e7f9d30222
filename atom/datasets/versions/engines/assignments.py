"""Labels and splits that are said of many files at once, as rows of their layers."""

from __future__ import annotations

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.version_plan import SPLIT_LAYER
from atom.datasets.versions.engines.versions import label_layers, publish_rows, put_layer
from atom_sdk.manifests.joined import LABEL_LAYERS
from atom_sdk.manifests.layers.layers import layer_schema, read_layer
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import LayerRef, Root

_SPLIT, _CLASSIFICATION = "split", "classification"
# The source that a row of labels names for an edit.
SOURCE = "edit"


def with_split(root: Root, entries: pa.Table, split: str, store: ObjectStore) -> Root:
    """Return the root with the entries in a split; without a name they are in none."""
    entries = without_links(entries)
    if split:
        rows = entries.select(["path", "digest"])
        rows = rows.append_column("value", _repeated(split, len(rows)))
        return publish_rows(root, SPLIT_LAYER, _SPLIT, rows, store)
    ref = root.layer(SPLIT_LAYER)
    return root if ref is None else _without_rows(root, ref, entries, store)


def with_label(root: Root, entries: pa.Table, label: str, store: ObjectStore) -> Root:
    """Return the root with the entries labelled; without a label they have none in any layer."""
    entries = without_links(entries)
    if not label:
        for ref in label_layers(root.layers):
            root = _without_rows(root, ref, entries, store)
        return root
    rows = entries.select(["path", "digest"])
    for name in layer_schema(_CLASSIFICATION).names[2:]:
        value = {"label": label, "source": SOURCE}.get(name)
        column = _repeated(value, len(rows)) if value else pa.nulls(len(rows))
        rows = rows.append_column(name, column)
    # People said it: it counts more than annotation files and folders.
    return publish_rows(root, LABEL_LAYERS[0], _CLASSIFICATION, rows, store)


def _without_rows(root: Root, ref: LayerRef, entries: pa.Table, store: ObjectStore) -> Root:
    table = read_layer(ref, store)
    gone = pc.is_in(table["path"], value_set=entries["path"].combine_chunks())
    kept = table.filter(pc.invert(gone)).combine_chunks()
    if len(kept) == len(table):
        return root
    return put_layer(root, ref.name, ref.kind, kept, store, old=table)


def _repeated(value: str, count: int) -> pa.Array:
    return pa.repeat(pa.scalar(value, pa.string()), count)
