"""Makes a root the next commit of a branch: pushes, writers, operations, scans and layers do."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Any, TypeVar

from atom.accounts.models import User
from atom.core.crash_points import reach
from atom.datasets.commits.actions.branches import BranchMove, move_branch
from atom.datasets.errors import HeadMoved
from atom.datasets.models import Dataset, Version
from atom_sdk.manifests.commits import Commit, write_commit
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root, write_root

# A branch that moves so often while something is built on it is too busy for a retry.
_ATTEMPTS = 5
Made = TypeVar("Made")


@dataclass(frozen=True, slots=True)
class CommitDetails:
    """The words of a commit: who made it, why, when and from what."""

    author: User | None
    message: str
    created_at: datetime
    provenance: Mapping[str, Any]


def commit_root(
    target: tuple[Dataset, str],
    root: Root | bytes,
    parents: Sequence[str],
    details: CommitDetails,
    objects: ObjectStore,
    *,
    before_move: Callable[[], None] | None = None,
) -> Version:
    """Store a commit of `root` and make it the head of the branch; return its version.

    `target` is a dataset and the name of its branch. `root` is a root, or the digest of a stored
    one. `parents` are digests in hex: first the head that the branch must still have, none for its
    first commit. `before_move` is called when the commit is stored and no branch names it yet.
    Raises HeadMoved(head=…) when the branch is elsewhere, RefNotFound without such a branch.
    """
    dataset, branch = target
    commit = Commit(
        dataset=f"{dataset.project.slug}/{dataset.name}",
        root=root if isinstance(root, bytes) else write_root(root, objects),
        parents=tuple(bytes.fromhex(parent) for parent in parents),
        author=details.author.username if details.author else "",
        message=details.message,
        created_at=details.created_at,
        provenance=dict(details.provenance),
    )
    digest = write_commit(commit, objects).hex()
    reach("commit.stored")
    if before_move is not None:
        before_move()
    return move_branch(BranchMove(dataset, branch, parents[0] if parents else "", digest))


def retry_on_moved_head(build: Callable[[str], Made], head: str = "") -> Made:
    """Call `build` with a head (a commit in hex), and again with the new one when that moved.

    Raises HeadMoved when the branch moves each time, and whatever `build` raises.
    """
    for _ in range(_ATTEMPTS - 1):
        try:
            return build(head)
        except HeadMoved as moved:
            head = str(moved.extra["head"])
    return build(head)
