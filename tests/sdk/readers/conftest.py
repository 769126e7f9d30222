"""A small dataset as a node sees it: a view index and a folder of packs."""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import pytest

from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    Root,
    ViewSelector,
    build_root,
    build_view,
    entries_table,
    layer_table,
    write_layer,
)
from atom_sdk.packs import PackStore
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.local import Verify
from tests.sdk.packs.strategies import packed


@dataclass(frozen=True)
class Node:
    """The parts that a test needs to read and to damage a dataset."""

    files: dict[str, bytes]
    root: Root
    objects: MemoryObjectStore
    store: PackStore
    folder: Path

    @property
    def index(self) -> Path:
        return self.folder / "view.arrow"

    def open(self, verify: Verify = "first") -> LocalDataset:
        return LocalDataset(self.index, self.store.packs, verify)

    def select(self, selector: ViewSelector) -> LocalDataset:
        """Another view of the same version."""
        path = self.folder / "selected.arrow"
        build_view(self.root, self.objects, path, selector)
        return LocalDataset(path, self.store.packs)

    def with_root(self, root: Root) -> Node:
        return replace(self, root=root)


@pytest.fixture
def node(tmp_path: Path) -> Node:
    files = {f"{n % 3}/é {n:03d}.bin": bytes([n % 256]) * (n * 37) for n in range(300)}
    store = PackStore(tmp_path / "cache")
    objects = MemoryObjectStore()
    entries: list[Entry] = []
    ordered = sorted(files)
    for part in (ordered[:100], ordered[100:]):
        data, summary = packed({path: files[path] for path in part})
        store.fill(summary.digest, [data])
        entries += [
            Entry(m.path, m.size, m.digest, None, None, summary.digest, m.offset)
            for m in summary.members
        ]
    root = build_root([entries_table(entries)], objects)
    digests = {entry.path: entry.digest for entry in entries}
    splits = [
        {"path": path, "digest": digests[path], "value": "test" if n % 5 == 0 else "train"}
        for n, path in enumerate(ordered)
    ]
    labels = [
        {"path": path, "digest": digests[path], "label": f"class {path[0]}", "source": "folder"}
        for path in ordered
        if path[0] != "2"
    ]
    root = root.with_layers(
        write_layer("split", "split", layer_table("split", splits), objects),
        write_layer("folder", "classification", layer_table("classification", labels), objects),
    )
    node = Node(files, root, objects, store, tmp_path)
    build_view(root, objects, node.index)
    return node
