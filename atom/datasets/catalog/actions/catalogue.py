"""Datasets, branches, tags and pins."""

from __future__ import annotations

from django.db import IntegrityError, transaction

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.datasets.catalog import catalogue_log, ref_log
from atom.datasets.catalog.actions.version_locks import lock_kept
from atom.datasets.catalog.reads import require_kept
from atom.datasets.errors import DatasetNameTaken, RefNameTaken, RefNotFound
from atom.datasets.models import Branch, Dataset, Tag, Version, VersionPin
from atom.datasets.refs import check_ref_name
from atom_sdk.sentences import Sentence


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
            audit.record(user, "dataset.created", dataset, project, dataset, name=name)
    except IntegrityError as exc:
        deleted = Dataset.with_deleted.deleted_in(project).filter(name=name).exists()
        raise DatasetNameTaken(
            Sentence(
                "datasets.deleted_dataset_has_name",
                "{project} has a deleted dataset of the name {dataset}.",
                project=project.slug,
                dataset=name,
            )
            if deleted
            else Sentence(
                "datasets.dataset_exists",
                "{project} already has a dataset {dataset}.",
                project=project.slug,
                dataset=name,
            )
        ) from exc
    return dataset


def describe_dataset(dataset: Dataset, description: str, user: User) -> Dataset:
    """Replace the description of a dataset. Repeatable."""
    with transaction.atomic():
        rows = Dataset.objects.select_for_update(of=("self",))
        locked = rows.select_related("project", "created_by").get(pk=dataset.pk)
        if locked.description == description:
            return locked
        locked.description = description
        locked.save(update_fields=["description", "updated_at"])
        catalogue_log.write_dataset(locked)
        audit.record(user, "dataset.described", locked, locked.project, locked, name=locked.name)
    return locked


def create_tag(dataset: Dataset, name: str, at: Version, user: User) -> Tag:
    """Give a version a name that never moves. Raises RefNameTaken or VersionExpired."""
    check_ref_name(dataset, name)
    try:
        with transaction.atomic():
            lock_kept(at)
            tag = Tag.objects.create(dataset=dataset, name=name, version=at)
            catalogue_log.write_tag(tag)
            audit.record(
                user, "tag.created", tag, dataset.project, dataset,
                dataset=dataset.name, name=name, at=at.commit,
            )  # fmt: skip
    except IntegrityError as exc:
        raise RefNameTaken from exc
    return tag


def delete_tag(dataset: Dataset, name: str, user: User) -> None:
    """Take a tag away: it never moves, so this is for one that was given by mistake.

    Raises RefNotFound.
    """
    with transaction.atomic():
        tags = dataset.tags.select_for_update(of=("self",)).select_related("version")
        tag = tags.filter(name=name).first()
        if tag is None:
            raise RefNotFound(
                Sentence(
                    "datasets.tag_unknown",
                    "{dataset} has no tag {tag}.",
                    dataset=dataset.name,
                    tag=name,
                )
            )
        tag.dataset = dataset
        catalogue_log.write_tag(tag, is_deleted=True)
        audit.record(
            user, "tag.deleted", tag, dataset.project, dataset,
            dataset=dataset.name, name=name, at=tag.version.commit,
        )  # fmt: skip
        tag.delete()


def pin(version: Version, holder_type: str, holder_id: str) -> None:
    """Keep a version while its holder needs it. Repeatable. Raises VersionExpired."""
    require_kept(version)
    VersionPin.objects.get_or_create(version=version, holder_type=holder_type, holder_id=holder_id)


def unpin(holder_type: str, holder_id: str) -> None:
    """Give up every pin of a holder. Repeatable."""
    VersionPin.objects.filter(holder_type=holder_type, holder_id=holder_id).delete()
