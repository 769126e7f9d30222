"""The size of pictures, read from their first bytes when somebody is about to see them."""

from __future__ import annotations

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor

import structlog

from atom.core import storage
from atom.core.errors import AtomError
from atom.datasets.keys import pack_key
from atom.labeling.engines.picture_size import HEAD_BYTES, SHORT_HEAD_BYTES, upright_size
from atom.labeling.models import WorkItem, WorkSlot
from atom.labeling.models.tasks import IMAGE_OBJECTS

log = structlog.get_logger(__name__)

_AT_ONCE = 8


def know_sizes(slots: Sequence[WorkSlot]) -> None:
    """Fill in the width and height of the slots' items, once for each item.

    A picture at its source, or one whose first bytes do not tell, stays without: then the size
    that its first document names counts.
    """
    items = [slot.work_item for slot in slots if slot.label_task.modality == IMAGE_OBJECTS]
    prefixes = {s.work_item_id: storage.project_prefix(s.label_task.project) for s in slots}
    unknown = [item for item in items if item.width is None and "pack" in item.media]
    if not unknown:
        return
    with ThreadPoolExecutor(min(_AT_ONCE, len(unknown))) as pool:
        sizes = list(pool.map(lambda item: _size(item, prefixes[item.pk]), unknown))
    measured = []
    for item, size in zip(unknown, sizes, strict=True):
        if size is not None:
            item.width, item.height = size
            measured.append(item)
    WorkItem.objects.bulk_update(measured, ["width", "height"])


def _size(item: WorkItem, prefix: str) -> tuple[int, int] | None:
    size_bytes = int(item.media["size_bytes"])
    for most in (SHORT_HEAD_BYTES, HEAD_BYTES):
        head = _head(item, prefix, min(size_bytes, most))
        size = upright_size(head) if head else None
        if size is not None or size_bytes <= most:
            return size
    return None


def _head(item: WorkItem, prefix: str, length: int) -> bytes:
    start = int(item.media["offset"])
    try:
        key = prefix + pack_key(item.media["pack"])
        return storage.objects().get_range(key, start, start + length)
    except AtomError as error:
        log.warning("picture_size_unread", item=str(item.pk), code=error.code)
        return b""
