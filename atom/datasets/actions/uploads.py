"""Resumable uploads into staging, by presigned parts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts.models import User
from atom.core import states, storage
from atom.core.background import enqueue
from atom.core.crash_points import reach
from atom.core.media import part_url
from atom.core.storage import Part
from atom.datasets.building import building
from atom.datasets.errors import UploadIncomplete, UploadNotOpen, UploadSizeDiffers, UploadTooLarge
from atom.datasets.keys import staging_key
from atom.datasets.models import Dataset, Pack, Upload
from atom.datasets.states import PACK_STATES, UPLOAD_STATES

PART_BYTES = 16 << 20
MAX_PARTS = 10_000
MAX_UPLOAD_BYTES = PART_BYTES * MAX_PARTS
PART_URL_EXPIRES_S = 3600
_VERIFY_TASK = "atom.datasets.tasks.verify_upload"


@dataclass(frozen=True)
class UploadRequest:
    """What a client wants to send: `kind` is pack or changes, `digest` is BLAKE3 in hex."""

    kind: str
    digest: str
    size_bytes: int


def start_upload(dataset: Dataset, request: UploadRequest, user: User) -> Upload:
    """Return the upload to send into: the open one of this digest, or a new one.

    A pack that the project has already gives an upload in state `verified`: nothing to send.
    Raises UploadTooLarge or UploadSizeDiffers.
    """
    if request.size_bytes > MAX_UPLOAD_BYTES:
        raise UploadTooLarge(f"One upload holds at most {MAX_UPLOAD_BYTES} bytes.")
    # From the look at the pack to the row that keeps it, it may not be collected.
    with building(dataset.project):
        return _find_or_create(dataset, request, user)


def _find_or_create(dataset: Dataset, request: UploadRequest, user: User) -> Upload:
    if request.kind == "pack" and _announce_pack(dataset, request) == "verified":
        return _finished(dataset, request, user)
    begun = _live(dataset, request)
    upload = begun or _create(dataset, request, user)
    if upload.size_bytes != request.size_bytes:
        raise UploadSizeDiffers
    if begun is not None and begun.state == "open":
        _touch(begun)
        _mend(begun)
    return upload


def _mend(upload: Upload) -> None:
    """Make an upload that the store no longer knows one that can be gone on with.

    Its parts were joined when an answer was lost, or the store lost them with its power.
    """
    objects = storage.objects()
    if objects.multipart_is_known(upload.key, upload.multipart_id):
        return
    joined = objects.head_or_none(upload.key)
    if joined is not None and joined.size_bytes == upload.size_bytes:
        _close(upload)
        return
    fresh = objects.multipart_create(upload.key)
    same = Upload.objects.filter(pk=upload.pk, state="open", multipart_id=upload.multipart_id)
    if not same.update(multipart_id=fresh, updated_at=Now()):
        # Another client was first.
        objects.multipart_abort(upload.key, fresh)
    upload.refresh_from_db()


def _touch(upload: Upload) -> None:
    """Note that somebody goes on with the upload: it is not given up."""
    Upload.objects.filter(pk=upload.pk, state="open").update(updated_at=Now())


def _announce_pack(dataset: Dataset, request: UploadRequest) -> str:
    """Make sure that the project knows the pack, and return its state."""
    pack, _ = Pack.objects.get_or_create(
        project=dataset.project,
        digest=request.digest,
        defaults={"size_bytes": request.size_bytes},
    )
    if pack.state == "quarantined":
        states.check_move(PACK_STATES, pack.state, "uploading")
        Pack.objects.filter(pk=pack.pk, state="quarantined").update(
            state="uploading", size_bytes=request.size_bytes, reason=""
        )
        return "uploading"
    if pack.state == "verified" and pack.size_bytes != request.size_bytes:
        raise UploadSizeDiffers
    return pack.state


def _live(dataset: Dataset, request: UploadRequest) -> Upload | None:
    live = Upload.objects.filter(dataset=dataset, state__in=["open", "uploaded", "verifying"])
    return live.filter(kind=request.kind, digest=request.digest).first()


def _finished(dataset: Dataset, request: UploadRequest, user: User) -> Upload:
    same = {"dataset": dataset, "kind": request.kind, "digest": request.digest}
    done = Upload.objects.filter(**same, state="verified").first()
    if done is not None:
        # Who was told that nothing is to be sent relies on the pack from now on.
        done.save(update_fields=["updated_at"])
    return done or Upload.objects.create(
        **same,
        size_bytes=request.size_bytes,
        part_size_bytes=PART_BYTES,
        state="verified",
        created_by=user,
    )


def _create(dataset: Dataset, request: UploadRequest, user: User) -> Upload:
    upload = Upload(
        dataset=dataset,
        kind=request.kind,
        digest=request.digest,
        size_bytes=request.size_bytes,
        part_size_bytes=PART_BYTES,
        created_by=user,
    )
    upload.key = staging_key(upload.pk)
    upload.multipart_id = storage.objects().multipart_create(upload.key)
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
    except IntegrityError:
        # Another client began the same upload at the same moment: join it.
        storage.objects().multipart_abort(upload.key, upload.multipart_id)
        live = _live(dataset, request)
        if live is None:
            raise
        return live
    return upload


def parts_done(upload: Upload) -> list[Part]:
    """Return the parts that have arrived; empty once the upload is no longer open."""
    if upload.state != "open":
        return []
    return storage.objects().multipart_parts(upload.key, upload.multipart_id)


def presign_parts(upload: Upload, numbers: Sequence[int]) -> dict[int, str]:
    """Return an address to PUT each part to. Raises UploadNotOpen or UploadIncomplete."""
    _begin_parts(upload, numbers)
    return {
        number: storage.objects().presign_part(
            upload.key, upload.multipart_id, number, PART_URL_EXPIRES_S
        )
        for number in numbers
    }


def parts_through_us(upload: Upload, numbers: Sequence[int]) -> dict[int, str]:
    """Return a path of our own origin to PUT each part to, good for an hour.

    Raises UploadNotOpen or UploadIncomplete.
    """
    _begin_parts(upload, numbers)
    return {
        number: part_url(upload.key, upload.multipart_id, number, part_bytes(upload, number))
        for number in numbers
    }


def _begin_parts(upload: Upload, numbers: Sequence[int]) -> None:
    if upload.state != "open":
        raise UploadNotOpen(f"The upload is {upload.state}.", state=upload.state)
    count = part_count(upload)
    if any(not 1 <= number <= count for number in numbers):
        raise UploadIncomplete(f"The parts of this upload are numbered 1 to {count}.")
    _touch(upload)


def part_bytes(upload: Upload, number: int) -> int:
    """Return how many bytes part `number` has: the last one has the rest."""
    return min(upload.part_size_bytes, upload.size_bytes - (number - 1) * upload.part_size_bytes)


def part_count(upload: Upload) -> int:
    """Return how many parts the upload has; an empty object still has one."""
    return max(1, ceil(upload.size_bytes / upload.part_size_bytes))


def complete_upload(upload: Upload, parts: Sequence[tuple[int, str]]) -> Upload:
    """Join the parts and have the result verified. Completing twice changes nothing.

    Raises UploadIncomplete, with the numbers of the parts that are missing or differ.
    """
    if upload.state == "open":
        _join(upload, parts)
        reach("upload.joined")
        _close(upload)
    return upload


def _close(upload: Upload) -> None:
    """Have what was joined verified, once."""
    with transaction.atomic():
        moved = Upload.objects.filter(pk=upload.pk, state="open").update(state="uploaded")
        if moved:
            states.check_move(UPLOAD_STATES, "open", "uploaded")
            enqueue(_VERIFY_TASK, str(upload.pk))
    upload.refresh_from_db()


def _join(upload: Upload, parts: Sequence[tuple[int, str]]) -> None:
    objects = storage.objects()
    arrived = objects.multipart_parts(upload.key, upload.multipart_id)
    if not arrived and objects.exists(upload.key):
        # A completion whose answer was lost: the parts are joined already.
        return
    _check_parts(upload, dict(parts), arrived)
    objects.multipart_complete(upload.key, upload.multipart_id, sorted(parts))


def _check_parts(upload: Upload, given: dict[int, str], arrived: Sequence[Part]) -> None:
    wanted = range(1, part_count(upload) + 1)
    # A store may list what was sent first beside what replaced it, in any order.
    there = {
        (part.number, part.etag)
        for part in arrived
        if part.size_bytes == part_bytes(upload, part.number)
    }
    wrong = [number for number in wanted if (number, given.get(number, "").strip('"')) not in there]
    extra = sorted(set(given) - set(wanted))
    if wrong or extra:
        raise UploadIncomplete(
            f"{len(wrong) + len(extra)} of {len(wanted)} parts are missing or differ.",
            parts=(wrong + extra)[:100],
        )
