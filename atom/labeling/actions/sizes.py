"""The size of pictures, read from their first bytes when somebody is about to see them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from uuid import UUID

import structlog
from django.conf import settings

from atom.core import storage
from atom.core.errors import AtomError
from atom.datasets.keys import pack_key
from atom.datasets.pyramids.actions.making import PicturePlace, ask_for_pyramids
from atom.labeling.engines.picture_size import (
    HEAD_BYTES,
    SHORT_HEAD_BYTES,
    is_tiled,
    upright_size,
)
from atom.labeling.models import WorkItem, WorkSlot
from atom.labeling.models.tasks import IMAGE_OBJECTS

log = structlog.get_logger(__name__)

_AT_ONCE = 8


def know_sizes(slots: Sequence[WorkSlot]) -> None:
    """Fill in the width and height of the slots' items, once for each item.

    A picture at its source, or one whose first bytes do not tell, stays without: then the size
    that its first document names counts. Pictures that are shown by tiles have these made.
    """
    _measure(slots)
    tiled: dict[UUID, list[PicturePlace]] = {}
    for slot in slots:
        if slot.work_item.tiled and "pack" in slot.work_item.media:
            places = tiled.setdefault(slot.label_task.project_id, [])
            places.append(place_of(slot.work_item))
    for project_id, places in tiled.items():
        ask_for_pyramids(project_id, places)


def place_of(item: WorkItem) -> PicturePlace:
    """Return where the bytes of an item that lies in a pack are."""
    media = item.media
    return PicturePlace(item.digest, media["pack"], int(media["offset"]), int(media["size_bytes"]))


def _measure(slots: Sequence[WorkSlot]) -> None:
    unknown = [slot for slot in slots if _is_unknown(slot)]
    if not unknown:
        return
    # Slots of one project share its prefix, so that their number costs no queries.
    prefixes: dict[UUID, str] = {}
    for slot in unknown:
        task = slot.label_task
        if task.project_id not in prefixes:
            prefixes[task.project_id] = storage.project_prefix(task.project)
    items = [(slot.work_item, prefixes[slot.label_task.project_id]) for slot in unknown]
    with ThreadPoolExecutor(min(_AT_ONCE, len(items))) as pool:
        sizes = list(pool.map(lambda each: _size(*each), items))
    measured = []
    for (item, _), facts in zip(items, sizes, strict=True):
        if facts is not None:
            size, item.tiled = facts
            item.width, item.height = size
            measured.append(item)
    WorkItem.objects.bulk_update(measured, ["width", "height", "tiled"])


def _is_unknown(slot: WorkSlot) -> bool:
    item = slot.work_item
    is_drawn_on = slot.label_task.modality == IMAGE_OBJECTS
    return is_drawn_on and (item.width is None or item.tiled is None) and "pack" in item.media


def _size(item: WorkItem, prefix: str) -> tuple[tuple[int, int], bool] | None:
    """Return the size, and whether tiles show the picture."""
    size_bytes = int(item.media["size_bytes"])
    for most in (SHORT_HEAD_BYTES, HEAD_BYTES):
        head = _head(item, prefix, min(size_bytes, most))
        size = upright_size(head) if head else None
        if size is not None:
            return size, is_tiled(head, size, settings.ATOM_WHOLE_PICTURE_PIXELS)
        if size_bytes <= most:
            return None
    return None


def _head(item: WorkItem, prefix: str, length: int) -> bytes:
    start = int(item.media["offset"])
    try:
        key = prefix + pack_key(item.media["pack"])
        return storage.objects().get_range(key, start, start + length)
    except AtomError as error:
        log.warning("picture_size_unread", item=str(item.pk), code=error.code)
        return b""
