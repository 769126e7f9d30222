"""Writes catalogue rows to the bucket, so that the catalogue can be rebuilt from there.

One small document per dataset and change, per tag, per saved view, per hold, per expired version
and per layout. Each is written in the transaction that changes the row, before that commits. So the
bucket may have a change that the catalogue lacks, never the reverse. Moves of branches are in the
ref log.
"""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import datetime
from typing import Any
from uuid import UUID

from atom.accounts.models import Project, User
from atom.core import storage
from atom.datasets import keys
from atom.datasets.models import Dataset, LegalHold, SavedView, Tag, Version

DATASET_FORMAT = "atom-dataset/1"
TAG_FORMAT = "atom-tag/1"
HOLD_FORMAT = "atom-hold/1"
SAVED_VIEW_FORMAT = "atom-saved-view/1"
VERSION_STATE_FORMAT = "atom-version-state/1"
LAYOUT_FORMAT = "atom-layout/1"


def write_dataset(dataset: Dataset) -> None:
    """Write the next document of a dataset; the caller holds its row."""
    dataset.revision += 1
    dataset.save(update_fields=["revision"])
    document = {
        "format": DATASET_FORMAT,
        "id": str(dataset.pk),
        "name": dataset.name,
        "description": dataset.description,
        "created_by": _username(dataset.created_by),
        "created_at": dataset.created_at.isoformat(),
        "retention": dataset.retention,
        "retention_limit": dataset.retention_limit,
        "revision": dataset.revision,
        "deleted_at": _time(dataset.deleted_at),
        "deleted_by": _username(dataset.deleted_by),
        "purged_at": _time(dataset.purged_at),
    }
    _write(dataset, keys.dataset_key(dataset.pk, dataset.revision), document)


def write_tag(tag: Tag, *, is_deleted: bool = False) -> None:
    """Write the document of a tag, also when it is taken away."""
    document = {
        "format": TAG_FORMAT,
        "id": str(tag.pk),
        "name": tag.name,
        "commit": tag.version.commit,
        "created_at": tag.created_at.isoformat(),
        "deleted": is_deleted,
    }
    _write(tag.dataset, keys.tag_key(tag.dataset_id, tag.name), document)


def write_hold(hold: LegalHold) -> None:
    """Write the document of a legal hold, placed or released."""
    document = {
        "format": HOLD_FORMAT,
        "id": str(hold.pk),
        "commit": hold.version.commit if hold.version else "",
        "reason": hold.reason,
        "placed_by": _username(hold.placed_by),
        "created_at": hold.created_at.isoformat(),
        "released_by": _username(hold.released_by),
        "released_at": _time(hold.released_at),
    }
    _write(hold.dataset, keys.hold_key(hold.dataset_id, hold.pk), document)


def write_saved_view(view: SavedView, *, is_deleted: bool = False) -> None:
    """Write the document of a saved view, also when it is taken away."""
    document = {
        "format": SAVED_VIEW_FORMAT,
        "id": str(view.pk),
        "name": view.name,
        "where": view.where,
        "prefix": view.prefix,
        "splits": view.splits,
        "created_by": _username(view.created_by),
        "created_at": view.created_at.isoformat(),
        "deleted": is_deleted,
    }
    _write(view.dataset, keys.saved_view_key(view.dataset_id, view.pk), document)


def write_version_state(version: Version, state: str, expired_at: datetime | None) -> None:
    """Write that a version expired, was restored or collected."""
    document = {
        "format": VERSION_STATE_FORMAT,
        "commit": version.commit,
        "state": state,
        "expired_at": _time(expired_at),
    }
    _write(version.dataset, keys.version_state_key(version.dataset_id, version.commit), document)


def write_layout(version: Version) -> None:
    """Write from which root a version is read best."""
    document = {
        "format": LAYOUT_FORMAT,
        "commit": version.commit,
        "layout": version.layout,
        "repacked": version.is_repacked,
    }
    _write(version.dataset, keys.layout_key(version.dataset_id, version.commit), document)


def read_documents(project: Project, prefix: str) -> Iterator[tuple[str, dict[str, Any]]]:
    """Yield key (below the project's prefix) and content of every document under `prefix`."""
    start = storage.project_prefix(project)
    for item in storage.objects().list_prefix(start + prefix):
        if item.key.endswith(".json"):
            yield item.key.removeprefix(start), json.loads(storage.objects().get(item.key))


def has_document(dataset: Dataset, key: str) -> bool:
    """Return whether a document of the dataset's project is written."""
    return storage.project_store(dataset.project).exists(key)


def parse_id(text: str) -> UUID | None:
    """Return an id, None where an older document has none."""
    return UUID(text) if text else None


def _write(dataset: Dataset, key: str, document: dict[str, Any]) -> None:
    data = json.dumps(document, sort_keys=True).encode()
    storage.project_store(dataset.project).put(key, data)


def _time(moment: datetime | None) -> str:
    return moment.isoformat() if moment else ""


def _username(user: User | None) -> str:
    return user.username if user else ""
