"""Media links: which bytes, how to show them or where to put them, and until when."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

from atom.core import crypto
from atom.core.media import PART_PURPOSE, PURPOSE, TILES_PURPOSE
from atom.gateway.errors import MediaLinkExpired, MediaLinkInvalid
from atom_sdk.manifests.pins import Pin, from_us

_DAY_S = 86_400
# Browsers may show these in place. SVG and HTML can carry scripts and are only downloaded.
_INLINE_TYPES = frozenset(
    {"image/png", "image/jpeg", "image/gif", "image/webp", "image/bmp", "image/avif"}
    | {"video/mp4", "video/webm", "audio/mpeg", "audio/ogg", "audio/wav", "text/plain"}
)
_SAFE_ATTACHMENT_TYPES = frozenset({"image/svg+xml", "application/pdf", "application/json"})


@dataclass(frozen=True)
class MediaLink:
    """Bytes `offset`..`offset + size_bytes` of the object `key`; `width` > 0: a thumbnail.

    With a `pin` the object is at a source, and must be in that state.
    """

    key: str
    offset: int
    size_bytes: int
    media_type: str
    digest: str
    width: int
    download: bool
    name: str
    pin: Pin | None = None

    @property
    def etag(self) -> str:
        """Return the strong validator: content never changes under a digest."""
        return f'"{self.digest}-w{self.width}"' if self.width else f'"{self.digest}"'

    @property
    def content_type(self) -> str:
        """Return the type to declare; anything a browser could run becomes opaque bytes."""
        if self.media_type == "text/plain":
            return "text/plain; charset=utf-8"
        known = self.media_type in _INLINE_TYPES | _SAFE_ATTACHMENT_TYPES
        return self.media_type if known else "application/octet-stream"

    @property
    def disposition(self) -> str:
        """Return the Content-Disposition header."""
        inline = self.media_type in _INLINE_TYPES and not self.download
        kind = "inline" if inline else "attachment"
        return f"{kind}; filename*=UTF-8''{quote(self.name, safe='')}"


def open_link(token: str, name: str) -> MediaLink:
    """Check a token. Raises MediaLinkInvalid or MediaLinkExpired."""
    try:
        payload = crypto.unsign(token, PURPOSE)
        link = MediaLink(
            key=str(payload["k"]),
            offset=int(payload["o"]),
            size_bytes=int(payload["n"]),
            media_type=str(payload["t"]),
            digest=str(payload["d"]),
            width=int(payload["w"]),
            download=bool(payload["dl"]),
            name=name,
            pin=_pin_of(payload),
        )
        expiry_day = int(payload["e"])
    except (crypto.BadSignature, KeyError, TypeError, ValueError) as exc:
        raise MediaLinkInvalid from exc
    if time.time() // _DAY_S >= expiry_day:
        raise MediaLinkExpired
    return link


@dataclass(frozen=True)
class PartLink:
    """Part `number`, of `size_bytes`, of the multipart upload `upload_id` of the object `key`."""

    key: str
    upload_id: str
    number: int
    size_bytes: int


def open_part_link(token: str) -> PartLink:
    """Check a token. Raises MediaLinkInvalid or MediaLinkExpired."""
    try:
        payload = crypto.unsign(token, PART_PURPOSE)
        link = PartLink(
            key=str(payload["k"]),
            upload_id=str(payload["u"]),
            number=int(payload["p"]),
            size_bytes=int(payload["n"]),
        )
        expires_at = int(payload["e"])
    except (crypto.BadSignature, KeyError, TypeError, ValueError) as exc:
        raise MediaLinkInvalid from exc
    if time.time() >= expires_at:
        raise MediaLinkExpired
    return link


@dataclass(frozen=True)
class TilesLink:
    """The pyramid of tiles that is the object `key`, of `size_bytes`."""

    key: str
    size_bytes: int


def open_tiles_link(token: str) -> TilesLink:
    """Check a token. Raises MediaLinkInvalid or MediaLinkExpired."""
    try:
        payload = crypto.unsign(token, TILES_PURPOSE)
        link = TilesLink(str(payload["k"]), int(payload["n"]))
        expiry_day = int(payload["e"])
    except (crypto.BadSignature, KeyError, TypeError, ValueError) as exc:
        raise MediaLinkInvalid from exc
    if time.time() // _DAY_S >= expiry_day:
        raise MediaLinkExpired
    return link


def _pin_of(payload: dict[str, Any]) -> Pin | None:
    if "p" not in payload:
        return None
    source, version_id, etag, mtime_us = payload["p"]
    mtime = None if mtime_us is None else from_us(int(mtime_us))
    return Pin(str(source), str(payload["k"]), int(payload["n"]), version_id, etag, mtime)
