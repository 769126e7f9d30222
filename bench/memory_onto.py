"""Peak memory of pushes with labels and a split, and of pushes onto a version of millions of files.

Two of every four files of the second push are unchanged, one has another path and one another
content. Labels come from class folders of a thousand files; a fifth of each is held out.
"""

from __future__ import annotations

import os
import tempfile
import time
from collections.abc import Callable, Collection, Iterable, Iterator
from pathlib import Path

import pyarrow as pa
from blake3 import blake3

from atom.datasets.versions.engines.changes import ChangesFile
from atom.datasets.versions.engines.large_changes import read_changes
from atom.datasets.versions.engines.version_plan import SPLIT_LAYER, VersionPlan
from atom.datasets.versions.engines.versions import build_version
from atom_sdk.client.progress import Silent
from atom_sdk.client.push.changes_file import write_changes
from atom_sdk.client.push.pack_groups import group_by_split, paths_after
from atom_sdk.client.push.packed_rows import (
    PackedRows,
    add_unpacked,
    in_path_order,
    packed_rows,
    rows_of,
)
from atom_sdk.client.push.parents import parent_of
from atom_sdk.client.push.scan import DigestCache, compare
from atom_sdk.importers.collection import ImportContents
from atom_sdk.manifests import (
    FolderObjectStore,
    Root,
    entries_table,
    iter_ranges,
    read_root,
    write_root,
)
from atom_sdk.manifests.splits.requests import SplitRequest
from atom_sdk.packs.file_list import FileList
from atom_sdk.packs.plan import SourceFile, plan_packs
from atom_sdk.packs.writer import PackMember, PackSummary
from bench.manifests import generated

_SPLIT = {"test": "20%", "seed": 7}
_OPTIONS = {"labels_from": "folder", "unlabelled_prefixes": [], "split": _SPLIT}
_FILE_BYTES = 30_000
_NO_CHANGES = ChangesFile(entries_table([]), frozenset())


def split_client(entries: int, folder: Path) -> None:
    """Plan the packs of a first push, those of one split together."""
    os.environ["ATOM_CACHE"] = str(folder / "cache")
    paths = (path for table in generated(entries) for path in table["path"].to_pylist())
    files = FileList(SourceFile(path, _FILE_BYTES) for path in paths)
    groups = group_by_split(files, (file.path for file in files), _OPTIONS, {}, lambda _: None)
    with packed_rows() as packed:
        _pack(groups, packed)
        write_changes(in_path_order(packed.runs()), folder / "changes-split.parquet")


def split_server(entries: int, folder: Path) -> None:
    """Build the version of a first push with labels from folders and a stratified split."""
    read = read_changes(folder / "changes-split.parquet", _scratch(folder))
    store = _store(folder)
    root = build_version(None, _plan(read), store)
    if {layer.rows for layer in root.layers} != {entries}:
        raise AssertionError("some files have no label or no split")
    (folder / "split-root").write_bytes(write_root(root, store))


def client(entries: int, folder: Path) -> None:
    """Compare the files with the parent, plan the packs, write changes and digests."""
    os.environ["ATOM_CACHE"] = str(folder / "cache")
    store, contents = _store(folder), ImportContents(bytes(folder), {})
    root = _root(folder, store)
    files = FileList(file for file, _ in _files(root, store))
    digests = ((file.path, digest) for file, digest in _files(root, store))
    DigestCache(folder / "cache", contents).save(files, digests, (), time.time_ns())
    cache = DigestCache(folder / "cache", contents)
    # A push has read none of this.
    pa.default_memory_pool().release_unused()
    with tempfile.TemporaryDirectory(dir=folder) as scratch, packed_rows() as packed:
        parent = parent_of(root, store, frozenset(), Path(scratch))
        scan = compare(files, parent, cache, Silent(), Path(scratch))
        counts = len(scan.new), len(scan.reused), len(scan.removed)
        if counts != (entries // 4,) * 3:
            raise AssertionError(f"{counts} new, reused and removed files were found")
        paths = paths_after(parent.digests, (file.path for file in files), scan.removed)
        groups = group_by_split(scan.new, paths, _OPTIONS, parent.splits, parent.attributes.get)
        _pack(groups, packed)
        add_unpacked(packed, scan, parent, ())
        write_changes(in_path_order(packed.runs()), folder / "changes-onto.parquet")
        known = ((file.path, digest) for file, digest in scan.known)
        cache.save(files, known, packed.digests(), time.time_ns())


def server(entries: int, folder: Path) -> None:
    """Build the version of that push: entries, labels and the split, which is filled up."""
    store = _store(folder)
    read = read_changes(folder / "changes-onto.parquet", _scratch(folder))
    root = build_version(_root(folder, store), _plan(read), store)
    if root.count != entries:
        raise AssertionError(f"the version has {root.count} files")


def group_split(entries: int, folder: Path) -> None:
    """Draw a new split of a version, with whole folders together."""
    store = _store(folder)
    split = SplitRequest.from_json(_SPLIT | {"group_by": "folder", "redraw": True})
    root = build_version(_root(folder, store), VersionPlan(_NO_CHANGES, split=split), store)
    layer = root.layer(SPLIT_LAYER)
    if layer is None or layer.rows != entries:
        raise AssertionError("some files have no split")


def _plan(changes: ChangesFile) -> VersionPlan:
    split = SplitRequest.from_json(_SPLIT)
    return VersionPlan(changes, labels_from_folders=True, split=split, previous_split=split)


def _pack(groups: Iterable[Collection[SourceFile]], packed: PackedRows) -> None:
    for files in groups:
        for plan in plan_packs(files):
            pack = blake3(plan.files[0].path.encode()).digest()
            members = [PackMember(f.path, 4096, f.size, _digest(f.path)) for f in plan.files]
            packed.add(rows_of(PackSummary(pack, plan.pack_bytes, tuple(members))))


def _store(folder: Path) -> FolderObjectStore:
    return FolderObjectStore(folder / "split-objects")


def _root(folder: Path, store: FolderObjectStore) -> Root:
    return read_root((folder / "split-root").read_bytes(), store)


def _scratch(folder: Path) -> Path:
    return Path(tempfile.mkdtemp(dir=folder))


def _files(root: Root, store: FolderObjectStore) -> Iterator[tuple[SourceFile, bytes]]:
    number = 0
    for table in iter_ranges(root, store):
        columns = (table[name].to_pylist() for name in ("path", "size", "digest"))
        for path, size, digest in zip(*columns, strict=True):
            if number % 4 == 0:
                yield SourceFile(f"{path}.moved", size, 1), digest
            elif number % 4 == 1:
                yield SourceFile(path, size, 1), _digest(f"{path} as it is now")
            else:
                yield SourceFile(path, size, 1), digest
            number += 1


def _digest(text: str) -> bytes:
    return blake3(text.encode()).digest()


# In this order: what one writes the next ones read.
STEPS: dict[str, Callable[[int, Path], None]] = {
    "push with labels and a split, client": split_client,
    "push with labels and a split, server": split_server,
    "push onto a parent, client": client,
    "push onto a parent, server": server,
    "split by group": group_split,
}
