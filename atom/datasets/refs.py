"""How people name versions: `v3`, a branch, a tag, or a commit's first 8 or more hex digits."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING
from uuid import UUID

from atom.datasets.errors import BranchEmpty, RefAmbiguous, RefNameTaken, RefNotFound
from atom_sdk.sentences import Sentence

if TYPE_CHECKING:
    from atom.datasets.models import Dataset, Version

_NUMBER = re.compile(r"v([1-9]\d{0,8})")
_COMMIT = re.compile(r"[0-9a-f]{8,64}")
STAGING_PREFIX = "staging."


def reads_like_version(name: str) -> bool:
    """Return whether a branch or tag of this name could be mistaken for a version."""
    return bool(_NUMBER.fullmatch(name) or _COMMIT.fullmatch(name))


def staging_name(writer_id: UUID) -> str:
    """Return the name of a writer's staging branch; nobody else can take such a name."""
    return f"{STAGING_PREFIX}{writer_id.hex}"


def check_ref_name(dataset: Dataset, name: str) -> None:
    """Raise RefNameTaken if the name is in use, or is kept for versions or staging branches."""
    taken = (
        reads_like_version(name)
        or name.startswith(STAGING_PREFIX)
        or dataset.branches.filter(name=name).exists()
        or dataset.tags.filter(name=name).exists()
    )
    if taken:
        raise RefNameTaken(
            Sentence(
                "datasets.branch_name_taken",
                "{branch} is taken, or kept for versions and staging branches.",
                branch=name,
            )
        )


def resolve_ref(dataset: Dataset, ref: str) -> Version:
    """Return the version that `ref` names. Raises RefNotFound, BranchEmpty or RefAmbiguous."""
    versions = dataset.versions.select_related("dataset", "author")
    if match := _NUMBER.fullmatch(ref):
        found = versions.filter(number=int(match[1])).first()
    elif _COMMIT.fullmatch(ref):
        found = _by_commit(dataset, ref)
    else:
        found = _by_name(dataset, ref)
    if found is None:
        raise RefNotFound(
            Sentence(
                "datasets.version_unknown",
                "{dataset} has no version {version}.",
                dataset=dataset.name,
                version=ref,
            )
        )
    return found


def _by_commit(dataset: Dataset, prefix: str) -> Version | None:
    versions = dataset.versions.select_related("dataset", "author")
    found = list(versions.filter(commit__startswith=prefix)[:2])
    if len(found) > 1:
        raise RefAmbiguous(
            Sentence(
                "datasets.commit_prefix_ambiguous",
                "Several commits of {dataset} begin with {prefix}.",
                dataset=dataset.name,
                prefix=prefix,
            )
        )
    return found[0] if found else None


def _by_name(dataset: Dataset, name: str) -> Version | None:
    branch = dataset.branches.filter(name=name).select_related("head__dataset", "head__author")
    tag = dataset.tags.filter(name=name).select_related("version__dataset", "version__author")
    if (row := branch.first()) is not None:
        if row.head is None:
            raise BranchEmpty(
                Sentence(
                    "datasets.branch_has_no_version",
                    "The branch {branch} of {dataset} has no version yet.",
                    branch=name,
                    dataset=dataset.name,
                )
            )
        return row.head
    return found.version if (found := tag.first()) is not None else None
