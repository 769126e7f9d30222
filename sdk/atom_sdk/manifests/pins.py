"""Pins: which state of an object at its source an entry means. Format: README.md.

A registered object is not read, so its entry's digest cannot be that of its bytes. It is the digest
of the pin instead. An object that changes gets another digest, hence another content digest of the
version, and labels that were made for the old bytes no longer apply.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from blake3 import blake3

from atom_sdk.manifests.entries import Entry

_PIN_DOMAIN = b"atom-pin/1\n"
_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)


class Pin(NamedTuple):
    """One state of one object; `source` is an id, `size` in bytes, `mtime` aware.

    Stores that keep old states give a `version_id`; for the others etag, size and mtime identify a
    state.
    """

    source: str
    key: str
    size: int
    version_id: str | None = None
    etag: str | None = None
    mtime: datetime | None = None

    @property
    def mtime_us(self) -> int | None:
        """Microseconds since 1970, UTC."""
        if self.mtime is None:
            return None
        passed = self.mtime - _EPOCH
        return (passed.days * 86_400 + passed.seconds) * 1_000_000 + passed.microseconds

    @property
    def digest(self) -> bytes:
        """The digest of the object's entry, 32 bytes; it stands for the bytes."""
        parts = [self.source, self.key, str(self.size)]
        if self.version_id is not None:
            parts += ["version", self.version_id]
        else:
            mtime = "" if self.mtime_us is None else str(self.mtime_us)
            parts += ["state", self.etag or "", mtime]
        # With their lengths, so that no two lists of parts give the same bytes.
        encoded = [part.encode("utf-8", "surrogateescape") for part in parts]
        framed = b"".join(b"%d:%b" % (len(part), part) for part in encoded)
        return blake3(_PIN_DOMAIN + framed).digest()


def from_us(mtime_us: int) -> datetime:
    """The time so many microseconds after 1970, UTC."""
    return _EPOCH + timedelta(microseconds=mtime_us)


def pin_of(entry: Entry) -> Pin | None:
    """The pin of an entry whose bytes are at a source, None for one in a pack."""
    if entry.source is None or entry.key is None:
        return None
    return Pin(entry.source, entry.key, entry.size, entry.version_id, entry.etag, entry.mtime)


def pinned_entry(path: str, pin: Pin, media_type: str | None) -> Entry:
    """The entry of an object that stays at its source."""
    return Entry(
        path=path,
        size=pin.size,
        digest=pin.digest,
        media_type=media_type,
        source=pin.source,
        key=pin.key,
        version_id=pin.version_id,
        etag=pin.etag,
        mtime=pin.mtime,
    )
