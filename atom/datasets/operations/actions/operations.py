"""Merge, revert, cherry-pick and edit: commits made from versions that are there already.

An operation without an expected head works on the head that the branch has. When the branch moves
meanwhile, it is repeated on the new head. The head that it worked on is noted before the branch
moves, so a run that died makes the same commit again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import partial

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core.background import enqueue
from atom.datasets.browsing.engines.browse import Row
from atom.datasets.catalog.stores import version_store
from atom.datasets.commits.actions.branches import (
    check_not_staging,
    head_commit,
)
from atom.datasets.commits.actions.commit_progress import (
    CommitWatch,
    begin_move,
    give_up_move,
    note,
    notify,
)
from atom.datasets.commits.actions.commit_root import (
    CommitDetails,
    commit_root,
    retry_on_moved_head,
)
from atom.datasets.errors import BranchEmpty, HeadMoved, MergeConflict, RefNotFound
from atom.datasets.models import Branch, CommitRequest, Dataset, Version
from atom.datasets.operations.actions.outcomes import Outcome, outcome_of
from atom.datasets.operations.actions.sites import Site
from atom.datasets.operations.engines.operation_stages import stages_of
from atom.datasets.operations.engines.operations import (
    Arguments,
    ChangeCounts,
    ChangeExample,
    EditArguments,
    ScratchStore,
    conflict_json,
    count_changes,
    read_arguments,
    stored_arguments,
)
from atom.datasets.operations.engines.selections import entries_at
from atom.datasets.packs.corrupt_packs import root_to_build_on
from atom.datasets.sentences import branch_unknown
from atom_sdk.amounts import first_named
from atom_sdk.manifests.merge.merge import EMPTY_ROOT, Merged
from atom_sdk.manifests.merge.three_way import Conflict
from atom_sdk.manifests.roots.roots import Root, write_root
from atom_sdk.sentences import Sentence

_BUILD_TASK = "atom.datasets.tasks.build_commit"
MAX_SHOWN_CONFLICTS = 100
# The limit for each kind of change.
MAX_SHOWN_EXAMPLES = 5
# The next push to the branch takes these options over.
_PUSH_OPTIONS = ("labels_from", "unlabelled_prefixes", "split")


@dataclass(frozen=True)
class NewOperation:
    """An operation to carry out; without an expected head it takes the present head."""

    operation: str
    branch: str
    arguments: Arguments
    expected_head: str = ""
    message: str = ""


@dataclass(frozen=True)
class ShownConflict:
    """A conflict with the entries that the two sides have there, None for no file."""

    conflict: dict[str, str]
    ours: Row | None
    theirs: Row | None


@dataclass(frozen=True)
class Preview:
    """The effect of an operation on the head; unsettled conflicts are counted as ours.

    Neither `conflicts` nor `conflicts_total` has those that a resolution settles, `settled` counts
    these.
    """

    head: Version
    counts: ChangeCounts
    examples: list[ChangeExample]
    conflicts: list[ShownConflict]
    conflicts_total: int
    settled: int
    contained: bool


def request_operation(dataset: Dataset, new: NewOperation, user: User) -> CommitRequest:
    """Ask a worker for an operation.

    Raises RefNotFound, BranchEmpty, StagingBranchReserved.
    """
    check_not_staging(_branch(dataset, new.branch))
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
        notify(request, "pending")
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def preview_operation(dataset: Dataset, new: NewOperation) -> Preview:
    """Return what an operation would do, without a trace.

    Raises RefNotFound, BranchEmpty, HeadMoved and what the operation itself refuses.
    """
    head = _branch(dataset, new.branch).head
    if head is None or (new.expected_head and new.expected_head != head.commit):
        raise HeadMoved(
            Sentence("datasets.branch_moved", "{branch} has moved.", branch=new.branch),
            head=head.commit if head else "",
        )
    arguments = new.arguments
    if not isinstance(arguments, EditArguments) and arguments.on_conflict == "fail":
        arguments = replace(arguments, on_conflict="ours")
    site = _site(dataset, new.branch, head, scratch=True)
    outcome = outcome_of(site, new.operation, arguments)
    root = outcome.merged.root or site.root
    counts, examples = count_changes(site.root, root, site.objects, MAX_SHOWN_EXAMPLES)
    merged = outcome.merged
    return Preview(
        head,
        counts,
        examples,
        _shown(merged.conflicts[:MAX_SHOWN_CONFLICTS], site, outcome.theirs or EMPTY_ROOT),
        merged.conflicts_total,
        merged.settled,
        outcome.contained,
    )


def _shown(found: Sequence[Conflict], site: Site, theirs: Root) -> list[ShownConflict]:
    ours = entries_at(site.root, {each.other_path or each.path for each in found}, site.objects)
    others = entries_at(theirs, {each.path for each in found}, site.objects)
    return [
        ShownConflict(
            conflict_json(each), ours.get(each.other_path or each.path), others.get(each.path)
        )
        for each in found
    ]


def carry_out(request: CommitRequest) -> tuple[Version, bool]:
    """Return the version, and whether it is the head because there was nothing to do.

    Raises HeadMoved, MergeConflict, CommitCancelled and other CommitRefused, RefNotFound.
    """
    known = request.expected_head or request.built_on
    head = known or head_commit(_branch(request.dataset, request.branch))
    if request.expected_head:
        return _carry_out_on(request, head)
    return retry_on_moved_head(partial(_carry_out_on, request), head)


def _carry_out_on(request: CommitRequest, head_digest: str) -> tuple[Version, bool]:
    head = request.dataset.versions.filter(commit=head_digest).first()
    if head is None:
        present = head_commit(_branch(request.dataset, request.branch))
        raise HeadMoved(
            Sentence(
                "datasets.expected_head_unknown",
                "The expected head is not a commit of this dataset.",
            ),
            head=present,
        )
    note(request, built_on=head.commit)
    arguments = read_arguments(request.operation, request.arguments)
    watch = CommitWatch(request, stages_of(arguments))
    site = replace(_site(request.dataset, request.branch, head), watch=watch)
    outcome = outcome_of(site, request.operation, arguments)
    if outcome.merged.root is None:
        raise merge_conflict(site.head.commit, outcome.merged)
    digest = write_root(outcome.merged.root, site.objects)
    if outcome.contained or (digest.hex() == root_to_build_on(head) and not outcome.merges):
        return head, True
    try:
        version = commit_root(
            (request.dataset, request.branch),
            digest,
            [head.commit, outcome.merges] if outcome.merges else [head.commit],
            _details(request, site, outcome),
            site.objects,
            before_move=partial(begin_move, request),
        )
    except HeadMoved:
        give_up_move(request)
        raise
    return version, False


def merge_conflict(head: str, merged: Merged) -> MergeConflict:
    """Return the refusal of a merge into `head` (a commit in hex), with its first conflicts."""
    shown = [conflict_json(each) for each in merged.conflicts[:MAX_SHOWN_CONFLICTS]]
    paths = sorted({each["path"] for each in shown[:3]})
    others = merged.conflicts_total - len(shown[:3])
    named = first_named(paths, total=len(paths) + others)
    return MergeConflict(
        Sentence("datasets.both_sides_changed", "Both sides changed {paths}.", paths=named),
        head_seen=head,
        conflicts=shown,
        conflicts_total=merged.conflicts_total,
    )


def _branch(dataset: Dataset, name: str) -> Branch:
    branch = Branch.objects.select_related("head").filter(dataset=dataset, name=name).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, name))
    if branch.head is None:
        raise BranchEmpty(
            Sentence(
                "datasets.branch_has_no_version",
                "The branch {branch} of {dataset} has no version yet.",
                branch=name,
                dataset=dataset.name,
            )
        )
    return branch


def _site(dataset: Dataset, branch: str, head: Version, *, scratch: bool = False) -> Site:
    versions = version_store(dataset.project)
    objects = ScratchStore(versions.store) if scratch else versions.store
    return Site(dataset, branch, head, versions, objects)


def _details(request: CommitRequest, site: Site, outcome: Outcome) -> CommitDetails:
    kept = {name: site.head.provenance.get(name) for name in _PUSH_OPTIONS}
    settled = outcome.merged.conflicts_total + outcome.merged.settled
    provenance = (
        {name: value for name, value in kept.items() if value is not None}
        | {"kind": request.operation, "operation": request.operation}
        | dict(outcome.provenance)
        | ({"conflicts_settled": settled} if settled else {})
    )
    message = request.message or outcome.message
    return CommitDetails(request.created_by, message, request.created_at, provenance)
