"""The versions of a branch, and the branch of a version."""

from __future__ import annotations

from django.db.models import QuerySet

from atom.datasets.catalog.engines.ancestry import ancestors
from atom.datasets.errors import RefNotFound
from atom.datasets.models import Dataset, Version
from atom.datasets.sentences import branch_unknown

_MAIN = "main"
_STAGING = "staging."


def history(dataset: Dataset, branch_name: str) -> QuerySet[Version]:
    """Return the versions of a branch, in no order. Raises RefNotFound."""
    versions = dataset.versions.select_related("author")
    if branch_name == _MAIN:
        return versions.filter(number__isnull=False)
    branch = dataset.branches.select_related("head").filter(name=branch_name).first()
    if branch is None:
        raise RefNotFound(branch_unknown(dataset.name, branch_name))
    head = branch.head.commit if branch.head else ""
    return versions.filter(commit__in=ancestors(parents_of(dataset), head))


def parents_of(dataset: Dataset) -> dict[str, list[str]]:
    """Return the parents of every commit of a dataset."""
    return dict(dataset.versions.values_list("commit", "parents"))


def branch_of(version: Version) -> str:
    """Return the branch whose head the version is, else one that goes on from it, else main."""
    branches = version.dataset.branches.exclude(name__startswith=_STAGING)
    heads = {one.name: one.head for one in branches.select_related("head") if one.head}
    names = [name for name, head in heads.items() if head.pk == version.pk]
    if not names and version.number is None:
        parents = parents_of(version.dataset)
        names = [name for name, head in heads.items() if _leads_to(parents, head, version)]
    return _MAIN if _MAIN in names or not names else min(names)


def _leads_to(parents: dict[str, list[str]], head: Version, version: Version) -> bool:
    return version.commit in ancestors(parents, head.commit)
