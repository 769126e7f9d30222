"""Clearing what uploads that were given up left: parts, joined files, changes files.

An upload is live while it waits to be verified, while anything of it (its row, a part) is younger
than the grace, and while a commit that reads it is under way. Only `staging/<id of an upload>` and
unfinished multipart uploads to the keys of packs are ever looked at. There is no undo: nothing of
it was ever part of a version.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from datetime import datetime
from uuid import UUID

import structlog
from django.db import transaction
from django.db.models import QuerySet

from atom.accounts import audit
from atom.core import states, storage
from atom.core.storage import UnfinishedUpload
from atom.datasets.keys import PACKS, PROJECTS, STAGING, staging_key
from atom.datasets.models import CommitRequest, GarbageRun, Upload
from atom.datasets.packs.engines.digest_runs import in_batches
from atom.datasets.states import UPLOAD_STATES, UPLOADING

log = structlog.get_logger(__name__)

_BATCH = 500


@dataclass(frozen=True)
class Cutoffs:
    """Older uploads count as abandoned: by the store's clock, and by the database's."""

    store: datetime
    database: datetime


@dataclass(frozen=True)
class Staged:
    """An unfinished upload with its id, or an object in staging (`multipart_id` "").

    `upload_id` is None for parts of a pack that belong to no live upload.
    """

    key: str
    upload_id: UUID | None
    multipart_id: str
    size_bytes: int
    modified_at: datetime


def clear_staging(run: GarbageRun, cutoffs: Cutoffs) -> None:
    """Count what was given up, and remove it unless the run is a dry one. Repeatable."""
    run.staged_count = run.staged_bytes = 0
    of_project = Upload.objects.filter(dataset__project=run.project)
    packs = storage.project_prefix(run.project) + PACKS
    for staged, row in _given_up(of_project, packs, cutoffs):
        if not run.is_dry_run and not _remove(staged, row, cutoffs):
            continue
        run.staged_count += 1
        run.staged_bytes += staged.size_bytes
    if not run.is_dry_run:
        _abort_single(of_project, cutoffs)
    run.save(update_fields=["staged_count", "staged_bytes", "updated_at"])
    if run.staged_count and not run.is_dry_run:
        audit.record(None, "staging.cleared", run, run.project, objects=run.staged_count)
        log.info("staging_cleared", run_id=str(run.pk), objects=run.staged_count)


def clear_ownerless_staging(cutoffs: Cutoffs) -> int:
    """Remove what no upload owns any more and return how much: its project was deleted.

    It belongs to nobody whose garbage run could count it. Repeatable.
    """
    removed = 0
    everything = (*_unfinished(), *_objects(), *_unfinished_packs(PROJECTS))
    for batch in in_batches(everything, _BATCH):
        owned = set(_rows(batch))
        for staged in batch:
            if staged.upload_id in owned or staged.modified_at > cutoffs.store:
                continue
            whole = _with_parts(staged)
            if whole.modified_at <= cutoffs.store:
                removed += _remove(whole, None, cutoffs)
    if removed:
        log.info("ownerless_staging_cleared", objects=removed)
    return removed


def _rows(batch: Iterable[Staged]) -> dict[UUID, Upload]:
    return Upload.objects.in_bulk({staged.upload_id for staged in batch if staged.upload_id})


def _given_up(
    uploads: QuerySet[Upload], packs: str, cutoffs: Cutoffs
) -> Iterator[tuple[Staged, Upload | None]]:
    """Yield what is given up in staging and among the unfinished packs below the prefix `packs`."""
    everything = (*_unfinished(), *_objects(), *_unfinished_packs(packs))
    for batch in in_batches(everything, _BATCH):
        ids = {staged.upload_id for staged in batch if staged.upload_id}
        rows = uploads.in_bulk(ids)
        read = CommitRequest.objects.filter(
            changes_upload__in=ids, state__in=["pending", "building"]
        )
        busy = set(read.values_list("changes_upload", flat=True))
        for staged in batch:
            row = rows.get(staged.upload_id) if staged.upload_id else None
            if staged.upload_id and (row is None or row.pk in busy):
                continue
            if staged.modified_at > cutoffs.store or not _is_given_up(staged, row, cutoffs):
                continue
            whole = _with_parts(staged)
            if whole.modified_at <= cutoffs.store:
                yield whole, row


def _is_given_up(staged: Staged, row: Upload | None, cutoffs: Cutoffs) -> bool:
    """Return whether nobody can need it: its upload has ended, or nobody goes on with it."""
    if row is None:
        return True
    if row.state not in UPLOADING:
        return True
    if row.state != "open":
        return False
    is_other = bool(staged.multipart_id) and staged.multipart_id != row.multipart_id
    return is_other or row.updated_at <= cutoffs.database


def _unfinished() -> Iterator[Staged]:
    for found in storage.objects().multipart_list(STAGING):
        upload_id = _upload_of(found.key)
        if upload_id is not None:
            yield Staged(found.key, upload_id, found.upload_id, 0, found.initiated_at)


def _unfinished_packs(prefix: str) -> Iterator[Staged]:
    """Yield unfinished multipart uploads to the keys of packs, with the live upload of each.

    The server itself writes large packs by parts too: what is younger than the grace may be its.
    """
    for batch in in_batches(_multiparts_of_packs(prefix), _BATCH):
        ids = [found.upload_id for found in batch]
        rows = Upload.objects.filter(state__in=UPLOADING, multipart_id__in=ids)
        owners = {(row.key, row.multipart_id): row.pk for row in rows}
        for found in batch:
            owner = owners.get((found.key, found.upload_id))
            yield Staged(found.key, owner, found.upload_id, 0, found.initiated_at)


def _multiparts_of_packs(prefix: str) -> Iterator[UnfinishedUpload]:
    for found in storage.objects().multipart_list(prefix):
        if f"/{PACKS}" in found.key:
            yield found


def _with_parts(staged: Staged) -> Staged:
    """Return an unfinished upload with the size of its parts and the time of the last one."""
    if not staged.multipart_id:
        return staged
    parts = storage.objects().multipart_parts(staged.key, staged.multipart_id)
    last = max([staged.modified_at, *(part.modified_at for part in parts)])
    return replace(staged, size_bytes=sum(part.size_bytes for part in parts), modified_at=last)


def _objects() -> Iterator[Staged]:
    for item in storage.objects().list_prefix(STAGING):
        upload_id = _upload_of(item.key)
        if upload_id is not None:
            yield Staged(item.key, upload_id, "", item.size_bytes, item.modified_at)


def _upload_of(key: str) -> UUID | None:
    """Return which upload a key is of; None for what others keep in staging."""
    try:
        upload_id = UUID(key.removeprefix(STAGING))
    except ValueError:
        return None
    return upload_id if key == staging_key(upload_id) else None


def _remove(staged: Staged, row: Upload | None, cutoffs: Cutoffs) -> bool:
    """Remove it; False if somebody went on with the upload since we looked."""
    is_own = not staged.multipart_id or (row and staged.multipart_id == row.multipart_id)
    if row is not None and row.state == "open" and is_own and not _abort(row, cutoffs):
        return False
    if staged.multipart_id:
        storage.objects().multipart_abort(staged.key, staged.multipart_id)
    else:
        storage.objects().delete(staged.key)
    return True


def _abort_single(uploads: QuerySet[Upload], cutoffs: Cutoffs) -> None:
    """End open uploads of one PUT that nobody goes on with; what arrived is ordinary garbage."""
    given_up = uploads.filter(state="open", multipart_id="", updated_at__lte=cutoffs.database)
    for row in given_up:
        _abort(row, cutoffs)


def _abort(row: Upload, cutoffs: Cutoffs) -> bool:
    """End an open upload that nobody touched since the cutoff: from now on it takes no part."""
    states.check_transition(UPLOAD_STATES, "open", "aborted")
    with transaction.atomic():
        found = Upload.objects.select_for_update().filter(pk=row.pk).first()
        if found is None or found.state == "aborted":
            return True
        if found.state != "open" or found.updated_at > cutoffs.database:
            return False
        Upload.objects.filter(pk=row.pk).update(state="aborted")
    return True
