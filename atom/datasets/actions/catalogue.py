"""Datasets, branches, tags and pins."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.datasets import catalogue_log, ref_log
from atom.datasets.errors import DatasetNameTaken, RefNameTaken
from atom.datasets.models import Branch, Dataset, Tag, Version, VersionPin
from atom.datasets.reads import require_kept
from atom.datasets.refs import reads_like_version


def create_dataset(project: Project, name: str, description: str, user: User) -> Dataset:
    """Add a dataset with an empty branch `main`. Raises DatasetNameTaken."""
    try:
        with transaction.atomic():
            dataset = Dataset.objects.create(
                project=project, name=name, description=description, created_by=user
            )
            branch = Branch.objects.create(dataset=dataset, name="main")
            ref_log.write_beginning(branch)
            catalogue_log.write_dataset(dataset)
            audit.record(user, "dataset.created", dataset, project, name=name)
    except IntegrityError as exc:
        raise DatasetNameTaken(f"{project.slug} already has a dataset {name}.") from exc
    return dataset


def create_branch(dataset: Dataset, name: str, at: Version, user: User) -> Branch:
    """Add a branch that begins at a version. Raises RefNameTaken or VersionExpired."""
    require_kept(at)
    _check_ref_name(dataset, name)
    try:
        with transaction.atomic():
            branch = Branch.objects.create(dataset=dataset, name=name, head=at)
            ref_log.write_beginning(branch)
            audit.record(
                user, "branch.created", branch, dataset.project,
                dataset=dataset.name, name=name, at=at.commit,
            )  # fmt: skip
    except IntegrityError as exc:
        raise RefNameTaken from exc
    return branch


def create_tag(dataset: Dataset, name: str, at: Version, user: User) -> Tag:
    """Give a version a name that never moves. Raises RefNameTaken or VersionExpired."""
    require_kept(at)
    _check_ref_name(dataset, name)
    try:
        with transaction.atomic():
            tag = Tag.objects.create(dataset=dataset, name=name, version=at)
            catalogue_log.write_tag(tag)
            audit.record(
                user, "tag.created", tag, dataset.project,
                dataset=dataset.name, name=name, at=at.commit,
            )  # fmt: skip
    except IntegrityError as exc:
        raise RefNameTaken from exc
    return tag


def _check_ref_name(dataset: Dataset, name: str) -> None:
    taken = (
        reads_like_version(name)
        or dataset.branches.filter(name=name).exists()
        or dataset.tags.filter(name=name).exists()
    )
    if taken:
        raise RefNameTaken(f"{name} is taken or reads like a version.")


def pin(version: Version, holder_type: str, holder_id: str) -> None:
    """Keep a version while its holder needs it. Repeatable. Raises VersionExpired."""
    require_kept(version)
    VersionPin.objects.get_or_create(version=version, holder_type=holder_type, holder_id=holder_id)


def unpin(holder_type: str, holder_id: str) -> None:
    """Give up every pin of a holder. Repeatable."""
    VersionPin.objects.filter(holder_type=holder_type, holder_id=holder_id).delete()
