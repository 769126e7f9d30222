"""The operations of git on versions: merge, revert, cherry-pick and edit, as changes of a root.

Each operation has a frozen dataclass of arguments; `read_arguments` checks what was stored.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from atom.datasets.operations.engines.selections import Selection
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.merge.merge import EMPTY_ROOT, Merged, MergePlan, merge_roots
from atom_sdk.manifests.merge.resolution import Resolution
from atom_sdk.manifests.merge.three_way import Conflict, Policy
from atom_sdk.manifests.objects import MemoryObjectStore, ObjectStore
from atom_sdk.manifests.progress import UNWATCHED, Watch
from atom_sdk.manifests.roots.roots import Root

# The most of one attribute that a conflict shows.
_SHOWN_CHARS = 100


@dataclass(frozen=True)
class Source:
    """A version as it was named, and the commit (hex) that this meant."""

    ref: str
    commit: str
    dataset: str = ""


@dataclass(frozen=True)
class MergeArguments:
    """Take what a version has that the branch has not."""

    source: Source
    on_conflict: Policy = "fail"
    resolutions: tuple[Resolution, ...] = ()


@dataclass(frozen=True)
class RevertArguments:
    """Undo what a version did to its first parent."""

    source: Source
    on_conflict: Policy = "fail"
    resolutions: tuple[Resolution, ...] = ()


@dataclass(frozen=True)
class PickArguments:
    """Make some paths what they are in a version, or repeat what it changed in them."""

    source: Source
    paths: tuple[str, ...] = ()
    changes_only: bool = False
    on_conflict: Policy = "fail"
    resolutions: tuple[Resolution, ...] = ()


@dataclass(frozen=True)
class EditStepArguments:
    """One edit: remove, move, copy, set, label, split or move_objects."""

    op: str
    paths: tuple[str, ...] = ()
    where: str = ""
    to: str = ""
    attributes: Mapping[str, Any] = field(default_factory=dict)
    source: Source | None = None
    value: str = ""


@dataclass(frozen=True)
class EditArguments:
    """Edits, one after the other, as one commit; `provenance` is what the commit says of them.

    With `seen`, the files at the steps' paths must still be those of that version.
    """

    edits: tuple[EditStepArguments, ...]
    provenance: Mapping[str, Any] = field(default_factory=dict)
    seen: Source | None = None


@dataclass(frozen=True)
class WriteArguments:
    """Merge what a writer, or the counted ones of a job, staged into the target's head."""

    on_conflict: Policy = "fail"
    resolutions: tuple[Resolution, ...] = ()


Arguments = MergeArguments | RevertArguments | PickArguments | EditArguments


def stored_arguments(arguments: Arguments | WriteArguments) -> dict[str, Any]:
    """Return plain values for JSON."""
    return asdict(arguments)


def read_arguments(operation: str, stored: Mapping[str, Any]) -> Arguments:
    """Return what `stored_arguments` wrote. Raises KeyError for an unknown operation."""
    return _READERS[operation](dict(stored))


def _read_edit(stored: dict[str, Any]) -> EditArguments:
    edits = tuple(_read_step(step) for step in stored["edits"])
    # Absent from what was stored before there were such things.
    seen = Source(**stored["seen"]) if stored.get("seen") else None
    return EditArguments(edits, stored.get("provenance", {}), seen)


def _read_step(stored: dict[str, Any]) -> EditStepArguments:
    source = Source(**stored["source"]) if stored["source"] else None
    return EditStepArguments(**{**stored, "paths": tuple(stored["paths"]), "source": source})


def _read_pick(stored: dict[str, Any]) -> PickArguments:
    return PickArguments(**{**_sourced(stored), "paths": tuple(stored["paths"])})


def _sourced(stored: dict[str, Any]) -> dict[str, Any]:
    source = Source(**stored["source"])
    return {**stored, "source": source, "resolutions": _resolutions(stored)}


def read_write(stored: Mapping[str, Any]) -> WriteArguments:
    """Return what `stored_arguments` wrote for a writer or a job."""
    return WriteArguments(stored["on_conflict"], _resolutions(stored))


def _resolutions(stored: Mapping[str, Any]) -> tuple[Resolution, ...]:
    # Absent from what was stored before there was such a thing.
    return tuple(Resolution(**each) for each in stored.get("resolutions", ()))


_READERS: Mapping[str, Callable[[dict[str, Any]], Arguments]] = {
    "merge": lambda stored: MergeArguments(**_sourced(stored)),
    "revert": lambda stored: RevertArguments(**_sourced(stored)),
    "cherry_pick": _read_pick,
    "edit": _read_edit,
}


def revert_root(
    head: Root, version: Root, parent: Root | None, store: ObjectStore, plan: MergePlan
) -> Merged:
    """Take back from `head` what `version` did to its parent, None for the first version."""
    return merge_roots(version, head, parent or EMPTY_ROOT, store, plan)


def pick_root(
    head: Root,
    version: Root,
    base: Root,
    store: ObjectStore,
    arguments: PickArguments,
    watch: Watch = UNWATCHED,
) -> Merged:
    """Bring paths of `version` onto `head`: what changed since `base`, which may be the head."""
    selects = Selection(arguments.paths).mask if arguments.paths else None
    plan = MergePlan(arguments.on_conflict, arguments.resolutions, selects, watch=watch)
    return merge_roots(base, head, version, store, plan)


@dataclass(frozen=True)
class ChangeCounts:
    """How two versions differ; a renamed file is removed and added."""

    added: int
    removed: int
    changed: int
    labels_changed: int


@dataclass(frozen=True)
class ChangeExample:
    """A file that differs: added, removed or changed."""

    path: str
    change: str


def count_changes(
    old: Root, new: Root, store: ObjectStore, examples: int = 0
) -> tuple[ChangeCounts, list[ChangeExample]]:
    """Count what differs; also return the first so many files of each kind, by path."""
    diff = diff_roots(old, new, store)
    labels = sum(
        len(layer.added) + len(layer.removed) + len(layer.changed_to) for layer in diff.layers
    )
    kinds = {
        "removed": diff.removed_paths,
        "added": diff.added_paths,
        "changed": diff.changed_paths,
    }
    shown = [
        ChangeExample(path, kind)
        for kind, paths in kinds.items()
        for path in paths[:examples].to_pylist()
    ]
    sums = {kind: len(paths) for kind, paths in kinds.items()}
    return ChangeCounts(labels_changed=labels, **sums), shown


def conflict_json(conflict: Conflict) -> dict[str, str]:
    """Return a conflict as it is stored and shown: of attributes, only those that differ."""
    shown: dict[str, str] = asdict(conflict)
    if conflict.layer == "" and conflict.field == "attributes":
        sides = [json.loads(text or "{}") for text in (conflict.our_value, conflict.their_value)]
        shown["our_value"], shown["their_value"] = map(_as_text, _differing(*sides))
    return shown


def _differing(ours: dict[str, Any], theirs: dict[str, Any]) -> tuple[dict[str, Any], ...]:
    names = [name for name in {**ours, **theirs} if _side(ours, name) != _side(theirs, name)]
    return tuple(
        {name: _cut(side[name]) for name in names if name in side} for side in (ours, theirs)
    )


def _side(attributes: Mapping[str, Any], name: str) -> str:
    # 1 and true are equal in Python, and an attribute that is null is not one that is missing.
    return _as_text(attributes[name]) if name in attributes else ""


def _cut(value: Any) -> Any:
    text = _as_text(value)
    return value if len(text) <= _SHOWN_CHARS else text[:_SHOWN_CHARS] + "…"


def _as_text(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, sort_keys=True)


class ScratchStore(MemoryObjectStore):
    """Reads what is stored and keeps what is written to itself: for what is only looked at."""

    def __init__(self, stored: ObjectStore) -> None:
        """`stored` is never written to."""
        super().__init__()
        self._stored = stored

    def get(self, key: str) -> bytes:
        """Return the object. Raises ObjectNotFoundError."""
        return self.objects[key] if key in self.objects else self._stored.get(key)

    def exists(self, key: str) -> bool:
        """Whether the object is there."""
        return key in self.objects or self._stored.exists(key)
