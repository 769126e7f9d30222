"""Edits of a version without its bytes: files, attributes, labels, splits and layers of objects.

Labels and splits go where their files go. Deterministic: the same root and step give the same root.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.operations.engines.moved_objects import ObjectMove, with_moved_objects
from atom.datasets.operations.engines.selections import Selection, files_at, selected_entries
from atom.datasets.sentences import file_and_folder
from atom.datasets.versions.engines.assignments import with_label, with_split
from atom.datasets.versions.engines.changes import MAX_ATTRIBUTE_BYTES
from atom.datasets.versions.engines.object_layers import with_objects_along
from atom.datasets.versions.engines.path_conflicts import folders_of, path_conflict
from atom.datasets.versions.engines.version_plan import REST, SPLIT_LAYER
from atom.datasets.versions.engines.versions import put_layer
from atom_sdk.errors import EmptyDatasetError, PathError
from atom_sdk.manifests.build import Changes, apply_changes
from atom_sdk.manifests.layers.layers import layer_schema, merge_layer, read_layer
from atom_sdk.manifests.layers.object_rows import OBJECTS_KIND
from atom_sdk.manifests.links import without_links
from atom_sdk.manifests.merge.merge import EMPTY_ROOT
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch
from atom_sdk.manifests.query import Query, matching
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.packs.paths import encode_path
from atom_sdk.sentences import Sentence


class NothingSelectedError(ValueError):
    """No file is at the paths that a step names."""


class PathTakenError(ValueError):
    """A file would come to stand where another file or folder is."""


class EditError(ValueError):
    """A step cannot be carried out as it is written; the text says why."""


@dataclass(frozen=True)
class EditStep:
    """One edit.

    `to` is for move and copy, `patch` (RFC 7396) for set, `source` for copy, `value` for label and
    split, `objects` for move_objects. `where` keeps only the files among the selected that match.
    """

    op: str
    selection: Selection
    where: Query | None = None
    to: str = ""
    patch: Mapping[str, Any] = field(default_factory=dict)
    source: Root | None = None
    watch: Watch = UNWATCHED
    value: str = ""
    objects: ObjectMove | None = None


def apply_edit(root: Root, step: EditStep, store: ObjectStore) -> Root:
    """Return the root after one step.

    Raises NothingSelectedError, PathTakenError, EditError, EmptyDatasetError.
    """
    source = step.source or root
    entries = selected_entries(source, step.selection, store, step.watch)
    if step.where is not None and len(entries):
        entries = _matching(source, step, entries, store)
    if not len(entries):
        raise NothingSelectedError(_nothing_selected(step))
    return _STEPS[step.op](root, source, entries, step, store)


def _nothing_selected(step: EditStep) -> Sentence:
    paths = ", ".join(step.selection.paths[:3])
    if not step.where:
        return Sentence("datasets.no_file_at", "No file is at {paths}.", paths=paths)
    return Sentence(
        "datasets.no_file_at_matches",
        "No file at {paths} matches {where}.",
        paths=paths,
        where=step.where,
    )


def _matching(source: Root, step: EditStep, entries: pa.Table, store: ObjectStore) -> pa.Table:
    pieces = []
    for table in matching(source, store, step.where):
        pieces.append(table["path"])
        # Nothing to count, but a good moment to be stopped.
        step.watch.advance(0)
    found = pa.chunked_array([chunk for piece in pieces for chunk in piece.chunks], pa.string())
    kept = pc.is_in(entries["path"], value_set=found.combine_chunks())
    return entries.filter(kept).combine_chunks()


def _remove(
    root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore
) -> Root:
    gone = entries["path"].to_pylist()
    changed = apply_changes(root, Changes(deletes=frozenset(gone)), store, watch=step.watch)
    return _with_layers(changed, {}, root, gone, store, step.watch)


def _move(root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore) -> Root:
    targets = _targets(entries, step)
    moved = {old: new for old, new in targets.items() if old != new}
    if not moved:
        return root
    gone = list(moved)
    rest = entries.filter(pc.is_in(entries["path"], value_set=pa.array(gone, pa.string())))
    puts = _renamed(rest, moved)
    _check_free(_without(root, gone, store), puts, store)
    changed = apply_changes(root, Changes(puts, frozenset(gone)), store, watch=step.watch)
    return _with_layers(changed, moved, root, gone, store, step.watch)


def _copy(root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore) -> Root:
    targets = _targets(entries, step)
    puts = _renamed(entries, targets)
    _check_free(root, puts, store)
    changed = apply_changes(root, Changes(puts), store, watch=step.watch)
    labelled = _with_layers(changed, targets, source, [], store, step.watch)
    return _with_splits(labelled, puts, store)


def _set(root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore) -> Root:
    if "unreadable" in step.patch:
        raise EditError(
            Sentence(
                "datasets.attribute_unreadable_is_fixed",
                "A worker sets the attribute unreadable; you cannot set it.",
            )
        )
    texts = entries["attributes"].combine_chunks()
    # Many files share their attributes: each text is patched once.
    distinct = pc.unique(texts)
    patched = pa.array([_patched(text, step.patch) for text in distinct.to_pylist()], pa.string())
    row = pc.index_in(texts, value_set=distinct)
    puts = entries.set_column(4, entries.schema.field("attributes"), patched.take(row))
    return apply_changes(root, Changes(puts), store, watch=step.watch)


def _label(root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore) -> Root:
    step.watch.begin("labels", len(entries))
    return with_label(root, entries, step.value, store)


def _split(root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore) -> Root:
    step.watch.begin("labels", len(entries))
    return with_split(root, entries, step.value, store)


def _move_objects(
    root: Root, source: Root, entries: pa.Table, step: EditStep, store: ObjectStore
) -> Root:
    move = step.objects or ObjectMove(lambda _: None)
    return with_moved_objects(root, entries, move, store, step.watch)


_Step = Callable[[Root, Root, pa.Table, EditStep, ObjectStore], Root]
_STEPS: Mapping[str, _Step] = {
    "remove": _remove,
    "move": _move,
    "copy": _copy,
    "set": _set,
    "label": _label,
    "split": _split,
    "move_objects": _move_objects,
}


def _targets(entries: pa.Table, step: EditStep) -> dict[str, str]:
    """Return the new path of each. `to` with a slash at its end is a folder to put them in."""
    selection = step.selection
    if len(selection.paths) > 1 and not step.to.endswith("/"):
        raise EditError(
            Sentence(
                "datasets.paths_need_a_folder",
                "Several paths can only go to a folder: end `to` with a slash.",
            )
        )
    targets = {path: _target(path, selection, step.to) for path in entries["path"].to_pylist()}
    for new in targets.values():
        try:
            encode_path(new)
        except PathError as exc:
            raise EditError(str(exc)) from exc
    if len(set(targets.values())) < len(targets):
        raise PathTakenError(
            Sentence("datasets.paths_collide", "Two files would get the same path.")
        )
    return targets


def _target(path: str, selection: Selection, to: str) -> str:
    written = selection.part_for(path)
    if written.endswith("/"):
        # The rest of the path below the folder, without the folder.
        below = path[len(written) :] if written.strip("/") else path
        return f"{to.rstrip('/')}/{below}".removeprefix("/")
    kept_from = written.rfind("/") + 1 if to.endswith("/") else len(written)
    return to.removeprefix("/") + path[kept_from:]


def _renamed(entries: pa.Table, targets: Mapping[str, str]) -> pa.Table:
    paths = pa.array([targets[path] for path in entries["path"].to_pylist()], pa.string())
    renamed = entries.set_column(0, entries.schema.field("path"), paths)
    return renamed.sort_by("path").combine_chunks()


def _check_free(root: Root, puts: pa.Table, store: ObjectStore) -> None:
    """Raise PathTakenError where a file or folder is already, or a file is needed as a folder."""
    column = puts["path"].combine_chunks()
    paths = column.to_pylist()
    if both := folders_of(paths).intersection(paths):
        raise PathTakenError(file_and_folder(min(both)))
    if taken := files_at(root, paths, store):
        raise PathTakenError(
            Sentence("datasets.path_exists", "There is {path} already.", path=taken[0])
        )
    if taken_as := path_conflict(root, [column], store):
        raise PathTakenError(file_and_folder(taken_as))


def _with_layers(
    root: Root,
    targets: Mapping[str, str],
    source: Root,
    gone: list[str],
    store: ObjectStore,
    watch: Watch,
) -> Root:
    """Drop the rows of files that are gone and bring along those of files that have new paths."""
    rows = {ref.name: ref.rows for ref in (*source.layers, *root.layers)}
    watch.begin("labels", sum(rows.values()))
    for name in sorted(rows):
        root = _with_layer(root, name, targets, source, gone, store)
        watch.advance(rows[name])
    return root


def _with_layer(
    root: Root,
    name: str,
    targets: Mapping[str, str],
    source: Root,
    gone: list[str],
    store: ObjectStore,
) -> Root:
    before, brought = root.layer(name), source.layer(name)
    kind = before.kind if before else brought.kind if brought else ""
    if before is None and kind == "split":
        # A split of another dataset says nothing where there is none.
        return root
    if kind == OBJECTS_KIND:
        return with_objects_along(root, name, source, targets, gone, store)
    empty = layer_schema(kind).empty_table()
    table = read_layer(before, store) if before else empty
    rows = empty
    if brought and brought.kind == kind and targets:
        rows = _rows_along(read_layer(brought, store), targets)
    return put_layer(root, name, kind, merge_layer(table, rows, gone), store)


def _with_splits(root: Root, puts: pa.Table, store: ObjectStore) -> Root:
    """Where there is a split, files that came without one are for training, as pushed ones are."""
    ref = root.layer(SPLIT_LAYER)
    if ref is None:
        return root
    table = read_layer(ref, store)
    files = without_links(puts)
    row = pc.index_in(files["path"], value_set=table["path"].combine_chunks())
    new = files.filter(row.is_null()).select(["path", "digest"])
    rows = new.append_column("value", pa.array([REST] * len(new), pa.string()))
    merged = merge_layer(table, rows.cast(table.schema))
    return put_layer(root, SPLIT_LAYER, ref.kind, merged, store)


def _rows_along(layer: pa.Table, targets: Mapping[str, str]) -> pa.Table:
    olds = pa.array(list(targets), pa.string())
    rows = layer.filter(pc.is_in(layer["path"], value_set=olds))
    return _renamed(rows, targets)


def _without(root: Root, gone: list[str], store: ObjectStore) -> Root:
    try:
        return apply_changes(root, Changes(deletes=frozenset(gone)), store)
    except EmptyDatasetError:
        return EMPTY_ROOT


def _patched(text: str | None, patch: Mapping[str, Any]) -> str | None:
    merged = _merge_patch(json.loads(text) if text else {}, patch)
    if not merged:
        return None
    patched = json.dumps(merged, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    if len(patched.encode()) > MAX_ATTRIBUTE_BYTES:
        raise EditError(
            Sentence(
                "datasets.attributes_too_large",
                "Attributes may have {max_bytes} bytes at most.",
                max_bytes=MAX_ATTRIBUTE_BYTES,
            )
        )
    return patched


def _merge_patch(target: Any, patch: Any) -> Any:
    """Apply a JSON merge patch: null removes, an object goes deeper, anything else replaces."""
    if not isinstance(patch, Mapping):
        return patch
    result = dict(target) if isinstance(target, Mapping) else {}
    for key, value in patch.items():
        if value is None:
            result.pop(key, None)
        else:
            result[key] = _merge_patch(result.get(key), value)
    return result
