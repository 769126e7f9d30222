"""The entries of the version that a push starts from: in memory, or in files if they are many."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.client.push.scan import Parent
from atom_sdk.client.push.stored_contents import Known, StoredContents
from atom_sdk.client.transport.http import Http
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.manifests import Root, ViewSelector, iter_ranges
from atom_sdk.manifests.entries import DIGEST, LINK_COLUMN
from atom_sdk.manifests.layers.pieces import layer_pieces
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.rows.path_map import PathMapFile

LARGE_ENTRIES = 200_000
SPLIT_LAYER = ViewSelector().split_layer
_DIGESTS = pa.schema([("path", pa.string()), ("digest", DIGEST)])
_ATTRIBUTES = pa.schema([("path", pa.string()), ("attributes", pa.string())])
_SPLITS = pa.schema([("path", pa.string()), ("value", pa.string())])


def load_parent(http: Http, dataset_base: str, version: Mapping[str, Any], scratch: Path) -> Parent:
    """Return digests and places of every entry of a version, for comparing a folder with it.

    Files in a quarantined pack count as not stored: a push sends them again. Entries of a large
    version are in the folder `scratch`.
    """
    base = f"{dataset_base}versions/{version['ref']}/"
    manifest = RemoteManifest(http, base, with_quarantined=True)
    return parent_of(manifest.root, manifest, manifest.quarantined, scratch)


def parent_of(
    root: Root,
    store: ObjectStore,
    quarantined: Collection[bytes],
    scratch: Path,
    large_entries: int = LARGE_ENTRIES,
) -> Parent:
    """Return the entries of a root; `quarantined` are the packs that count as not there."""
    if root.count > large_entries:
        return _in_files(root, store, quarantined, scratch)
    digests: dict[str, bytes] = {}
    stored: dict[bytes, Known] = {}
    damaged: set[str] = set()
    described: dict[str, str] = {}
    links: set[str] = set()
    for table in iter_ranges(root, store):
        names = ("path", "size", "digest", "pack", "offset", "attributes")
        columns = [table.column(name).to_pylist() for name in names]
        for path, size, digest, pack, offset, attributes in zip(*columns, strict=True):
            digests[path] = digest
            if attributes is not None:
                described[path] = attributes
            if pack in quarantined:
                damaged.add(path)
            elif pack is not None:
                stored.setdefault(digest, Known(pack, offset, size))
        links.update(_links(table))
    splits: dict[str, str] = {}
    for table in _split_rows(root, store, scratch):
        splits.update(zip(table["path"].to_pylist(), table["value"].to_pylist(), strict=True))
    return Parent(digests, stored, damaged, described, splits, links)


def _in_files(
    root: Root, store: ObjectStore, quarantined: Collection[bytes], scratch: Path
) -> Parent:
    # First, since the bytes of the layer are in memory at once.
    splits = PathMapFile(scratch / "parent-splits", _SPLITS)
    for table in _split_rows(root, store, scratch):
        splits.add(table)
    digests = PathMapFile(scratch / "parent-digests", _DIGESTS)
    described = PathMapFile(scratch / "parent-attributes", _ATTRIBUTES)
    stored = StoredContents(scratch / "parent-contents", root.count)
    damaged: set[str] = set()
    links: set[str] = set()
    packs = pa.array(sorted(quarantined), DIGEST)
    for table in iter_ranges(root, store):
        digests.add(table)
        described.add(table.filter(pc.is_valid(table["attributes"])))
        is_damaged = pc.is_in(table["pack"], value_set=packs)
        damaged.update(table.filter(is_damaged)["path"].to_pylist())
        is_stored = pc.and_(pc.is_valid(table["pack"]), pc.is_valid(table["digest"]))
        stored.add(table.filter(pc.and_not(is_stored, is_damaged)))
        links.update(_links(table))
    stored.close()
    # Free the memory of the reading, which the process would hold as long as the push goes on.
    pa.default_memory_pool().release_unused()
    return Parent(digests.read(), stored, damaged, described.read(), splits.read(), links)


def _links(table: pa.Table) -> list[str]:
    paths: list[str] = table["path"].filter(table[LINK_COLUMN].is_valid()).to_pylist()
    return paths


def _split_rows(root: Root, store: ObjectStore, scratch: Path) -> Iterator[pa.Table]:
    layer = root.layer(SPLIT_LAYER)
    return iter(()) if layer is None else layer_pieces(layer, store, scratch)
