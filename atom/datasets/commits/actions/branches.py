"""Moving a branch: one row lock, the expected head, and a ref-log entry before the row commits.

A worker that dies between the entry and the row leaves a dangling entry. Whoever holds the lock
next settles it by one rule: it is adopted if it continues the present head and its commit reads
whole; else it is void.
"""

from __future__ import annotations

from dataclasses import asdict, dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog
from django.db import IntegrityError, transaction
from django.db.models import Max
from django.db.models.functions import Now

from atom.accounts import audit
from atom.accounts.models import User
from atom.core import live, outbox
from atom.core.crash_points import reach
from atom.datasets.catalog import ref_log
from atom.datasets.catalog.actions.version_locks import lock_kept
from atom.datasets.catalog.ref_log import RefMove
from atom.datasets.catalog.stores import version_store
from atom.datasets.commits.actions.compaction import compact_soon
from atom.datasets.errors import (
    BranchMoved,
    BranchProtected,
    HeadMoved,
    RefNameTaken,
    RefNotFound,
    StagingBranchReserved,
)
from atom.datasets.models import Branch, Dataset, Version
from atom.datasets.refs import STAGING_PREFIX, check_ref_name
from atom.datasets.sentences import branch_unknown
from atom.datasets.versions.engines.change_counts import VersionChanges, count_version_changes
from atom.datasets.versions.engines.versions import layer_json
from atom_sdk.errors import AtomError as SdkError
from atom_sdk.manifests.commits import read_commit
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)

MAIN = "main"


@dataclass(frozen=True)
class BranchMove:
    """Move `branch` from `expected_head` to `commit` (hex; "" for no commit yet)."""

    dataset: Dataset
    branch: str
    expected_head: str
    commit: str


def move_branch(move: BranchMove) -> Version:
    """Make a stored commit the head and return its version; done already is fine.

    Raises HeadMoved(head=…) when the branch is elsewhere, RefNotFound without such a branch.
    """
    with transaction.atomic():
        branch = _lock(move.dataset, move.branch)
        _settle(branch)
        version = move.dataset.versions.filter(commit=move.commit).first()
        present = head_commit(branch)
        if version is None and present == move.expected_head:
            version = _advance(branch, move.commit)
    if version is None:
        # After the block: what was settled must stand.
        raise HeadMoved(
            Sentence(
                "datasets.branch_is_at",
                "{branch} is at {head}.",
                branch=move.branch,
                head=present or "no commit",
            ),
            head=present,
        )
    return version


def settle_branch(dataset: Dataset, name: str) -> None:
    """Adopt or void a ref-log entry that a dead worker left."""
    with transaction.atomic():
        _settle(_lock(dataset, name))


def create_branch(dataset: Dataset, name: str, at: Version, user: User) -> Branch:
    """Add a branch that begins at a version. Raises RefNameTaken or VersionExpired."""
    check_ref_name(dataset, name)
    seq = ref_log.last_seq(dataset, name) + 1
    try:
        with transaction.atomic():
            lock_kept(at)
            branch = Branch.objects.create(dataset=dataset, name=name, head=at, seq=seq)
            ref_log.write_beginning(branch, user.username)
            audit.record(
                user, "branch.created", branch, dataset.project, dataset,
                dataset=dataset.name, name=name, at=at.commit,
            )  # fmt: skip
            _notify(branch)
    except IntegrityError as exc:
        raise RefNameTaken from exc
    return branch


def delete_branch(dataset: Dataset, name: str, expected_head: str, user: User) -> None:
    """Remove a branch that is still at `expected_head`; its versions stay.

    Raises RefNotFound, BranchProtected, BranchMoved, StagingBranchReserved.
    """
    if name == MAIN:
        raise BranchProtected
    settle_branch(dataset, name)
    with transaction.atomic():
        branch = _lock(dataset, name)
        check_not_staging(branch)
        head = head_commit(branch)
        if head != expected_head:
            raise BranchMoved(
                Sentence(
                    "datasets.branch_is_at",
                    "{branch} is at {head}.",
                    branch=name,
                    head=head or "no commit",
                ),
                head=head,
            )
        ref_log.write_end(branch, head, user.username)
        audit.record(
            user, "branch.deleted", branch, dataset.project, dataset,
            dataset=dataset.name, name=name, at=head,
        )  # fmt: skip
        _notify(branch)
        branch.delete()


def check_not_staging(branch: Branch) -> None:
    """Raise StagingBranchReserved for the staging branch of a writer that has not ended."""
    if hasattr(branch, "writer"):
        raise StagingBranchReserved(
            Sentence(
                "datasets.branch_belongs_to_writer",
                "{branch} belongs to the writer {writer}.",
                branch=branch.name,
                writer=branch.writer.pk,
            )
        )


def head_commit(branch: Branch) -> str:
    """Return the digest of the branch's head, "" if it has none."""
    return branch.head.commit if branch.head else ""


def _lock(dataset: Dataset, name: str) -> Branch:
    # Lock first, read after: a row that waited for its lock is new, but what was joined to it in
    # the same query would still be from before the wait.
    locked = Branch.objects.select_for_update().filter(dataset=dataset, name=name).first()
    if locked is None:
        raise RefNotFound(branch_unknown(dataset.name, name))
    return Branch.objects.select_related("head__author", "dataset__project").get(pk=locked.pk)


def _settle(branch: Branch) -> None:
    move = ref_log.read_move(branch, branch.seq + 1)
    if move is None:
        return
    if move.old == head_commit(branch) and _reads_whole(branch, move.new):
        version = branch.dataset.versions.filter(commit=move.new).first()
        _point(branch, version or _record(branch, move.new, move), move.seq)
        log.warning("ref_move_adopted", branch=branch.name, commit=move.new, seq=move.seq)
        return
    ref_log.void_move(branch, move)
    log.warning("ref_move_voided", branch=branch.name, commit=move.new, seq=move.seq)


def _reads_whole(branch: Branch, commit: str) -> bool:
    store = version_store(branch.dataset.project)
    try:
        store.root(read_commit(bytes.fromhex(commit), store.store).root.hex())
    except SdkError:
        return False
    return True


def _advance(branch: Branch, commit: str) -> Version:
    version = _record(branch, commit)
    entry = RefMove(
        seq=branch.seq + 1,
        old=head_commit(branch),
        new=commit,
        number=version.number,
        author=version.author.username if version.author else "",
        at=version.created_at.isoformat(),
        version=str(version.pk),
        added=version.added,
        removed=version.removed,
        changed=version.changed,
        labels_changed=version.labels_changed,
    )
    reach("branch.recorded")
    ref_log.write_move(branch, entry)
    reach("branch.logged")
    _point(branch, version, entry.seq)
    return version


def _point(branch: Branch, version: Version, seq: int) -> None:
    branch.head, branch.seq = version, seq
    branch.save(update_fields=["head", "seq", "updated_at"])
    # A push to the branch need not wait for an abandoned load.
    Dataset.objects.filter(pk=branch.dataset_id).update(updated_at=Now(), loading="")
    _notify(branch, version=str(version.pk))
    # Staged versions are not announced before the writer commits them.
    if not branch.name.startswith(STAGING_PREFIX):
        outbox.emit(
            branch.dataset.project_id,
            "version.committed",
            dataset=branch.dataset.name,
            branch=branch.name,
            version=version.ref,
            commit=version.commit,
            files=version.file_count,
            links=version.link_count,
            message=version.message,
        )


def _notify(branch: Branch, **said: str) -> None:
    event = {"type": "dataset", "id": str(branch.dataset_id), "branch": branch.name, **said}
    live.publish(f"project.{branch.dataset.project_id}", event)


def _record(branch: Branch, commit_digest: str, move: RefMove | None = None) -> Version:
    """Add the row of a stored commit; everything in it comes from the bucket.

    With a `move` that was logged already, the row is the one that it names.
    """
    dataset = branch.dataset
    store = version_store(dataset.project)
    commit = read_commit(bytes.fromhex(commit_digest), store.store)
    root = store.root(commit.root.hex())
    parents = [parent.hex() for parent in commit.parents]
    changes = count_changes(dataset, parents, root)
    if move is not None:
        # An older Atom logged it without that number.
        changes = replace(changes, labels_changed=move.labels_changed)
    is_loaded = move is not None and move.loaded
    version = Version(
        dataset=dataset,
        number=_next_number(branch),
        commit=commit_digest,
        root=commit.root.hex(),
        content_digest=root.content.hex(),
        parents=parents,
        file_count=root.files,
        link_count=root.links,
        size_bytes=root.size_bytes,
        **asdict(changes),
        message=commit.message,
        author=None if is_loaded else User.objects.filter(username=commit.author).first(),
        author_name=commit.author if is_loaded else "",
        provenance=dict(commit.provenance),
        layers=[layer_json(layer) for layer in root.layers],
    )
    if move is not None and move.version:
        version.pk = UUID(move.version)
    version.save(force_insert=True)
    compact_soon(version, root)
    if move is not None and move.version:
        version.created_at = datetime.fromisoformat(move.at)
        version.save(update_fields=["created_at"])
    return version


def _next_number(branch: Branch) -> int | None:
    if branch.name != MAIN:
        return None
    # The lock on the row of `main` makes this safe: numbers are given to its commits only.
    last = branch.dataset.versions.aggregate(last=Max("number"))["last"]
    return (last or 0) + 1


def count_changes(dataset: Dataset, parents: list[str], root: Root) -> VersionChanges:
    """Return how many files a root adds to, removes from and changes in its first parent."""
    parent = dataset.versions.filter(commit=parents[0]).first() if parents else None
    if parent is None:
        return VersionChanges(added=root.count, labels_changed=0)
    store = version_store(dataset.project)
    diff = diff_roots(store.root(parent.readable_root), root, store.store)
    return count_version_changes(diff)
