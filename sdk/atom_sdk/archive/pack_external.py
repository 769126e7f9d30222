"""Rewrites a history so that files which stay at a source are files in packs.

Such an entry then has the digest of its bytes instead of that of its pin, so the content digest of
its version changes, hence its commit and the commits after it. A new commit says in its provenance
what it was: README.md, "Files of a source".
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from graphlib import TopologicalSorter
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.archive.history import ArchivedMove, History
from atom_sdk.manifests.build import read_range, write_range
from atom_sdk.manifests.commits import Commit, read_commit, write_commit
from atom_sdk.manifests.entries import DIGEST, ENTRY_SCHEMA, SOURCE_COLUMNS
from atom_sdk.manifests.layers.layers import read_layer, write_layer
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import (
    LayerRef,
    RangeRef,
    Root,
    make_root,
    read_root,
    write_root,
)

BROUGHT_IN = "brought_in"
# Gives entries at a source the digest of their bytes, the pack and the offset.
Place = Callable[[pa.Table], pa.Table]


@dataclass(frozen=True, slots=True)
class Earlier:
    """The copy of a commit in an earlier save; `layout` is its layout there (hex), "" for none."""

    commit: Commit
    layout: str


class PinnedFiles:
    """The files of a history's versions that stay at a source, as its manifests have them."""

    def __init__(self, store: ObjectStore, layouts: Mapping[str, str]) -> None:
        """`layouts` are those of the history."""
        self._store = store
        self._layouts = layouts
        self._has_some: dict[RangeRef, bool] = {}
        self.packs: set[bytes] = set()

    def tables(self, commits: Iterable[str]) -> Iterator[tuple[str, pa.Table]]:
        """Yield these entries, each range once, with a commit (hex) that has them.

        `packs` are then those that hold the other files.
        """
        for commit in commits:
            for part in self._ranges(commit):
                if part in self._has_some:
                    continue
                table = read_range(part, self._store)
                stays = _at_source(table)
                self.packs.update(table["pack"].drop_null().unique().to_pylist())
                self._has_some[part] = bool(len(stays))
                if len(stays):
                    yield commit, stays

    def among(self, commit: str, pins: Iterable[bytes]) -> list[str]:
        """Return the sorted paths of a commit, yielded before, that have one of these pins."""
        wanted = pa.array(list(pins), DIGEST)
        found: list[str] = []
        for part in self._ranges(commit):
            if self._has_some[part]:
                stays = _at_source(read_range(part, self._store))
                is_wanted = pc.is_in(stays["digest"], value_set=wanted)
                found += stays["path"].filter(is_wanted).to_pylist()
        return found

    def _ranges(self, commit: str) -> Iterable[RangeRef]:
        root = read_commit(bytes.fromhex(commit), self._store).root
        return _readable(commit, root, self._layouts, self._store).ranges


class HistoryRewriter:
    """Rewrites roots and commits of one history; `run` may be called once."""

    def __init__(self, store: ObjectStore, place: Place, earlier: Mapping[str, Earlier]) -> None:
        """`store` has the manifests and takes the new ones; `earlier`: see `earlier_commits`."""
        self._store = store
        self._place = place
        self._earlier = earlier
        self._ranges: dict[RangeRef, RangeRef] = {}
        self._known: dict[bytes, RangeRef] = {}
        self._layers: dict[LayerRef, LayerRef] = {}
        self._digests: dict[bytes, bytes] = {}
        self.files = 0
        self.size_bytes = 0

    def run(self, history: History, without_files: Iterable[str]) -> History:
        """Return the history over new commits; some of it (hex) without their files.

        `files` and `size_bytes` then say what came into packs.
        """
        commits = {name: read_commit(bytes.fromhex(name), self._store) for name in history.commits}
        kept = history.kept - set(without_files)
        roots = {
            name: root
            for name in sorted(kept - self._earlier.keys())
            if (root := self._root(name, commits[name], history)) is not None
        }
        names = self._written(commits, roots)
        # A commit that was rewritten has its layout as its root already.
        layouts = {name: history.layouts.get(name, "") for name in kept - roots.keys()}
        layouts |= {name: self._earlier[name].layout for name in kept & self._earlier.keys()}
        return replace(
            history,
            moves=tuple(_moved(move, names) for move in history.moves),
            tags=tuple(replace(tag, commit=names[tag.commit]) for tag in history.tags),
            kept=frozenset(names[name] for name in kept),
            layouts={names[name]: layout for name, layout in layouts.items() if layout},
        )

    def _root(self, name: str, commit: Commit, history: History) -> Root | None:
        """Return the root with its files in packs, layers as they were; None if all were there."""
        root = _readable(name, commit.root, history.layouts, self._store)
        parts = [self._range(part) for part in root.ranges]
        return None if parts == list(root.ranges) else make_root(parts, root.layers)

    def _range(self, part: RangeRef) -> RangeRef:
        if part not in self._ranges:
            table = read_range(part, self._store)
            stays = _at_source(table)
            self._ranges[part] = self._placed(table, stays) if len(stays) else part
        return self._ranges[part]

    def _placed(self, table: pa.Table, stays: pa.Table) -> RangeRef:
        placed = self._place(table)
        digests = placed["digest"].filter(placed["source"].is_valid()).to_pylist()
        for row, pin in enumerate(stays["digest"].to_pylist()):
            if pin not in self._digests:
                self._digests[pin] = digests[row]
                self.files += 1
                self.size_bytes += stays["size"][row].as_py()
        for name in SOURCE_COLUMNS:
            field = ENTRY_SCHEMA.field(name)
            position = placed.schema.get_field_index(name)
            placed = placed.set_column(position, field, pa.nulls(len(placed), field.type))
        part = write_range(placed.combine_chunks(), self._store, self._known)
        self._known[part.content] = part
        return part

    def _written(self, commits: Mapping[str, Commit], roots: Mapping[str, Root]) -> dict[str, str]:
        """Write what is new, parents first; returns the name of every commit by its old one."""
        pins = pa.array(self._digests.keys(), DIGEST), pa.array(self._digests.values(), DIGEST)
        parents = {name: [one.hex() for one in each.parents] for name, each in commits.items()}
        names: dict[str, str] = {}
        for name in TopologicalSorter(parents).static_order():
            # A parent that no move made is found by who follows the new history.
            names[name] = name
            if name not in commits:
                continue
            commit, root, note = commits[name], roots.get(name), self._note(name, commits[name])
            if (earlier := self._earlier.get(name)) is not None:
                digest, note = earlier.commit.root, earlier.commit.provenance[BROUGHT_IN]
            elif root is not None:
                layers = [self._layer(layer, *pins) for layer in root.layers]
                digest = write_root(make_root(root.ranges, layers), self._store)
            else:
                digest = commit.root
            above = tuple(bytes.fromhex(names[parent]) for parent in parents[name])
            if (digest, above) != (commit.root, commit.parents):
                provenance = {**commit.provenance, BROUGHT_IN: note}
                new = replace(commit, root=digest, parents=above, provenance=provenance)
                names[name] = write_commit(new, self._store).hex()
        return names

    def _note(self, name: str, commit: Commit) -> dict[str, Any]:
        content = read_root(commit.root, self._store).content
        before = commit.provenance.get(BROUGHT_IN)
        return {"commit": name, "content": content.hex(), **({"before": before} if before else {})}

    def _layer(self, layer: LayerRef, pins: pa.Array, digests: pa.Array) -> LayerRef:
        """Give values to the bytes that stood behind a pin."""
        if layer not in self._layers:
            table = read_layer(layer, self._store)
            found = digests.take(pc.index_in(table["digest"].combine_chunks(), value_set=pins))
            new = pc.coalesce(found, table["digest"].combine_chunks())
            position = table.schema.get_field_index("digest")
            table = table.set_column(position, table.schema.field(position), new)
            is_same = found.null_count == len(found)
            self._layers[layer] = (
                layer if is_same else write_layer(layer.name, layer.kind, table, self._store)
            )
        return self._layers[layer]


def earlier_commits(history: History, prior: History, store: ObjectStore) -> dict[str, Earlier]:
    """Return what commits (hex) of a history became in an earlier save that has their files.

    They become the same again, also when nobody can read their source any more.
    """
    found = {}
    for name in sorted(prior.kept):
        commit = read_commit(bytes.fromhex(name), store)
        note = commit.provenance.get(BROUGHT_IN)
        was = note.get("commit") if isinstance(note, dict) else None
        if was not in history.commits:
            continue
        before = read_commit(bytes.fromhex(was), store)
        # Anybody may write a provenance; what people see of a commit has to be the same too.
        said = [(one.author, one.message, one.created_at) for one in (before, commit)]
        if said[0] == said[1] and was != name:
            found[was] = Earlier(commit, prior.layouts.get(name, ""))
    return found


def _readable(commit: str, root: bytes, layouts: Mapping[str, str], store: ObjectStore) -> Root:
    """Return the layout of a commit with `root`, or this: the packs of one that it names exist."""
    layout = layouts.get(commit)
    return read_root(root if layout is None else bytes.fromhex(layout), store)


def _at_source(table: pa.Table) -> pa.Table:
    return table.filter(table["source"].is_valid())


def _moved(move: ArchivedMove, names: Mapping[str, str]) -> ArchivedMove:
    return replace(move, old=names.get(move.old, ""), new=names.get(move.new, ""))
