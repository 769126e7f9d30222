"""Merge, revert, cherry-pick and edit: commits made from versions that are there already.

An operation that was not told a head works on the one that the branch has; when the branch moves
meanwhile it is carried out again on the new head. What it worked on is noted before the branch
moves, so a run that died makes the same commit again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field, replace
from typing import Any
from uuid import UUID

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core.background import enqueue
from atom.datasets.actions.branches import BranchMove, head_commit, move_branch
from atom.datasets.engines.ancestry import ancestors, merge_base
from atom.datasets.engines.edits import (
    EditError,
    EditStep,
    NothingSelectedError,
    PathTakenError,
    apply_edit,
)
from atom.datasets.engines.operations import (
    Arguments,
    ChangeCounts,
    EditArguments,
    EditStepArguments,
    MergeArguments,
    PickArguments,
    RevertArguments,
    ScratchStore,
    Source,
    conflict_json,
    count_changes,
    pick_root,
    read_arguments,
    revert_root,
    stored_arguments,
)
from atom.datasets.engines.selections import Selection, selected_entries
from atom.datasets.errors import (
    BranchEmpty,
    EditImpossible,
    EmptyCommit,
    HeadMoved,
    MergeConflict,
    NothingSelected,
    PathTaken,
    RefNotFound,
)
from atom.datasets.history import parents_of
from atom.datasets.models import Branch, CommitRequest, Dataset, Version
from atom.datasets.reads import require_kept
from atom.datasets.stores import VersionStore, version_store
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.commits import Commit, write_commit
from atom_sdk.manifests.merge import EMPTY_ROOT, Merged, MergePlan, merge_roots
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.query import parse_query
from atom_sdk.manifests.roots import Root, write_root

_ATTEMPTS = 5
_BUILD_TASK = "atom.datasets.tasks.build_commit"
MAX_SHOWN_CONFLICTS = 100
# What the next push to the branch goes on with.
_PUSH_OPTIONS = ("labels_from", "unlabelled_prefixes", "split")


@dataclass(frozen=True)
class NewOperation:
    """What is asked for; without an expected head it is carried out on whatever is the head."""

    operation: str
    branch: str
    arguments: Arguments
    expected_head: str = ""
    message: str = ""


@dataclass(frozen=True)
class Preview:
    """What an operation would do to the head; where both sides changed, ours is counted."""

    head: Version
    counts: ChangeCounts
    conflicts: list[dict[str, str]]
    conflicts_total: int
    contained: bool


@dataclass(frozen=True)
class _Site:
    """The branch that an operation works on; `objects` takes what is written."""

    dataset: Dataset
    branch: str
    head: Version
    versions: VersionStore
    objects: ObjectStore

    @property
    def root(self) -> Root:
        return self.versions.root(self.head.root)

    def version(self, source: Source) -> Version:
        """Return a version of this or another dataset of the project.

        Raises RefNotFound or VersionExpired.
        """
        home = UUID(source.dataset) if source.dataset else self.dataset.pk
        # Packs are a project's: a version of another one could not be read.
        versions = Version.objects.filter(dataset__project=self.dataset.project_id)
        found = versions.filter(dataset=home, commit=source.commit).first()
        if found is None:
            raise RefNotFound(f"The version {source.ref} is gone.")
        require_kept(found)
        return found

    def root_of(self, commit: str | None) -> Root:
        """Return the root of a commit of this dataset; without a commit, one of no files."""
        found = self.dataset.versions.filter(commit=commit).first() if commit else None
        if found is None:
            return EMPTY_ROOT
        require_kept(found)
        return self.versions.root(found.root)


@dataclass(frozen=True)
class _Outcome:
    """What an operation makes of the head; a root of None means conflicts."""

    merged: Merged
    message: str
    provenance: Mapping[str, Any]
    # The commit that is merged in. A merge is a commit even where it changes no file.
    merges: str = ""
    contained: bool = field(default=False)


def request_operation(dataset: Dataset, new: NewOperation, user: User) -> CommitRequest:
    """Ask a worker for an operation. Raises RefNotFound or BranchEmpty."""
    _branch(dataset, new.branch)
    with transaction.atomic():
        request = CommitRequest.objects.create(
            dataset=dataset,
            branch=new.branch,
            operation=new.operation,
            arguments=stored_arguments(new.arguments),
            expected_head=new.expected_head,
            message=new.message,
            created_by=user,
        )
        named = {"dataset": dataset.name, "branch": new.branch, "operation": new.operation}
        audit.record(user, "commit.requested", request, dataset.project, **named)
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def preview_operation(dataset: Dataset, new: NewOperation) -> Preview:
    """Return what an operation would do, without a trace.

    Raises RefNotFound, BranchEmpty, HeadMoved and what the operation itself refuses.
    """
    head = _branch(dataset, new.branch).head
    if head is None or (new.expected_head and new.expected_head != head.commit):
        raise HeadMoved(f"{new.branch} has moved.", head=head.commit if head else "")
    arguments = new.arguments
    if not isinstance(arguments, EditArguments) and arguments.on_conflict == "fail":
        arguments = replace(arguments, on_conflict="ours")
    site = _site(dataset, new.branch, head, scratch=True)
    outcome = _outcome(site, new.operation, arguments)
    root = outcome.merged.root or site.root
    return Preview(
        head,
        count_changes(site.root, root, site.objects),
        [conflict_json(each) for each in outcome.merged.conflicts[:MAX_SHOWN_CONFLICTS]],
        outcome.merged.conflicts_total,
        outcome.contained,
    )


def carry_out(request: CommitRequest) -> tuple[Version, bool]:
    """Return the version, and whether it is the head because there was nothing to do.

    Raises HeadMoved, MergeConflict and other CommitRefused, RefNotFound.
    """
    known = request.expected_head or request.built_on
    head = known or head_commit(_branch(request.dataset, request.branch))
    for attempt in range(_ATTEMPTS):
        try:
            return _carry_out_on(request, head)
        except HeadMoved as moved:
            if request.expected_head or attempt == _ATTEMPTS - 1:
                raise
            head = str(moved.extra["head"])
    raise AssertionError("unreachable: the last attempt returns or raises")


def _carry_out_on(request: CommitRequest, head_digest: str) -> tuple[Version, bool]:
    head = request.dataset.versions.filter(commit=head_digest).first()
    if head is None:
        present = head_commit(_branch(request.dataset, request.branch))
        raise HeadMoved("The expected head is not a commit of this dataset.", head=present)
    working = CommitRequest.objects.filter(pk=request.pk, state="building")
    working.update(built_on=head.commit, progress=0.2)
    site = _site(request.dataset, request.branch, head)
    arguments = read_arguments(request.operation, request.arguments)
    outcome = _outcome(site, request.operation, arguments)
    if outcome.merged.root is None:
        raise _conflict(site, outcome.merged)
    working.update(progress=0.8)
    digest = write_root(outcome.merged.root, site.objects)
    if outcome.contained or (digest.hex() == head.root and not outcome.merges):
        return head, True
    commit = _store_commit(request, site, outcome, digest)
    return move_branch(BranchMove(request.dataset, request.branch, head.commit, commit)), False


def _outcome(site: _Site, operation: str, arguments: Arguments) -> _Outcome:
    try:
        return _OPERATIONS[operation](site, arguments)
    except EmptyDatasetError as exc:
        raise EmptyCommit from exc
    except NothingSelectedError as exc:
        raise NothingSelected(str(exc)) from exc
    except PathTakenError as exc:
        raise PathTaken(str(exc)) from exc
    except EditError as exc:
        raise EditImpossible(str(exc)) from exc


def _merge(site: _Site, arguments: MergeArguments) -> _Outcome:
    source = arguments.source
    theirs = site.versions.root(site.version(source).root)
    parents = parents_of(site.dataset)
    message = f"Merge {source.ref} into {site.branch}"
    said = {"source": source.ref, "source_commit": source.commit}
    if source.commit in ancestors(parents, site.head.commit):
        return _Outcome(Merged(site.root, (), 0), message, said, contained=True)
    base = merge_base(parents, site.head.commit, source.commit)
    plan = MergePlan(arguments.on_conflict)
    merged = merge_roots(site.root_of(base), site.root, theirs, site.objects, plan)
    return _Outcome(merged, message, said | {"base": base}, merges=source.commit)


def _revert(site: _Site, arguments: RevertArguments) -> _Outcome:
    version = site.version(arguments.source)
    parent = site.root_of(version.parents[0] if version.parents else None)
    undone = site.versions.root(version.root)
    merged = revert_root(site.root, undone, parent, site.objects, arguments.on_conflict)
    title = version.message.split("\n")[0]
    message = f"Revert {version.ref}" + (f": {title}" if title else "")
    return _Outcome(merged, message, {"source": arguments.source.ref, "reverts": version.commit})


def _pick(site: _Site, arguments: PickArguments) -> _Outcome:
    version = site.version(arguments.source)
    picked = site.versions.root(version.root)
    base = site.root
    if arguments.changes_only:
        base = site.root_of(version.parents[0] if version.parents else None)
    elif not len(selected_entries(picked, Selection(arguments.paths), site.objects)):
        raise NothingSelected(f"{version.ref} has no file at these paths.")
    merged = pick_root(site.root, picked, base, site.objects, arguments)
    what = ", ".join(arguments.paths[:3]) or "all changes"
    more = f" and {len(arguments.paths) - 3} more" if len(arguments.paths) > 3 else ""
    said = {"source": arguments.source.ref, "source_commit": version.commit}
    return _Outcome(merged, f"Pick {what}{more} from {arguments.source.ref}", said)


def _edit(site: _Site, arguments: EditArguments) -> _Outcome:
    root = site.root
    for step in arguments.edits:
        root = apply_edit(root, _step(site, step), site.objects)
    done = sorted({step.op for step in arguments.edits})
    sources = [step.source.ref for step in arguments.edits if step.source]
    said = {"edits": done} | ({"source": sources[0]} if sources else {})
    return _Outcome(Merged(root, (), 0), "; ".join(map(_told, arguments.edits[:3])), said)


def _step(site: _Site, step: EditStepArguments) -> EditStep:
    source = site.versions.root(site.version(step.source).root) if step.source else None
    where = parse_query(step.where) if step.where else None
    return EditStep(step.op, Selection(step.paths), where, step.to, step.attributes, source)


def _told(step: EditStepArguments) -> str:
    named = ", ".join(step.paths[:3]) + (" …" if len(step.paths) > 3 else "")
    named = f"{named} where {step.where}" if step.where else named
    to = f" to {step.to}" if step.to else ""
    verb = "Set attributes of" if step.op == "set" else step.op.capitalize()
    return f"{verb} {named}{to}"


_OPERATIONS: Mapping[str, Callable[[_Site, Any], _Outcome]] = {
    "merge": _merge,
    "revert": _revert,
    "cherry_pick": _pick,
    "edit": _edit,
}


def _conflict(site: _Site, merged: Merged) -> MergeConflict:
    shown = [conflict_json(each) for each in merged.conflicts[:MAX_SHOWN_CONFLICTS]]
    named = ", ".join(sorted({each["path"] for each in shown[:3]}))
    more = f" and {merged.conflicts_total - 3} more" if merged.conflicts_total > 3 else ""
    return MergeConflict(
        f"Both sides changed {named}{more}.",
        head_seen=site.head.commit,
        conflicts=shown,
        conflicts_total=merged.conflicts_total,
    )


def _branch(dataset: Dataset, name: str) -> Branch:
    branch = Branch.objects.select_related("head").filter(dataset=dataset, name=name).first()
    if branch is None:
        raise RefNotFound(f"{dataset.name} has no branch {name}.")
    if branch.head is None:
        raise BranchEmpty(f"The branch {name} of {dataset.name} has no version yet.")
    return branch


def _site(dataset: Dataset, branch: str, head: Version, *, scratch: bool = False) -> _Site:
    versions = version_store(dataset.project)
    objects = ScratchStore(versions.store) if scratch else versions.store
    return _Site(dataset, branch, head, versions, objects)


def _store_commit(
    request: CommitRequest, site: _Site, outcome: _Outcome, root_digest: bytes
) -> str:
    kept = {name: site.head.provenance.get(name) for name in _PUSH_OPTIONS}
    parents = (site.head.commit, outcome.merges) if outcome.merges else (site.head.commit,)
    settled = {"conflicts_settled": outcome.merged.conflicts_total}
    commit = Commit(
        dataset=f"{request.dataset.project.slug}/{request.dataset.name}",
        root=root_digest,
        parents=tuple(bytes.fromhex(parent) for parent in parents),
        author=request.created_by.username if request.created_by else "",
        message=request.message or outcome.message,
        created_at=request.created_at,
        provenance={name: value for name, value in kept.items() if value is not None}
        | {"kind": request.operation, "operation": request.operation}
        | dict(outcome.provenance)
        | (settled if outcome.merged.conflicts_total else {}),
    )
    return write_commit(commit, site.objects).hex()
