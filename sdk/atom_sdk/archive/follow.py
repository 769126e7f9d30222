"""Everything that a history needs, followed from its commits and checked on the way."""

from __future__ import annotations

from collections.abc import Callable, Iterator

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.archive.errors import ArchiveCorruptError, ArchiveRegisteredError
from atom_sdk.archive.history import History
from atom_sdk.errors import AtomError
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.commits import Commit, read_commit
from atom_sdk.manifests.entries import (
    LINK_COLUMN,
    check_order,
    table_entries,
)
from atom_sdk.manifests.layers.layers import annotations_fit, layer_content, read_layer
from atom_sdk.manifests.links import link_entry, without_links
from atom_sdk.manifests.objects import (
    ObjectStore,
    commit_key,
    delta_key,
    group_key,
    layer_key,
    range_key,
    root_key,
)
from atom_sdk.manifests.ranges.ranges import range_content
from atom_sdk.manifests.roots.roots import LayerRef, RangeRef, Root, make_root, read_root
from atom_sdk.packs.paths import encode_path

TakeEntries = Callable[[pa.Table], None]


class Followed:
    """Keys of manifest objects and digests of packs; each object is looked into once.

    `take` is given the entries of every range whose packs are needed, to compare them with these.
    `layouts` are the roots of the commits that are read from another one than their own.
    """

    def __init__(self, store: ObjectStore, take: TakeEntries | None = None) -> None:
        self._store = store
        self._take = take
        self._seen: set[RangeRef | LayerRef] = set()
        self._with_packs: set[RangeRef] = set()
        self.keys: set[str] = set()
        self.packs: set[bytes] = set()
        self.commits: dict[str, tuple[Commit, Root]] = {}
        self.layouts: dict[str, Root] = {}

    def follow(self, history: History) -> Followed:
        """Follow all of a history and return self.

        Raises ArchiveCorruptError for what is missing or lies, ArchiveRegisteredError.
        """
        known = set(history.commits)
        for digest in history.commits:
            try:
                commit, root = self._commit(digest, known)
                if (layout := history.layouts.get(digest)) is not None:
                    self._layout(digest, root, bytes.fromhex(layout))
                elif digest in history.kept:
                    self._root(root)
            except (ArchiveCorruptError, ArchiveRegisteredError):
                raise
            except AtomError as error:
                raise ArchiveCorruptError(f"The commit {digest[:12]}: {error}") from error
            self.commits[digest] = commit, root
        return self

    def _commit(self, digest: str, known: set[str]) -> tuple[Commit, Root]:
        name = bytes.fromhex(digest)
        commit = read_commit(name, self._store)
        unknown = [parent.hex() for parent in commit.parents if parent.hex() not in known]
        if unknown:
            raise ArchiveCorruptError(f"{digest[:12]} comes from {unknown[0]}, which is not there.")
        root = read_root(commit.root, self._store)
        self.keys |= {commit_key(name), root_key(commit.root)}
        return commit, root

    def _layout(self, digest: str, root: Root, name: bytes) -> None:
        """Follow the layout of a commit, and its own root but for the packs: they may be gone."""
        layout = read_root(name, self._store)
        if not layout.says_the_same(root):
            raise ArchiveCorruptError(
                f"The layout of {digest[:12]} has another content than its commit."
            )
        self.keys.add(root_key(name))
        self._root(layout)
        self._root(root, with_packs=False)
        self.layouts[digest] = layout

    def _root(self, root: Root, *, with_packs: bool = True) -> None:
        previous: str | None = None
        self.keys.update(group_key(group.object) for group in root.groups)
        for part in root.ranges:
            if previous is not None and part.min <= previous:
                raise ArchiveCorruptError(f"The range from {part.min!r} is out of order.")
            previous = part.max
            if part not in (self._with_packs if with_packs else self._seen):
                self._range(part, with_packs=with_packs)
        # The reader has not checked this for a root over groups.
        if make_root(root.ranges).content != root.content:
            raise ArchiveCorruptError("The content digest of a root does not fit its ranges.")
        for layer in root.layers:
            if layer not in self._seen:
                self._seen.add(layer)
                self._layer(layer)

    def _range(self, part: RangeRef, *, with_packs: bool) -> None:
        table = read_range(part, self._store)
        check_entries(part, table)
        self._seen.add(part)
        self.keys.add(range_key(part.object))
        self.keys.update(map(delta_key, part.deltas))
        if not with_packs:
            return
        self._with_packs.add(part)
        self.packs.update(table["pack"].drop_null().unique().to_pylist())
        if self._take is not None:
            self._take(table)

    def _layer(self, layer: LayerRef) -> None:
        table = read_layer(layer, self._store)
        check_order(table)
        content = layer_content(layer.kind, table)
        is_kept = (content, len(table)) == (layer.content, layer.rows)
        if not is_kept or not annotations_fit(layer.kind, table):
            raise ArchiveCorruptError(f"The layer {layer.name} is not what its root says.")
        self.keys.update(map(layer_key, layer.layout))


def check_entries(part: RangeRef, table: pa.Table) -> None:
    """Check a range's entries against what its root says of them.

    Raises ArchiveCorruptError, ArchiveRegisteredError, EntryOrderError, PathError.
    """
    if registered := len(table) - table["source"].null_count:
        raise ArchiveRegisteredError(
            f"Files that stay at their source are not copied: {registered} from {part.min!r} on."
        )
    files = without_links(table)
    nulls = sum(files[name].null_count for name in ("path", "size", "digest", "pack", "offset"))
    if not len(table) or nulls:
        raise ArchiveCorruptError(f"Files from {part.min!r} on have no bytes in a pack.")
    check_order(table)
    paths = table["path"]
    said = (part.min, part.max, part.count, part.links, part.size_bytes, part.content)
    size_bytes = pc.sum(table["size"]).as_py()
    ends = (paths[0].as_py(), paths[-1].as_py())
    counts = (len(table), len(table) - len(files))
    if said != (*ends, *counts, size_bytes, range_content(table)):
        raise ArchiveCorruptError(f"The range from {part.min!r} is not what its root says.")
    if len(files) and min(pc.min(files[name]).as_py() for name in ("size", "offset")) < 0:
        raise ArchiveCorruptError(f"A file from {part.min!r} on has a size below zero.")
    for path in _texts(paths):
        encode_path(path)
    for entry in table_entries(table.filter(table[LINK_COLUMN].is_valid())):
        if entry.link is not None and entry != link_entry(entry.path, entry.link, entry.attributes):
            raise ArchiveCorruptError(
                f"The link {entry.path!r} says something else than its target."
            )


def _texts(column: pa.ChunkedArray) -> Iterator[str]:
    for chunk in column.chunks:
        yield from chunk.to_pylist()
