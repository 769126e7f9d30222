"""Asking for pyramids, making them and clearing them away."""

from __future__ import annotations

import tempfile
from collections.abc import Iterable
from dataclasses import dataclass
from datetime import timedelta
from pathlib import Path
from typing import Final
from uuid import UUID

import pyarrow as pa
import structlog
from blake3 import blake3
from django.db.models import Exists, OuterRef, Q
from django.db.models.functions import Now

from atom.core import storage
from atom.core.background import enqueue
from atom.core.errors import AtomError
from atom.core.locks import only_worker
from atom.datasets.keys import pack_key, pyramid_key
from atom.datasets.models import CondemnedObject, PicturePyramid
from atom.datasets.pyramids.engines.cutting import Cut, cut_picture
from atom.datasets.pyramids.engines.reasons import MISSING, TOO_DEEP, TOO_LARGE, UNREADABLE

log = structlog.get_logger(__name__)

MAX_SOURCE_BYTES: Final = 2 << 30
UNUSED_FOR: Final = timedelta(days=30)
_NOTED_EVERY: Final = timedelta(hours=1)
_CHUNK_BYTES: Final = 8 << 20
_MAKE_TASK: Final = "atom.datasets.tasks.make_pyramid"


@dataclass(frozen=True)
class PicturePlace:
    """The bytes of a picture in a pack."""

    digest: str
    pack: str
    offset: int
    size_bytes: int


def ask_for_pyramids(project_id: UUID, places: Iterable[PicturePlace]) -> None:
    """Have pyramids made of pictures that have none; those that there are count as used."""
    by_digest = {place.digest: place for place in places}
    if not by_digest:
        return
    rows = [PicturePyramid(project_id=project_id, **vars(place)) for place in by_digest.values()]
    PicturePyramid.objects.bulk_create(rows, ignore_conflicts=True)
    present = PicturePyramid.objects.filter(project_id=project_id, digest__in=by_digest)
    present.filter(used_at__lt=Now() - _NOTED_EVERY).update(used_at=Now())
    for pyramid in present.filter(state__in=["waiting", "cleared"]):
        _ask_again(pyramid, by_digest[pyramid.digest])


def ask_for_pyramid(project_id: UUID, place: PicturePlace) -> PicturePyramid:
    """Have one pyramid made, also when that failed before; returns its row."""
    ask_for_pyramids(project_id, [place])
    pyramid = PicturePyramid.objects.get(project_id=project_id, digest=place.digest)
    if pyramid.state == "failed":
        _ask_again(pyramid, place)
    pyramid.refresh_from_db()
    return pyramid


def _ask_again(pyramid: PicturePyramid, place: PicturePlace) -> None:
    PicturePyramid.objects.filter(
        pk=pyramid.pk, state__in=["waiting", "cleared", "failed"]
    ).update(
        state="waiting", progress=0, reason="", updated_at=Now(), used_at=Now(), pack=place.pack,
        offset=place.offset, size_bytes=place.size_bytes,
    )  # fmt: skip
    enqueue(_MAKE_TASK, str(pyramid.pk))


def undrawable_digests(project_id: UUID) -> pa.Array:
    """Return the digests (32 bytes) of a project's pictures that cannot be drawn.

    Their bytes were tried. Failures for want of time, memory or bytes do not count: these may pass.
    """
    failed = PicturePyramid.objects.filter(
        project_id=project_id, state="failed", reason__in=[TOO_LARGE, UNREADABLE, TOO_DEEP]
    )
    digests = failed.values_list("digest", flat=True)
    return pa.array([bytes.fromhex(digest) for digest in digests], pa.binary(32))


def make_pyramid(pyramid_id: UUID | str) -> PicturePyramid:
    """Make a pyramid that waits for it; one that another worker is at stays as it is."""
    pyramid = PicturePyramid.objects.select_related("project").get(pk=pyramid_id)
    with only_worker(pyramid.pk) as mine:
        pyramid.refresh_from_db()
        # Making: its worker is gone, else the lock would be taken.
        if mine and pyramid.state in {"waiting", "making"}:
            _make(pyramid)
    pyramid.refresh_from_db()
    return pyramid


def _make(pyramid: PicturePyramid) -> None:
    _note(pyramid, state="making", progress=0)
    try:
        with tempfile.TemporaryDirectory(prefix="atom-pyramid-") as folder:
            cut = _cut(pyramid, Path(folder))
    except AtomError as error:
        log.warning("pyramid_source_missing", pyramid=str(pyramid.pk), code=error.code)
        cut = Cut(None, MISSING)
    if cut.facts is None:
        _note(pyramid, state="failed", reason=cut.reason)
        return
    _note(
        pyramid,
        state="ready",
        progress=100,
        facts=cut.facts,
        stored_bytes=pyramid.stored_bytes,
        used_at=Now(),
    )


def _cut(pyramid: PicturePyramid, folder: Path) -> Cut:
    if pyramid.size_bytes > MAX_SOURCE_BYTES:
        return Cut(None, TOO_LARGE)
    source, target = folder / "picture", folder / "tiles.zip"
    if not _fetch(pyramid, source):
        return Cut(None, MISSING)
    cut = cut_picture(source, target, lambda done: _note(pyramid, progress=min(done, 99)))
    if cut.facts is not None:
        pyramid.stored_bytes = target.stat().st_size
        with target.open("rb") as tiles:
            storage.objects().put(key_of(pyramid), tiles)
    return cut


def _fetch(pyramid: PicturePyramid, target: Path) -> bool:
    """Write the picture's bytes; whether they are those of its digest."""
    key = storage.project_prefix(pyramid.project) + pack_key(pyramid.pack)
    end = pyramid.offset + pyramid.size_bytes
    digest = blake3()
    with target.open("wb") as file:
        for start in range(pyramid.offset, end, _CHUNK_BYTES):
            chunk = storage.objects().get_range(key, start, min(start + _CHUNK_BYTES, end))
            digest.update(chunk)
            file.write(chunk)
    return digest.hexdigest() == pyramid.digest


def _note(pyramid: PicturePyramid, **changes: object) -> None:
    rows = PicturePyramid.objects.filter(pk=pyramid.pk, state__in=["waiting", "making"])
    rows.update(updated_at=Now(), **changes)


def key_of(pyramid: PicturePyramid) -> str:
    """Return the absolute key of a pyramid's object."""
    return f"p/{pyramid.project_id}/{pyramid_key(pyramid.digest)}"


def clear_pyramids(unused_for: timedelta = UNUSED_FOR) -> int:
    """Delete the tiles of deleted packs, and those that nobody used; returns how many."""
    deleted = CondemnedObject.objects.filter(
        project=OuterRef("project"), kind="packs", digest=OuterRef("pack"), state="deleted",
        settled_at__gte=OuterRef("used_at"),
    )  # fmt: skip
    old = Q(used_at__lt=Now() - unused_for)
    rows = PicturePyramid.objects.filter(old | Exists(deleted)).exclude(state="cleared")
    count = 0
    for pyramid in rows.order_by("pk")[:1000]:
        with only_worker(pyramid.pk) as mine:
            if mine:
                count += _clear(pyramid)
    return count


def _clear(pyramid: PicturePyramid) -> int:
    # Somebody may have asked for it since.
    unused = PicturePyramid.objects.filter(pk=pyramid.pk, used_at=pyramid.used_at)
    cleared = unused.update(state="cleared", facts={}, stored_bytes=0, updated_at=Now())
    if cleared:
        storage.objects().delete(key_of(pyramid))
    return cleared
