"""Labels from class folders for files that a version has already: nothing is sent again."""

from __future__ import annotations

from typing import Any

from atom.accounts.models import User
from atom.datasets.commits.actions.commits import NewCommit, request_commit
from atom.datasets.errors import BranchEmpty, RefNotFound
from atom.datasets.models import CommitRequest, Dataset
from atom.datasets.sentences import branch_unknown
from atom_sdk.sentences import Sentence

MESSAGE = "Labels from folder names"


def request_folder_labels(dataset: Dataset, branch: str, message: str, user: User) -> CommitRequest:
    """Ask a worker for a version of the branch's head whose class folders label every file.

    Labels that people gave stay. Raises RefNotFound, BranchEmpty, StagingBranchReserved.
    """
    row = dataset.branches.select_related("head").filter(name=branch).first()
    if row is None:
        raise RefNotFound(branch_unknown(dataset.name, branch))
    if row.head is None:
        raise BranchEmpty(
            Sentence(
                "datasets.no_version_on_branch",
                "{dataset} has no version on {branch} yet.",
                dataset=dataset.name,
                branch=branch,
            )
        )
    left_out = list(row.head.provenance.get("unlabelled_prefixes") or [])
    # Later pushes go on with these options.
    pushed: dict[str, Any] = {"labels_from": "folder", "unlabelled_prefixes": left_out}
    split = row.head.provenance.get("split")
    provenance = {"kind": "folder_labels", **pushed} | ({"split": split} if split else {})
    new = NewCommit(branch, row.head.commit, message or MESSAGE, provenance=provenance, **pushed)
    return request_commit(dataset, new, None, user)
