"""Resumable uploads by presigned parts, or by one presigned PUT.

Packs go to their own keys where the store allows it (`direct_uploads`), all else to staging.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil

from django.db import IntegrityError, transaction
from django.db.models.functions import Now

from atom.accounts.models import User
from atom.core import locks, states, storage
from atom.core.background import enqueue
from atom.core.conditional_writes import ONLY_NEW
from atom.core.crash_points import reach
from atom.core.media import part_url
from atom.core.storage import ObjectExists, Part
from atom.datasets.errors import UploadIncomplete, UploadNotOpen, UploadSizeDiffers, UploadTooLarge
from atom.datasets.gc_guard import hold_gc
from atom.datasets.keys import staging_key
from atom.datasets.models import Dataset, Pack, Upload
from atom.datasets.packs.actions.direct_uploads import (
    direct_key,
    is_direct,
    is_single,
    may_be_direct,
)
from atom.datasets.states import PACK_STATES, UPLOAD_STATES
from atom_sdk.sentences import Sentence

PART_BYTES = 16 << 20
MAX_PARTS = 10_000
MAX_UPLOAD_BYTES = PART_BYTES * MAX_PARTS
PART_URL_EXPIRES_S = 3600
_VERIFY_TASK = "atom.datasets.tasks.verify_upload"


@dataclass(frozen=True)
class UploadRequest:
    """An object that a client announces: its `kind`, and its `digest`, BLAKE3 in hex.

    `single`: the client can send it by one PUT with the headers of `addresses_of_parts`.
    """

    kind: str
    digest: str
    size_bytes: int
    single: bool = False


def start_upload(dataset: Dataset, request: UploadRequest, user: User) -> Upload:
    """Return the upload to send into: the open one of this digest, or a new one.

    A pack that the project has already gives an upload in state `verified`: nothing to send.
    Raises UploadTooLarge or UploadSizeDiffers.
    """
    if request.size_bytes > MAX_UPLOAD_BYTES:
        raise UploadTooLarge(
            Sentence(
                "datasets.upload_too_large",
                "One upload holds at most {max_bytes} bytes.",
                max_bytes=MAX_UPLOAD_BYTES,
            )
        )
    # Hold garbage collection until a row keeps the pack that was looked up.
    with hold_gc(dataset.project):
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
        _resume(begun, may_be_single=request.single)
    return upload


def _resume(upload: Upload, *, may_be_single: bool) -> None:
    """Make an open upload one that its client can go on with.

    Its parts were joined when an answer was lost, or the store lost them with its power, or this
    client sends parts where another began with one PUT.
    """
    objects = storage.objects()
    if upload.multipart_id and objects.multipart_is_known(upload.key, upload.multipart_id):
        return
    arrived = objects.head_or_none(upload.key)
    if arrived is not None and arrived.size_bytes == upload.size_bytes:
        _close(upload)
        return
    if is_single(upload) and may_be_single and arrived is None:
        return
    # A pack's own key that holds something else is written by a verified copy only.
    _begin_parts_anew(upload, upload.key if arrived is None else staging_key(upload.pk))


def _begin_parts_anew(upload: Upload, key: str) -> None:
    fresh = storage.objects().multipart_create(key)
    same = Upload.objects.filter(pk=upload.pk, state="open", multipart_id=upload.multipart_id)
    if not same.update(key=key, multipart_id=fresh, updated_at=Now()):
        # Another client was first.
        storage.objects().multipart_abort(key, fresh)
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
        states.check_transition(PACK_STATES, pack.state, "uploading")
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
        # Refresh the timestamp: this client now depends on the pack.
        done.save(update_fields=["updated_at"])
    return done or Upload.objects.create(
        **same,
        size_bytes=request.size_bytes,
        part_size_bytes=PART_BYTES,
        state="verified",
        created_by=user,
    )


def _create(dataset: Dataset, request: UploadRequest, user: User) -> Upload:
    if request.kind != "pack":
        return _save_new(dataset, request, user, "")
    packs = Pack.objects.select_related("project")
    pack = packs.get(project=dataset.project, digest=request.digest)
    with locks.in_turn(pack.pk):
        key = direct_key(pack.project, pack.digest) if may_be_direct(pack) else ""
        return _save_new(dataset, request, user, key)


def _save_new(dataset: Dataset, request: UploadRequest, user: User, key: str) -> Upload:
    """Save a new upload that goes to `key`, to staging if that is empty."""
    upload = Upload(
        dataset=dataset,
        kind=request.kind,
        digest=request.digest,
        size_bytes=request.size_bytes,
        part_size_bytes=PART_BYTES,
        created_by=user,
    )
    upload.key = key or staging_key(upload.pk)
    if not (key and request.single and part_count(upload) == 1):
        upload.multipart_id = storage.objects().multipart_create(upload.key)
    try:
        with transaction.atomic():
            upload.save(force_insert=True)
    except IntegrityError:
        # Another client began the same upload at the same moment: join it.
        if upload.multipart_id:
            storage.objects().multipart_abort(upload.key, upload.multipart_id)
        live = _live(dataset, request)
        if live is None:
            raise
        return live
    return upload


def parts_done(upload: Upload) -> list[Part]:
    """Return the parts that have arrived; empty once the upload is no longer open."""
    if upload.state != "open" or is_single(upload):
        return []
    return storage.objects().multipart_parts(upload.key, upload.multipart_id)


def presign_parts(upload: Upload, numbers: Sequence[int]) -> dict[int, str]:
    """Return an address to PUT each part to, with `headers_of_parts`.

    Raises UploadNotOpen or UploadIncomplete.
    """
    _begin_parts(upload, numbers)
    if is_single(upload):
        address = storage.objects().presign_put(upload.key, PART_URL_EXPIRES_S, only_new=True)
        return dict.fromkeys(numbers, address)
    return {
        number: storage.objects().presign_part(
            upload.key, upload.multipart_id, number, PART_URL_EXPIRES_S
        )
        for number in numbers
    }


def headers_of_parts(upload: Upload) -> dict[str, str]:
    """Return the headers that a PUT to an address of the store must have."""
    return ONLY_NEW if is_single(upload) else {}


def parts_through_us(upload: Upload, numbers: Sequence[int]) -> dict[int, str]:
    """Return a path of our own origin to PUT each part to, good for an hour.

    Raises UploadNotOpen or UploadIncomplete.
    """
    _begin_parts(upload, numbers)
    if is_single(upload):
        # Only parts go through us.
        _begin_parts_anew(upload, upload.key)
    return {
        number: part_url(upload.key, upload.multipart_id, number, part_bytes(upload, number))
        for number in numbers
    }


def _begin_parts(upload: Upload, numbers: Sequence[int]) -> None:
    if upload.state != "open":
        raise UploadNotOpen(
            Sentence("datasets.upload_is", "The upload is {state}.", state=upload.state),
            state=upload.state,
        )
    count = part_count(upload)
    if any(not 1 <= number <= count for number in numbers):
        raise UploadIncomplete(
            Sentence(
                "datasets.part_number_out_of_range",
                "The parts of this upload are numbered 1 to {count}.",
                count=count,
            )
        )
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
            states.check_transition(UPLOAD_STATES, "open", "uploaded")
            enqueue(_VERIFY_TASK, str(upload.pk))
    upload.refresh_from_db()


def _join(upload: Upload, parts: Sequence[tuple[int, str]]) -> None:
    objects = storage.objects()
    if is_single(upload):
        if not objects.exists(upload.key):
            raise UploadIncomplete(
                Sentence("datasets.upload_has_not_arrived", "The upload has not arrived."),
                parts=[1],
            )
        return
    arrived = objects.multipart_parts(upload.key, upload.multipart_id)
    if not arrived and objects.exists(upload.key):
        # A completion whose answer was lost: the parts are joined already.
        return
    _check_parts(upload, dict(parts), arrived)
    try:
        objects.multipart_complete(
            upload.key, upload.multipart_id, sorted(parts), only_new=is_direct(upload)
        )
    except ObjectExists:
        # An earlier try joined them, or somebody else's bytes are there: whatever lies at the
        # key is verified.
        objects.multipart_abort(upload.key, upload.multipart_id)


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
            Sentence(
                "datasets.parts_missing",
                "{count} of {total} parts are missing or differ.",
                count=len(wrong) + len(extra),
                total=len(wanted),
            ),
            parts=(wrong + extra)[:100],
        )
