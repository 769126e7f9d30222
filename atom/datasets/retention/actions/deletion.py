"""Deleting a dataset: out of sight at once, its files only after the undo window.

LIVE → DELETED → LIVE | PURGED, derived from `deleted_at` and `purged_at`. The name stays taken
until the dataset is purged, so that restoring always works and an old address never shows something
else.
"""

from __future__ import annotations

from collections.abc import Callable
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import Count

from atom.accounts import audit
from atom.accounts.models import Project, User
from atom.core import clock, live
from atom.core.errors import NotFound
from atom.datasets.catalog import catalogue_log
from atom.datasets.errors import DatasetHeld, DatasetInUse
from atom.datasets.models import (
    CommitRequest,
    Dataset,
    LegalHold,
    SourceScan,
    Version,
    VersionPin,
)
from atom.datasets.retention.actions.retention import collect_version, expire_version
from atom.datasets.states import ACTIVE_SCANS
from atom_sdk.amounts import counted
from atom_sdk.sentences import Sentence

log = structlog.get_logger(__name__)


def delete_dataset(
    dataset: Dataset, user: User | None, permit: Callable[[Dataset], None] = lambda locked: None
) -> Dataset:
    """Take a dataset out of sight. Raises DatasetHeld or DatasetInUse, and what `permit` raises.

    One that never had a version has nothing to restore: its name is free again at once. `permit`
    looks at the locked row, which gets neither a version nor a source meanwhile.
    """
    with transaction.atomic():
        found = _locked(dataset.pk)
        permit(found)
        if found.deleted_at is not None:
            return found
        _require_unneeded(found)
        found.deleted_at, found.deleted_by = clock.now(), user
        if is_unused(found):
            found.purged_at = found.deleted_at
        _save(found)
        audit.record(user, "dataset.deleted", found, found.project, found, name=found.name)
    return found


def is_unused(dataset: Dataset) -> bool:
    """Return whether the dataset never had a version, nor a source that will make one."""
    return not dataset.versions.exists() and not dataset.sources.exists()


def restore_dataset(project: Project, dataset_id: UUID, user: User | None) -> Dataset:
    """Bring a deleted dataset back as it was. Raises NotFound when it is purged or unknown."""
    with transaction.atomic():
        deleted = Dataset.with_deleted.deleted_in(project).filter(pk=dataset_id)
        if not deleted.exists():
            raise NotFound(
                Sentence(
                    "datasets.deleted_dataset_unknown",
                    "The project has no such deleted dataset; perhaps it is collected.",
                )
            )
        found = _locked(dataset_id)
        if found.purged_at is not None:
            raise NotFound(
                Sentence("datasets.files_collected", "The files of the dataset are collected.")
            )
        if found.deleted_at is not None:
            found.deleted_at = found.deleted_by = None
            _save(found)
            audit.record(user, "dataset.restored", found, found.project, found, name=found.name)
    return found


def purge_dataset(dataset: Dataset) -> bool:
    """Let a deleted dataset's files go with the next sweep; False while somebody needs them.

    Its commits and their roots stay, and the name is free again. Repeatable.
    """
    with transaction.atomic():
        found = _locked(dataset.pk)
        pinned = VersionPin.objects.filter(version__dataset=found).exists()
        if found.deleted_at is None or found.purged_at is not None or pinned:
            return False
        versions = Version.objects.select_for_update().filter(dataset=found)
        for version in versions.exclude(state="collected"):
            version.dataset = found
            expire_version(version, found.deleted_at)
            collect_version(version)
        found.purged_at = clock.now()
        _save(found)
        audit.record(None, "dataset.purged", found, found.project, found, name=found.name)
    log.info("dataset_purged", dataset_id=str(found.pk))
    return True


def _locked(dataset_id: UUID) -> Dataset:
    rows = Dataset.with_deleted.select_for_update(of=("self",))
    found: Dataset = rows.select_related("project", "created_by", "deleted_by").get(pk=dataset_id)
    return found


def _require_unneeded(dataset: Dataset) -> None:
    holds = LegalHold.objects.filter(dataset=dataset, released_at__isnull=True).count()
    if holds == 1:
        raise DatasetHeld(
            Sentence("datasets.legal_hold_keeps", "One legal hold keeps {kept}.", kept=dataset.name)
        )
    if holds:
        raise DatasetHeld(
            Sentence(
                "datasets.legal_holds_keep",
                "{count} legal holds keep {kept}.",
                count=holds,
                kept=dataset.name,
            )
        )
    # A version's pins are made under a lock of its row: wait for them, and look for pins
    # afterwards.
    list(Version.objects.select_for_update().filter(dataset=dataset).values_list("pk"))
    pins = VersionPin.objects.filter(version__dataset=dataset).values("holder_type")
    needed = [
        counted(row["count"], row["holder_type"].replace("_", " "))
        for row in pins.annotate(count=Count("holder_id", distinct=True)).order_by("holder_type")
    ]
    commits = CommitRequest.objects.filter(dataset=dataset, state__in=["pending", "building"])
    if count := commits.count():
        needed.append(f"{counted(count, 'commit')} under way")
    scans = SourceScan.objects.filter(source__dataset=dataset, state__in=ACTIVE_SCANS)
    if count := scans.count():
        needed.append(counted(count, "scan of a source", "scans of sources"))
    if needed:
        raise DatasetInUse(
            Sentence(
                "datasets.version_needed",
                "{version} is needed by {needed_by}.",
                version=dataset.name,
                needed_by=", ".join(needed),
            )
        )


def _save(dataset: Dataset) -> None:
    dataset.save(update_fields=["deleted_at", "deleted_by", "purged_at", "updated_at"])
    catalogue_log.write_dataset(dataset)
    event = {"type": "dataset", "id": str(dataset.pk), "branch": "main"}
    live.publish(f"project.{dataset.project_id}", event)
