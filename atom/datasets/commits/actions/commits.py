"""Requests of pushes and splits, and what is built of them: entries → root → commit → branch."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from functools import partial
from pathlib import Path
from typing import Any

from django.db import transaction

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import storage
from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.core.storage import ObjectMissing
from atom.datasets.catalog.stores import VersionStore, version_store
from atom.datasets.commits.actions.branches import (
    check_not_staging,
    head_commit,
)
from atom.datasets.commits.actions.commit_progress import CommitWatch, begin_move, note, notify
from atom.datasets.commits.actions.commit_root import CommitDetails, commit_root
from atom.datasets.commits.actions.repair import repair_with, repaired_meanwhile
from atom.datasets.commits.engines.progress_tracker import SPLIT_STAGES
from atom.datasets.commits.splits import drawn_by, split_refusals
from atom.datasets.errors import (
    BranchEmpty,
    ChangesUnreadable,
    EmptyCommit,
    HeadMoved,
    PathTaken,
    RefNotFound,
    UploadIncomplete,
)
from atom.datasets.models import Branch, CommitRequest, Dataset, Upload, Version
from atom.datasets.packs.actions.verification import verify_upload
from atom.datasets.packs.pack_checks import PacksOnTheWay, check_all_puts
from atom.datasets.packs.pipelines import read_staged_changes
from atom.datasets.sentences import branch_unknown, file_and_folder
from atom.datasets.versions.engines.changes import ChangesError, ChangesFile
from atom.datasets.versions.engines.path_conflicts import path_conflict
from atom.datasets.versions.engines.spilled import tables_of
from atom.datasets.versions.engines.version_plan import VersionPlan
from atom.datasets.versions.engines.versions import build_version
from atom_sdk.errors import EmptyDatasetError, LayerKindError
from atom_sdk.manifests.entries import entries_table
from atom_sdk.manifests.progress import UNWATCHED
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.manifests.splits.requests import SplitRequest
from atom_sdk.sentences import Sentence

_UNLABELLED = "unlabelled_prefixes"
_BUILD_TASK = "atom.datasets.tasks.build_commit"


@dataclass(frozen=True)
class NewCommit:
    """A commit that a client asks for; `split` is {test, val, seed, stratify}."""

    branch: str
    expected_head: str
    message: str
    split: dict[str, Any] | None = None
    labels_from: str = ""
    unlabelled_prefixes: list[str] = field(default_factory=list)
    provenance: dict[str, Any] = field(default_factory=dict)


def request_split(
    dataset: Dataset, branch: str, message: str, split: dict[str, Any], user: User
) -> CommitRequest:
    """Ask a worker for a version of the branch's head with another split, and the same bytes.

    Raises RefNotFound, BranchEmpty.
    """
    found = dataset.branches.select_related("head").filter(name=branch).first()
    if found is None:
        raise RefNotFound(branch_unknown(dataset.name, branch))
    if found.head is None:
        raise BranchEmpty(
            Sentence(
                "datasets.no_version_on_branch",
                "{dataset} has no version on {branch} yet.",
                dataset=dataset.name,
                branch=branch,
            )
        )
    # Later pushes go on from what the last one said.
    pushed = {name: found.head.provenance.get(name) for name in ("labels_from", _UNLABELLED)}
    provenance = {"kind": "split", **pushed, "split": split}
    new = NewCommit(branch, found.head.commit, message, split=split, provenance=provenance)
    return request_commit(dataset, new, None, user)


def request_commit(
    dataset: Dataset, new: NewCommit, changes: Upload | None, user: User
) -> CommitRequest:
    """Ask a worker for a commit; without changes it has the same files and another split.

    Raises RefNotFound, UploadIncomplete, StagingBranchReserved.
    """
    branch = dataset.branches.filter(name=new.branch).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, new.branch))
    check_not_staging(branch)
    if changes is not None and changes.state not in {"uploaded", "verifying", "verified"}:
        raise UploadIncomplete(
            Sentence(
                "datasets.changes_file_not_ready",
                "The changes file is {state}.",
                state=changes.state,
            ),
            state=changes.state,
        )
    with transaction.atomic():
        request = CommitRequest.objects.create(
            dataset=dataset, changes_upload=changes, created_by=user, **vars(new)
        )
        named = {"dataset": dataset.name, "branch": new.branch}
        audit.record(user, "commit.requested", request, dataset.project, **named)
        notify(request, "pending")
        enqueue(_BUILD_TASK, str(request.pk))
    return request


def build_push(request: CommitRequest) -> tuple[Version, bool]:
    """Return the version, and whether it is the parent because nothing changed."""
    with tempfile.TemporaryDirectory(prefix="atom-changes-") as scratch:
        return _build_in(request, Path(scratch))


def _build_in(request: CommitRequest, scratch: Path) -> tuple[Version, bool]:
    parent = _parent(request)
    changes = _read_changes(request, scratch)
    note(request, progress=0.2)
    is_empty = not len(changes.puts) and (parent is None or not changes.deletes)
    if is_empty and not (parent is not None and (request.labels_from or request.split)):
        return _nothing_to_do(parent)
    checked = check_all_puts(request.dataset.project, changes.puts, scratch)
    note(request, progress=0.6)
    # Before anything is built upon it: what was sent again lies elsewhere from now on.
    if repair_with(request.dataset.project, checked) and parent is not None:
        parent.refresh_from_db(fields=["layout", "is_repacked"])
    store = version_store(request.dataset.project)
    root = _build_root(request, replace(changes, puts=checked), parent, store)
    while parent is not None and repaired_meanwhile(parent):
        root = _build_root(request, replace(changes, puts=checked), parent, store)
    if parent is not None and root.says_the_same(store.root(parent.readable_root)):
        return parent, True
    reach("commit.objects_written")
    version = commit_root(
        (request.dataset, request.branch),
        root,
        [parent.commit] if parent else [],
        CommitDetails(request.created_by, request.message, request.created_at, request.provenance),
        store.store,
        before_move=partial(begin_move, request),
    )
    return version, False


def _parent(request: CommitRequest) -> Version | None:
    """Return the version that the client built on; whether it still is the head, the move says."""
    if not request.expected_head:
        return None
    parent = request.dataset.versions.filter(commit=request.expected_head).first()
    if parent is None:
        branches = Branch.objects.select_related("head").filter(dataset=request.dataset)
        branch = branches.filter(name=request.branch).first()
        if branch is None:
            raise RefNotFound(branch_unknown(request.dataset.name, request.branch))
        head = head_commit(branch)
        raise HeadMoved(
            Sentence(
                "datasets.expected_head_unknown",
                "The expected head is not a commit of this dataset.",
            ),
            head=head,
        )
    return parent


def _read_changes(request: CommitRequest, scratch: Path) -> ChangesFile:
    upload = request.changes_upload
    if upload is None:
        return ChangesFile(entries_table([]), frozenset())
    if upload.state != "verified":
        upload = verify_upload(upload.pk)
    if upload.state in {"uploaded", "verifying"}:
        raise PacksOnTheWay
    if upload.state != "verified":
        raise ChangesUnreadable(
            Sentence(
                "datasets.changes_file_refused",
                "The changes file is {state}: {reason}",
                state=upload.state,
                reason=upload.error_detail,
            )
        )
    try:
        return read_staged_changes(storage.objects(), upload.key, scratch)
    except ObjectMissing as exc:
        # Staging was cleared of it: it was sent long ago, and no commit asked for it.
        raise ChangesUnreadable(
            Sentence("datasets.changes_file_gone", "The changes file is no longer there.")
        ) from exc
    except ChangesError as exc:
        raise ChangesUnreadable(str(exc)) from exc


def _nothing_to_do(parent: Version | None) -> tuple[Version, bool]:
    if parent is None:
        raise EmptyCommit
    return parent, True


def _build_root(
    request: CommitRequest, changes: ChangesFile, parent: Version | None, store: VersionStore
) -> Root:
    # The client itself knows the progress of its push.
    is_split = request.changes_upload is None
    plan = VersionPlan(
        changes=changes,
        labels_from_folders=request.labels_from == "folder",
        relabels=parent is not None and _labels_otherwise(request, changes, parent),
        unlabelled_prefixes=tuple(request.unlabelled_prefixes),
        split=_split_of(request.split),
        previous_split=drawn_by(parent) if parent else None,
        watch=CommitWatch(request, SPLIT_STAGES) if is_split else UNWATCHED,
    )
    before = store.root(parent.readable_root) if parent else None
    try:
        with split_refusals():
            root = build_version(before, plan, store.store)
    except EmptyDatasetError as exc:
        raise EmptyCommit from exc
    except LayerKindError as exc:
        raise ChangesUnreadable(str(exc)) from exc
    # A writer may yet remove what is in the way: of what it staged, its commit is looked at.
    if request.writer_id is None:
        put = (table["path"].combine_chunks() for table in tables_of(changes.puts) if len(table))
        if both := path_conflict(root, put, store.store, before):
            raise PathTaken(file_and_folder(both))
    return root


def _labels_otherwise(request: CommitRequest, changes: ChangesFile, parent: Version) -> bool:
    """Return whether files that the parent has may get other labels than it gave them."""
    before = parent.provenance.get("labels_from"), parent.provenance.get("unlabelled_prefixes")
    is_same = before == (request.labels_from, request.unlabelled_prefixes)
    return not is_same or not (len(changes.puts) or changes.deletes)


def _split_of(split: Mapping[str, Any] | None) -> SplitRequest | None:
    """Read what the API has checked."""
    return None if split is None else SplitRequest.from_json(split)
