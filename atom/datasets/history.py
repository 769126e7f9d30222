"""The versions of a branch: its head and everything that the head came from."""

from __future__ import annotations

from django.db.models import QuerySet

from atom.datasets.engines.ancestry import ancestors
from atom.datasets.errors import RefNotFound
from atom.datasets.models import Dataset, Version

_MAIN = "main"


def history(dataset: Dataset, branch_name: str) -> QuerySet[Version]:
    """Return the versions of a branch, in no order. Raises RefNotFound."""
    versions = dataset.versions.select_related("author")
    if branch_name == _MAIN:
        return versions.filter(number__isnull=False)
    branch = dataset.branches.select_related("head").filter(name=branch_name).first()
    if branch is None:
        raise RefNotFound(f"{dataset.name} has no branch {branch_name}.")
    head = branch.head.commit if branch.head else ""
    return versions.filter(commit__in=ancestors(parents_of(dataset), head))


def parents_of(dataset: Dataset) -> dict[str, list[str]]:
    """Return the parents of every commit of a dataset."""
    return dict(dataset.versions.values_list("commit", "parents"))
