"""The pin of an object at a source as plain JSON, for its address."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom.core.media import media_url
from atom_sdk.manifests.pins import Pin


def media_pin(row: Mapping[str, Any]) -> dict[str, str | int | None]:
    """Return the `pin` of `atom.core.media.media_url` for an entry that is in no pack."""
    pin = Pin(row["source"], row["key"], row["size"], mtime=row["mtime"])
    return {
        "source": row["source"],
        "version_id": row["version_id"],
        "etag": row["etag"],
        "mtime_us": pin.mtime_us,
    }


def registered_url(row: Mapping[str, Any], media_type: str, width: int) -> str:
    """Return the address of an object that stays at its source, in the state that is pinned."""
    return media_url(
        row["key"],
        0,
        row["size"],
        media_type,
        digest=row["digest"].hex(),
        name=row["path"],
        width=width,
        pin=media_pin(row),
    )
