"""Addresses of an item's picture."""

from __future__ import annotations

from functools import partial
from uuid import UUID

from atom.core.media import media_url
from atom.datasets.keys import pack_key
from atom.labeling.models import WorkItem

THUMB_WIDTH_PX = 256


def item_urls(project_id: UUID, item: WorkItem) -> dict[str, str]:
    """Return `media_url` and `thumb_url` of the item's bytes, in its pack or at their source."""
    media = item.media
    pin = media.get("pin")
    # The prefix of `atom.core.storage.project_prefix`, from the id alone.
    key = media["key"] if pin else f"p/{project_id}/{pack_key(media['pack'])}"
    address = partial(
        media_url,
        key,
        media.get("offset", 0),
        media["size_bytes"],
        media["media_type"],
        digest=item.digest,
        name=item.path,
        pin=pin,
    )
    return {"media_url": address(), "thumb_url": address(width=THUMB_WIDTH_PX)}
