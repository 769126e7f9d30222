"""The version of a writer or of a whole job: what is staged, merged into the target's head.

One commit with one parent, so that the history shows what was written and not how. Like every
operation it is built again on a new head when the branch moves, and notes what it was built on, so
that a run that died makes the same commit again.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial
from typing import Any

from atom.datasets.catalog.stores import VersionStore, version_store
from atom.datasets.commits.actions.branches import head_commit
from atom.datasets.commits.actions.commit_root import (
    CommitDetails,
    commit_root,
    retry_on_moved_head,
)
from atom.datasets.errors import EmptyCommit, PathTaken, RefNotFound
from atom.datasets.models import Branch, CommitRequest, Dataset, Version, Writer
from atom.datasets.operations.actions.operations import merge_conflict
from atom.datasets.operations.actions.outcomes import not_in_conflict
from atom.datasets.operations.engines.operations import read_write
from atom.datasets.packs.corrupt_packs import root_to_build_on
from atom.datasets.sentences import branch_unknown, file_and_folder
from atom.datasets.versions.engines.path_conflicts import path_conflict
from atom_sdk.amounts import counted
from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.merge.merge import EMPTY_ROOT, Merged, MergePlan, merge_roots
from atom_sdk.manifests.roots.roots import Root

# The next push to the branch takes these options over.
_PUSH_OPTIONS = ("labels_from", "unlabelled_prefixes", "split")


def build_write(request: CommitRequest) -> tuple[Version, bool]:
    """Return the version, and whether it is the head because nothing was written.

    Raises HeadMoved, MergeConflict, NotInConflict, PathTaken, EmptyCommit, RefNotFound.
    """
    # With progress, an earlier run has noted its head; "" is a branch without versions.
    head = request.built_on if request.progress else _present_head(request)
    return retry_on_moved_head(partial(_write_on, request), head)


def _write_on(request: CommitRequest, head_digest: str) -> tuple[Version, bool]:
    dataset = request.dataset
    head = dataset.versions.filter(commit=head_digest).first() if head_digest else None
    working = CommitRequest.objects.filter(pk=request.pk, state="building")
    working.update(built_on=head_digest, progress=0.2)
    store = version_store(dataset.project)
    before = store.root(root_to_build_on(head)) if head else EMPTY_ROOT
    try:
        root, settled = _merge_all(request, before, head_digest, store)
    except EmptyDatasetError as exc:
        raise EmptyCommit from exc
    if root.says_the_same(before):
        if head is None:
            raise EmptyCommit
        return head, True
    working.update(progress=0.8)
    diff = diff_roots(before, root, store.store)
    added = diff.added_paths.sort()
    if both := path_conflict(root, [added], store.store):
        raise PathTaken(file_and_folder(both))
    written = len(added) + len(diff.changed_paths)
    did, files = ("Write", written) if written else ("Remove", len(diff.removed_paths))
    details = CommitDetails(
        request.created_by,
        request.message or f"{did} {counted(files, 'file')}",
        request.created_at,
        _provenance(request, head, _provenance_of(request, settled)),
    )
    parents = [head.commit] if head else []
    return commit_root((dataset, request.branch), root, parents, details, store.store), False


def _merge_all(
    request: CommitRequest, root: Root, head: str, store: VersionStore
) -> tuple[Root, int]:
    """Return the target's root with everything that counts, and how many conflicts were settled."""
    arguments = read_write(request.arguments)
    plan = MergePlan(arguments.on_conflict, arguments.resolutions)
    settled, idle = 0, set(arguments.resolutions)
    for base, staged in _staged(request, store):
        if root.says_the_same(base):
            root = staged
            continue
        merged: Merged = merge_roots(base, root, staged, store.store, plan)
        if merged.root is None:
            raise merge_conflict(head, merged)
        root, settled = merged.root, settled + merged.conflicts_total + merged.settled
        idle &= set(merged.idle)
    if idle:
        raise not_in_conflict([each for each in arguments.resolutions if each in idle])
    return root, settled


def _staged(request: CommitRequest, store: VersionStore) -> Iterator[tuple[Root, Root]]:
    """Yield what each writer that counts began with and what it staged."""
    for writer in _counted(request):
        head = writer.branch.head if writer.branch else None
        if head is None or head.pk == writer.base_id:
            continue
        base = store.root(root_to_build_on(writer.base)) if writer.base else EMPTY_ROOT
        yield base, store.root(root_to_build_on(head))


def _counted(request: CommitRequest) -> list[Writer]:
    writers = Writer.objects.select_related("branch__head", "base")
    if request.write_job_id is not None:
        counted = writers.filter(counted_as__job=request.write_job_id)
        return list(counted.order_by("task"))
    return list(writers.filter(requests=request))


def _provenance_of(request: CommitRequest, settled: int) -> dict[str, Any]:
    """Return what the commit says of where it came from."""
    said: dict[str, Any] = {"kind": "write", "operation": "write"}
    if settled:
        said["conflicts_settled"] = settled
    if request.write_job is not None:
        tasks = request.write_job.tasks.count()
        return {**said, "write_job": request.write_job.name, "tasks": tasks}
    return {**said, "writer": str(request.writer_id)}


def _provenance(
    request: CommitRequest, head: Version | None, written: dict[str, Any]
) -> dict[str, Any]:
    kept = {name: head.provenance.get(name) for name in _PUSH_OPTIONS} if head else {}
    known = {name: value for name, value in kept.items() if value is not None}
    return _client_provenance(request) | known | written


def _client_provenance(request: CommitRequest) -> dict[str, Any]:
    """Return what the client says of where the files come from."""
    source = request.write_job or request.writer
    said = source.provenance if source else {}
    return {name: value for name, value in said.items() if name not in _PUSH_OPTIONS}


def _present_head(request: CommitRequest) -> str:
    return head_commit(_target(request.dataset, request.branch))


def _target(dataset: Dataset, name: str) -> Branch:
    found = Branch.objects.select_related("head").filter(dataset=dataset, name=name).first()
    if found is None:
        raise RefNotFound(branch_unknown(dataset.name, name))
    return found
