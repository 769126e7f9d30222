"""The outcome of an operation on a branch's head: a root that is not stored yet, and why."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from atom.datasets.catalog.engines.ancestry import ancestors, merge_base
from atom.datasets.catalog.history import parents_of
from atom.datasets.errors import (
    EditImpossible,
    EmptyCommit,
    FilesChanged,
    NothingSelected,
    NotInConflict,
    PathTaken,
)
from atom.datasets.operations.actions.object_moves import MOVE_OBJECTS, object_move
from atom.datasets.operations.actions.sites import Site
from atom.datasets.operations.engines.edits import (
    EditError,
    EditStep,
    NothingSelectedError,
    PathTakenError,
    apply_edit,
)
from atom.datasets.operations.engines.operations import (
    Arguments,
    EditArguments,
    EditStepArguments,
    MergeArguments,
    PickArguments,
    RevertArguments,
    Source,
    pick_root,
    revert_root,
)
from atom.datasets.operations.engines.selections import Selection, changed_between, selected_entries
from atom.datasets.sentences import file_and_folder
from atom.datasets.versions.engines.path_conflicts import path_conflict
from atom_sdk.amounts import first_named
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.merge.merge import Merged, MergePlan, merge_roots
from atom_sdk.manifests.merge.resolution import Resolution
from atom_sdk.manifests.query import parse_query
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence


@dataclass(frozen=True)
class Outcome:
    """The result of an operation on the head; a root of None means conflicts."""

    merged: Merged
    message: str
    provenance: Mapping[str, Any]
    # The other side of a merge, revert or pick.
    theirs: Root | None = None
    # The commit that is merged in. A merge is a commit even where it changes no file.
    merges: str = ""
    contained: bool = field(default=False)


def outcome_of(site: Site, operation: str, arguments: Arguments) -> Outcome:
    """Carry out an operation. Raises CommitRefused, RefNotFound."""
    try:
        outcome = _OPERATIONS[operation](site, arguments)
    except EmptyDatasetError as exc:
        raise EmptyCommit from exc
    except NothingSelectedError as exc:
        raise NothingSelected(str(exc)) from exc
    except PathTakenError as exc:
        raise PathTaken(str(exc)) from exc
    except EditError as exc:
        raise EditImpossible(str(exc)) from exc
    if outcome.merged.idle:
        raise not_in_conflict(outcome.merged.idle)
    return outcome


def not_in_conflict(idle: Sequence[Resolution]) -> NotInConflict:
    """Return the refusal of resolutions that name no conflict."""
    shown = [": ".join(filter(None, (e.path, e.layer, e.field))) for e in idle]
    return NotInConflict(
        Sentence("datasets.no_conflict_at", "No conflict is at {paths}.", paths=first_named(shown))
    )


def _merge(site: Site, arguments: MergeArguments) -> Outcome:
    source = arguments.source
    theirs = site.root_in(site.version(source))
    parents = parents_of(site.dataset)
    message = f"Merge {source.ref} into {site.branch}"
    said = {"source": source.ref, "source_commit": source.commit}
    if source.commit in ancestors(parents, site.head.commit):
        contained = Merged(site.root, (), 0, idle=arguments.resolutions)
        return Outcome(contained, message, said, contained=True)
    base = merge_base(parents, site.head.commit, source.commit)
    plan = MergePlan(arguments.on_conflict, arguments.resolutions, watch=site.watch)
    merged = merge_roots(site.root_of(base), site.root, theirs, site.objects, plan)
    return Outcome(merged, message, {**said, "base": base}, theirs, merges=source.commit)


def _revert(site: Site, arguments: RevertArguments) -> Outcome:
    version = site.version(arguments.source)
    parent = site.root_of(version.parents[0] if version.parents else None)
    undone = site.root_in(version)
    plan = MergePlan(arguments.on_conflict, arguments.resolutions, watch=site.watch)
    merged = revert_root(site.root, undone, parent, site.objects, plan)
    title = version.message.split("\n")[0]
    message = f"Revert {version.ref}" + (f": {title}" if title else "")
    said = {"source": arguments.source.ref, "reverts": version.commit}
    return Outcome(merged, message, said, parent)


def _pick(site: Site, arguments: PickArguments) -> Outcome:
    version = site.version(arguments.source)
    picked = site.root_in(version)
    base = site.root
    if arguments.changes_only:
        base = site.root_of(version.parents[0] if version.parents else None)
    elif not len(selected_entries(picked, Selection(arguments.paths), site.objects)):
        raise NothingSelected(
            Sentence(
                "datasets.paths_unknown",
                "{version} has no file at these paths.",
                version=version.ref,
            )
        )
    merged = pick_root(site.root, picked, base, site.objects, arguments, site.watch)
    if merged.root is not None and arguments.paths:
        _check_paths(site, merged.root)
    what = first_named(arguments.paths) or "all changes"
    said = {"source": arguments.source.ref, "source_commit": version.commit}
    return Outcome(merged, f"Pick {what} from {arguments.source.ref}", said, picked)


def _check_paths(site: Site, root: Root) -> None:
    """Raise PathTaken where what is picked lies below a file, or is one where a folder is.

    A merge of everything sees this by itself: the other side must have removed what was there.
    """
    added = diff_roots(site.root, root, site.objects).added_paths.sort()
    if both := path_conflict(root, [added], site.objects):
        raise PathTaken(file_and_folder(both))


def _edit(site: Site, arguments: EditArguments) -> Outcome:
    seen = arguments.seen
    if seen is not None and not _require_unchanged(site, seen, arguments.edits):
        return Outcome(Merged(site.root, (), 0), "", {}, contained=True)
    root = site.root
    moved: dict[str, Any] = {}
    for each in arguments.edits:
        step = _step(site, each)
        root = apply_edit(root, step, site.objects)
        if step.objects is not None:
            moved = {"moved_objects": step.objects.counts.as_json()}
    done = sorted({step.op for step in arguments.edits})
    sources = [step.source.ref for step in arguments.edits if step.source]
    said = {**arguments.provenance, "edits": done, **moved}
    said |= {"source": sources[0]} if sources else {}
    return Outcome(Merged(root, (), 0), "; ".join(map(_step_text, arguments.edits[:3])), said)


def _require_unchanged(site: Site, chosen_in: Source, edits: Sequence[EditStepArguments]) -> bool:
    """Raise FilesChanged if a file that is named is another one than in that version.

    Returns whether any is left: what is gone by now is as it was wanted.
    """
    seen = site.dataset.versions.filter(commit=chosen_in.commit).first()
    if seen is not None and seen.content_digest == site.head.content_digest:
        return True
    root = site.versions.root(site.version(chosen_in).root)
    paths = sorted({path for step in edits for path in step.paths})
    changed, gone = changed_between(root, site.root, paths, site.objects)
    if changed:
        raise FilesChanged(
            Sentence(
                "datasets.files_differ",
                "{version} has other files at {paths}.",
                version=site.head.ref,
                paths=first_named(changed),
            )
        )
    return len(gone) < len(paths)


def _step(site: Site, step: EditStepArguments) -> EditStep:
    source = site.root_in(site.version(step.source)) if step.source else None
    where = parse_query(step.where) if step.where else None
    return EditStep(
        step.op,
        Selection(step.paths),
        where,
        step.to,
        step.attributes,
        source,
        site.watch,
        step.value,
        object_move(site, step.value) if step.op == MOVE_OBJECTS else None,
    )


def _step_text(step: EditStepArguments) -> str:
    if step.op == MOVE_OBJECTS:
        return "Move objects from attributes to their layer"
    named = ", ".join(step.paths[:3]) + (" …" if len(step.paths) > 3 else "")
    named = f"{named} where {step.where}" if step.where else named
    to = f" to {step.to}" if step.to else ""
    return f"{_verb(step)} {named}{to}"


def _verb(step: EditStepArguments) -> str:
    if step.op in {"label", "split"}:
        return f"Set {step.op} {step.value} of" if step.value else f"Take the {step.op} from"
    return "Set attributes of" if step.op == "set" else step.op.capitalize()


_OPERATIONS: Mapping[str, Callable[[Site, Any], Outcome]] = {
    "merge": _merge,
    "revert": _revert,
    "cherry_pick": _pick,
    "edit": _edit,
}
