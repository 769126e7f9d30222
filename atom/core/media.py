"""Addresses of bytes: signed paths that the gateway serves without asking the database."""

from __future__ import annotations

import time
from collections.abc import Mapping
from urllib.parse import quote

from atom.core import crypto

PURPOSE = "media"
PART_PURPOSE = "upload-part"
TILES_PURPOSE = "tiles"
PART_EXPIRES_S = 3600
_DAY_S = 86_400


def media_url(  # noqa: PLR0913  # what a token must carry
    key: str,
    offset: int,
    size_bytes: int,
    media_type: str,
    *,
    digest: str,
    name: str,
    width: int = 0,
    download: bool = False,
    pin: Mapping[str, str | int | None] | None = None,
) -> str:
    """Return the same-origin path of `size_bytes` bytes at `offset` of the object `key`.

    `pin` says which state is meant of an object that is not in our store: `source`, `version_id`,
    `etag`, `mtime_us`; `key` is its key there. `width` > 0 asks for a thumbnail that wide, in
    pixels.
    The path is valid for one to two days and stays the same all day, so that browsers cache it.
    """
    payload: dict[str, object] = {
        "k": key,
        "o": offset,
        "n": size_bytes,
        "t": media_type,
        "d": digest[:16],
        "e": int(time.time()) // _DAY_S + 2,
        "w": width,
        "dl": int(download),
    }
    if pin is not None:
        payload["p"] = [pin["source"], pin["version_id"], pin["etag"], pin["mtime_us"]]
    return f"/media/{crypto.sign(payload, PURPOSE)}/{quote(name.rsplit('/', 1)[-1], safe='')}"


def part_url(key: str, upload_id: str, number: int, size_bytes: int) -> str:
    """Return the same-origin path to PUT part `number` of a multipart upload to, for an hour.

    Whoever has it can write these bytes of this upload, and nothing else.
    """
    payload = {
        "k": key,
        "u": upload_id,
        "p": number,
        "n": size_bytes,
        "e": int(time.time()) + PART_EXPIRES_S,
    }
    return f"/media/parts/{crypto.sign(payload, PART_PURPOSE)}"


def tiles_url(key: str, size_bytes: int) -> str:
    """Return the same-origin path of the tiles of the pyramid `key`, with {level}, {x} and {y}.

    It is valid as long as the address of the picture.
    """
    payload = {"k": key, "n": size_bytes, "e": int(time.time()) // _DAY_S + 2}
    return f"/media/tiles/{crypto.sign(payload, TILES_PURPOSE)}/{{level}}/{{x}}_{{y}}"
