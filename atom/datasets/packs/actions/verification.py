"""Verifying what was uploaded: a lie is quarantined with its reason and never read.

Every step may be repeated: a worker that dies leaves the upload in `uploaded` or `verifying`,
and the next run starts over with the same staged object.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager, nullcontext
from uuid import UUID

import pyarrow as pa
import structlog
from django.db import transaction
from django.db.models import QuerySet

from atom.core import states, storage
from atom.core.crash_points import reach
from atom.core.locks import in_turn, only_worker
from atom.core.storage import ObjectMissing
from atom.datasets.models import Pack, Upload
from atom.datasets.packs.actions.direct_uploads import is_direct
from atom.datasets.packs.actions.retry_count import RETRY_FIELDS, count_retry, counting_retries
from atom.datasets.packs.pipelines import (
    StagedObject,
    StagedObjectLies,
    publish_pack,
    verify_staged_bytes,
    verify_staged_pack,
)
from atom.datasets.states import PACK_STATES, UPLOAD_STATES

log = structlog.get_logger(__name__)


def verify_upload(upload_id: UUID | str) -> Upload:
    """Verify one upload to its end and return it.

    One that is done, or that another worker is at, is returned as it is.
    """
    with only_worker(upload_id) as mine:
        if mine:
            upload = _claim(upload_id)
            with counting_retries(upload):
                _verify_to_the_end(upload)
    return Upload.objects.get(pk=upload_id)


def _verify_to_the_end(upload: Upload) -> None:
    if upload.state != "verifying":
        return
    if upload.is_hopeless:
        said = "No worker could verify it, in several tries over two hours."
        _quarantine(upload, "verification_abandoned", said)
        return
    staged = StagedObject(upload.key, upload.digest, upload.size_bytes)
    try:
        _verify(upload, staged)
    except StagedObjectLies as lie:
        _quarantine(upload, lie.code, str(lie))
    except ObjectMissing:
        if not _is_verified(upload):
            _quarantine(upload, "staged_object_missing", "The staged object has disappeared.")


def _claim(upload_id: UUID | str) -> Upload:
    """Move the upload and its pack to `verifying`; one that is there already stays."""
    with transaction.atomic():
        upload = (
            Upload.objects.select_for_update(of=("self",))
            .select_related("dataset__project")
            .get(pk=upload_id)
        )
        if upload.state == "uploaded":
            upload.state = "verifying"
        if upload.state == "verifying":
            if not upload.is_hopeless:
                count_retry(upload)
            upload.save(update_fields=["state", "updated_at", *RETRY_FIELDS])
            _pack_of(upload).filter(state="uploading").update(state="verifying")
    return upload


def _verify(upload: Upload, staged: StagedObject) -> None:
    if upload.kind != "pack":
        verify_staged_bytes(storage.objects(), staged)
        _accept(upload)
        return
    index: pa.Table = verify_staged_pack(storage.objects(), staged)
    reach("pack.verified")
    with _turn_of_pack(upload):
        _publish(upload, index)
        _accept(upload)


@contextmanager
def _turn_of_pack(upload: Upload) -> Iterator[None]:
    """Let no other upload of the pack write or remove its key in the meantime."""
    pack = _pack_of(upload).first()
    with in_turn(pack.pk) if pack is not None else nullcontext():
        yield


def _publish(upload: Upload, index: pa.Table) -> None:
    store = storage.project_store(upload.dataset.project)
    publish_pack(storage.objects(), store, upload.key, upload.digest, index)
    reach("pack.published")


def _accept(upload: Upload) -> None:
    with transaction.atomic():
        if not _finish(upload, "verified"):
            return
        pack = _pack_of(upload).select_for_update().first()
        if pack is not None and pack.state != "verified":
            pack.state, pack.reason, pack.size_bytes = "verified", "", upload.size_bytes
            pack.save(update_fields=["state", "reason", "size_bytes", "updated_at"])
    reach("pack.accepted")
    if upload.kind == "pack" and not is_direct(upload):
        storage.objects().delete(upload.key)
    log.info("upload_verified", upload_id=str(upload.pk), digest=upload.digest)


def _quarantine(upload: Upload, code: str, reason: str) -> None:
    """Name the lie, throw its bytes away. A pack that another upload verified stays good."""
    with _turn_of_pack(upload):
        if is_direct(upload) and not _pack_of(upload).filter(state="verified").exists():
            # First: while the upload has its state, no other may write this key.
            storage.objects().delete(upload.key)
            reach("pack.removed")
        _note_quarantine(upload, code, reason)


def _note_quarantine(upload: Upload, code: str, reason: str) -> None:
    with transaction.atomic():
        if not _finish(upload, "quarantined", error_code=code, error_detail=reason):
            return
        pack = _pack_of(upload).select_for_update().first()
        if pack is not None and pack.state != "verified" and not _other_live(upload):
            states.check_transition(PACK_STATES, pack.state, "quarantined")
            pack.state, pack.reason = "quarantined", reason
            pack.save(update_fields=["state", "reason", "updated_at"])
    if not is_direct(upload):
        storage.objects().delete(upload.key)
    log.warning("upload_quarantined", upload_id=str(upload.pk), code=code, reason=reason)


def _finish(upload: Upload, state: str, **fields: str) -> bool:
    """Leave `verifying`; False when another worker was faster."""
    states.check_transition(UPLOAD_STATES, "verifying", state)
    rows = Upload.objects.filter(pk=upload.pk, state="verifying")
    return bool(rows.update(state=state, **fields))


def _pack_of(upload: Upload) -> QuerySet[Pack]:
    if upload.kind != "pack":
        return Pack.objects.none()
    return Pack.objects.filter(project=upload.dataset.project, digest=upload.digest)


def _other_live(upload: Upload) -> bool:
    """Return whether another dataset's upload of the same pack is still on its way."""
    same = Upload.objects.filter(
        dataset__project=upload.dataset.project, kind="pack", digest=upload.digest
    )
    return same.filter(state__in=["open", "uploaded", "verifying"]).exclude(pk=upload.pk).exists()


def _is_verified(upload: Upload) -> bool:
    return Upload.objects.filter(pk=upload.pk, state="verified").exists()
