"""Three-way merges of roots: files by path, layers by path and field.

Only ranges in which one of the sides differs from the base are read or written, so cost follows
the changes; a layer that differs is read whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, replace

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.manifests.build import Changes, apply_changes
from atom_sdk.manifests.diff.diff import RootDiff, diff_roots, diff_tables
from atom_sdk.manifests.entries import DIGEST, ENTRY_SCHEMA, LOGICAL_COLUMNS
from atom_sdk.manifests.layers.deltas import compared_columns
from atom_sdk.manifests.layers.layers import (
    change_layer,
    layer_content,
    layer_schema,
    merge_layer,
    read_layer,
    write_layer,
)
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND
from atom_sdk.manifests.merge.drawn_pictures import merge_both_drawn
from atom_sdk.manifests.merge.moved_labels import Moves, moves_of
from atom_sdk.manifests.merge.resolution import Conflicts, Resolution
from atom_sdk.manifests.merge.three_way import Conflict, Field, Policy, merge_tables
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch
from atom_sdk.manifests.ranges.ranges import DEFAULT_RULE, BoundaryRule
from atom_sdk.manifests.roots.roots import LayerRef, Root, make_root

EMPTY_ROOT = make_root(())
# Where the bytes lie goes with the file.
_PLACE = tuple(name for name in ENTRY_SCHEMA.names if name not in LOGICAL_COLUMNS)
_TOLD = ("digest", "attributes", "media_type")
_FILE = (Field("", LOGICAL_COLUMNS[1:], _TOLD, _PLACE),)
# A boolean per path: whether the merge may change it.
Selector = Callable[[pa.Array], pa.Array]


@dataclass(frozen=True, slots=True)
class MergePlan:
    """How to merge. `selects` confines what is taken from their side to some paths.

    `resolutions` settle the conflicts that they name, each name once; `policy` settles the others.
    """

    policy: Policy = "fail"
    resolutions: tuple[Resolution, ...] = ()
    selects: Selector | None = None
    rule: BoundaryRule = DEFAULT_RULE
    watch: Watch = UNWATCHED


@dataclass(frozen=True, slots=True)
class Merged:
    """The merged root, not stored yet, and the conflicts that were left to the policy.

    `root` is None when there are such conflicts and the policy is "fail". `conflicts` names the
    first thousand. `settled` counts the conflicts that a resolution names, `idle` are the
    resolutions that name none.
    """

    root: Root | None
    conflicts: tuple[Conflict, ...]
    conflicts_total: int
    settled: int = 0
    idle: tuple[Resolution, ...] = ()


def merge_roots(
    base: Root, ours: Root, theirs: Root, store: ObjectStore, plan: MergePlan | None = None
) -> Merged:
    """Merge what their side changed since `base` into ours.

    A path that both changed to the same is no conflict. Labels and splits of a path count for the
    bytes that the merged version has there. A result that equals a side is that side's root.
    Raises EmptyDatasetError if no file would be left, and what reading objects raises.
    """
    plan = plan or MergePlan()
    sides = _Sides.read(base, ours, theirs, store, plan)
    conflicts = Conflicts(plan.policy, plan.resolutions)
    files, disputed = _merge_files(sides, conflicts)
    layers = _Layers(sides, files, plan, store)
    refs = layers.merge_all(conflicts)
    idle = conflicts.idle(disputed)
    named = (tuple(conflicts.first), conflicts.total, conflicts.settled, idle)
    if conflicts.total and plan.policy == "fail":
        return Merged(None, *named)
    applied = apply_changes(ours, _changes(sides.ours, files), store, plan.rule, watch=plan.watch)
    root = applied.with_layers_only(refs)
    return Merged(_known(root, (ours, theirs)), *named)


@dataclass(frozen=True, slots=True)
class _Sides:
    """The entries of the paths that a side changed, as each of the three has them."""

    roots: tuple[Root, Root, Root]
    base: pa.Table
    ours: pa.Table
    theirs: pa.Table

    @classmethod
    def read(
        cls, base: Root, ours: Root, theirs: Root, store: ObjectStore, plan: MergePlan
    ) -> _Sides:
        without = [replace(root, layers=()) for root in (base, ours, theirs)]
        mine = diff_roots(without[0], without[1], store, plan.watch)
        both = diff_roots(without[0], without[2], store, plan.watch)
        other = both.selected(plan.selects) if plan.selects else both
        before = _distinct([_before(mine), _before(other)])
        return cls(
            roots=(base, ours, theirs),
            base=before,
            ours=_applied(before, mine.changes()),
            theirs=_applied(before, other.changes()),
        )


def _before(diff: RootDiff) -> pa.Table:
    return pa.concat_tables([diff.removed, diff.changed_from])


def _distinct(tables: Iterable[pa.Table]) -> pa.Table:
    """Rows of entry tables that agree, each path once, in path order."""
    table = pa.concat_tables(tables).combine_chunks()
    paths = table["path"].combine_chunks()
    return table.take(pc.index_in(pc.unique(paths).sort(), value_set=paths)).combine_chunks()


def _applied(table: pa.Table, changes: Changes) -> pa.Table:
    return merge_layer(table, changes.upserts, changes.deletes)


def _merge_files(sides: _Sides, conflicts: Conflicts) -> tuple[pa.Table, set[str]]:
    """Return the merged files, and the paths that are or may come to be in conflict."""
    merged = merge_tables(
        sides.base,
        sides.ours,
        sides.theirs,
        _FILE,
        lambda paths, _: conflicts.prefers_theirs(paths),
    )
    present = set(merged.table["path"].to_pylist())
    tangles = list(_tangles(sides, present))
    clashes, disputed = merged.conflicts, set[str]()
    if conflicts.resolutions:
        clashes = list(clashes)
        disputed = {each.path for each in clashes}
        # A tangle may be there only if the files were settled another way.
        disputed |= {each.path for each in _tangles(sides, present | disputed)}
    conflicts.add(clashes)
    conflicts.add(tangles)
    losing = [
        each.other_path if conflicts.side(each.path) == "theirs" else each.path for each in tangles
    ]
    return merge_layer(merged.table, ENTRY_SCHEMA.empty_table(), losing), disputed


def _tangles(sides: _Sides, present: set[str]) -> Iterator[Conflict]:
    """A file of ours that would stand where they have a folder, or the reverse."""
    known = set(sides.base["path"].to_pylist())
    mine = {path for path in sides.ours["path"].to_pylist() if path in present}
    other = {path for path in sides.theirs["path"].to_pylist() if path in present}
    for path in sorted(other - mine):
        for folder in _folders_of(path):
            if folder in mine - other:
                yield _tangle(path, folder, known)
    for path in sorted(mine - other):
        for folder in _folders_of(path):
            if folder in other - mine:
                yield _tangle(folder, path, known)


def _tangle(path: str, other_path: str, known: set[str]) -> Conflict:
    ours, theirs = ("changed" if each in known else "added" for each in (other_path, path))
    return Conflict(path, ours, theirs, other_path=other_path)  # type: ignore[arg-type]


def _folders_of(path: str) -> Iterator[str]:
    end = path.find("/")
    while end >= 0:
        yield path[:end]
        end = path.find("/", end + 1)


def _changes(ours: pa.Table, merged: pa.Table) -> Changes:
    diff = diff_tables(ours, merged, LOGICAL_COLUMNS)
    upserts = pa.concat_tables([diff.added, diff.changed_to]).sort_by("path").combine_chunks()
    return Changes(upserts, frozenset(diff.removed["path"].to_pylist()))


def _digests_now(sides: _Sides, merged: pa.Table) -> pa.Table:
    """Path and digest of every path that a side changed; null where no file is left."""
    columns = [sides.base["path"], sides.ours["path"], sides.theirs["path"]]
    chunks = [chunk for column in columns for chunk in column.chunks]
    paths = pc.unique(pa.chunked_array(chunks, pa.string())).sort()
    row = pc.index_in(paths, value_set=merged["path"].combine_chunks())
    digests = merged["digest"].combine_chunks().take(row)
    return pa.table({"path": paths, "digest": digests.cast(DIGEST)})


class _Layers:
    """Merges layers once the files are merged."""

    def __init__(self, sides: _Sides, files: pa.Table, plan: MergePlan, store: ObjectStore) -> None:
        """`files` are the merged entries of the paths that a side changed."""
        self._roots = sides.roots
        self._now = _digests_now(sides, files)
        self._our_moves = moves_of(sides.base, sides.ours, sides.theirs, files)
        self._their_moves = moves_of(sides.base, sides.theirs, sides.ours, files)
        self._plan = plan
        self._store = store

    def merge_all(self, conflicts: Conflicts) -> list[LayerRef]:
        """Return every layer that is left; adds to the conflicts."""
        rows: dict[str, int] = {}
        for ref in (ref for root in self._roots for ref in root.layers):
            rows[ref.name] = max(ref.rows, rows.get(ref.name, 0))
        self._plan.watch.begin("labels", sum(rows.values()))
        merged = []
        for name in sorted(rows):
            merged.append(self.merge(name, conflicts))
            self._plan.watch.advance(rows[name])
        return [ref for ref in merged if ref]

    def merge(self, name: str, conflicts: Conflicts) -> LayerRef | None:
        """Return the merged layer, None for one that is gone; adds to the conflicts."""
        base, ours, theirs = (root.layer(name) for root in self._roots)
        if ours and theirs and ours.kind != theirs.kind:
            return self._of_two_kinds(ours, theirs, conflicts)
        if not len(self._now) and _content(ours) == _content(theirs):
            return ours
        kind = next(ref.kind for ref in (ours, theirs, base) if ref)
        moves = ((self._our_moves, self._their_moves), (self._their_moves,), (self._our_moves,))
        tables = [
            self._rows(ref, kind, *moved)
            for ref, moved in zip((base, ours, theirs), moves, strict=True)
        ]
        tables[2] = self._confined(tables[0], tables[2])
        if kind == OBJECTS_KIND:
            tables, clashes = merge_both_drawn(
                tables,
                lambda path, field: bool(conflicts.prefers_theirs([path], name, field)[0]),
            )
            conflicts.add(replace(each, layer=name) for each in clashes)
        merged = merge_tables(
            tables[0],
            tables[1],
            tables[2],
            _fields(kind),
            lambda paths, field: conflicts.prefers_theirs(paths, name, field),
        )
        conflicts.add(replace(each, layer=name) for each in merged.conflicts)
        return self._written(name, kind, merged.table, (ours, theirs))

    def _rows(self, ref: LayerRef | None, kind: str, *moves: Moves) -> pa.Table:
        """Return the layer's rows without those of bytes that the merged version does not have.

        Rows of files that the other side moved are where these are now.
        """
        if ref is None or ref.kind != kind:
            return layer_schema(kind).empty_table()
        table = read_layer(ref, self._store)
        for moved in moves:
            table = moved.applied_to(table)
        row = pc.index_in(table["path"], value_set=self._now["path"].combine_chunks())
        same = pc.equal(self._now["digest"].take(row), table["digest"])
        return table.filter(pc.or_(row.is_null(), pc.fill_null(same, False))).combine_chunks()

    def _confined(self, base: pa.Table, theirs: pa.Table) -> pa.Table:
        if self._plan.selects is None:
            return theirs
        outside = base.filter(pc.invert(self._plan.selects(base["path"].combine_chunks())))
        inside = theirs.filter(self._plan.selects(theirs["path"].combine_chunks()))
        return pa.concat_tables([outside, inside]).sort_by("path").combine_chunks()

    def _written(
        self, name: str, kind: str, table: pa.Table, sides: Iterable[LayerRef | None]
    ) -> LayerRef | None:
        if not len(table):
            return None
        known = [ref for ref in sides if ref and ref.kind == kind]
        content = layer_content(kind, table)
        same = next((ref for ref in known if ref.content == content), None)
        if same or not known:
            return same or write_layer(name, kind, table, self._store)
        return change_layer(known[0], table, self._store)

    def _of_two_kinds(
        self, ours: LayerRef, theirs: LayerRef, conflicts: Conflicts
    ) -> LayerRef | None:
        """A layer cannot be of two kinds: one side's is taken whole."""
        chosen = theirs if conflicts.side("", ours.name) == "theirs" else ours
        table = self._rows(chosen, chosen.kind)
        kinds = {"our_value": ours.kind, "their_value": theirs.kind}
        conflicts.add([Conflict("", "changed", "changed", layer=ours.name, **kinds)])
        return self._written(ours.name, chosen.kind, table, (ours, theirs))


def _fields(kind: str) -> list[Field]:
    """Each column by itself; the digest is the same in all rows of a path by then.

    Rows of objects that both sides changed are merged by then: they are taken whole.
    """
    if kind == OBJECTS_KIND:
        compared = compared_columns(layer_schema(kind))
        others = [n for n in layer_schema(kind).names if n not in ("path", *compared)]
        return [Field("", tuple(compared), ("objects",), tuple(others))]
    first, *others = (name for name in layer_schema(kind).names if name not in ("path", "digest"))
    return [Field(first, (first,), (first,), ("digest",)), *(Field(n, (n,), (n,)) for n in others)]


def _content(ref: LayerRef | None) -> tuple[str, bytes] | None:
    return (ref.kind, ref.content) if ref else None


def _known(root: Root, sides: Iterable[Root]) -> Root:
    """Return the side that has the same entries and layers, else the root itself."""

    def logical(each: Root) -> tuple[bytes, list[tuple[str, str, bytes]]]:
        return each.content, [(ref.name, ref.kind, ref.content) for ref in each.layers]

    return next((side for side in sides if logical(side) == logical(root)), root)
