"""HeadObject and GetObject: conditions, ranges, and bytes that are checked while they are sent."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.utils import format_datetime, parsedate_to_datetime

import structlog
from blake3 import blake3

from atom.datasets.keys import pack_key
from atom.gateway.errors import RangeNotSatisfiable
from atom.gateway.ranges import ByteRange, parse_range
from atom.gateway.s3.errors import (
    ArgumentInvalid,
    ObjectDamaged,
    ObjectUnavailable,
    PartUnknown,
    PreconditionFailed,
    RangeInvalid,
)
from atom.gateway.s3.files import StoredFile
from atom.gateway.s3.requests import S3Request
from atom.gateway.sources import MediaSource

log = structlog.get_logger(__name__)

# RFC 9110, section 8.3.1: two tokens, and parameters whose values are tokens or quoted.
_TOKEN = r"[A-Za-z0-9!#$%&'*+.^_`|~-]+"
_QUOTED = r'"[ !#-\[\]-~]*"'
_MEDIA_TYPE = re.compile(rf"{_TOKEN}/{_TOKEN}(?: ?; ?{_TOKEN}=(?:{_TOKEN}|{_QUOTED}))*")
_TYPE_CHARS = 255
# Headers of the answer that a signed read may replace, as with S3.
_OVERRIDES = (
    "cache-control",
    "content-disposition",
    "content-encoding",
    "content-language",
    "content-type",
    "expires",
)
_OVERRIDE_CHARS = 1024
# Visible ASCII and spaces: no line break begins another header.
_HEADER_VALUE = re.compile(r"[ -~]*")
# As `MediaServer` does: what comes from a dataset must not run as a page of ours.
_SAFETY = {
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
}


@dataclass(frozen=True)
class FoundObject:
    """A file of a version, and where its project begins in the bucket."""

    file: StoredFile
    modified_at: datetime
    store_prefix: str

    @property
    def headers(self) -> dict[str, str]:
        """Return what GET and HEAD both say."""
        file = self.file
        # The bytes of a file at its source are unread: its digest is that of its pin.
        known = file.digest if file.pin is None else None
        digest = {"x-amz-meta-atom-digest": known.hex()} if known else {}
        return {
            "etag": file.etag,
            "last-modified": format_datetime(self.modified_at.astimezone(UTC), usegmt=True),
            "accept-ranges": "bytes",
            "content-type": _content_type(file.media_type),
            **digest,
            **_SAFETY,
        }


@dataclass(frozen=True)
class ObjectAnswer:
    """A status and headers; `span` is what to send, None for no body."""

    status: int
    headers: Mapping[str, str]
    span: ByteRange | None = None


def answer_object(request: S3Request, found: FoundObject) -> ObjectAnswer:
    """Return what to answer.

    Raises PreconditionFailed, RangeInvalid, PartUnknown, or ArgumentInvalid for a header that
    cannot be replaced.
    """
    size_bytes = found.file.size_bytes
    if _is_unchanged(request.headers, found):
        return ObjectAnswer(304, {"etag": found.file.etag})
    wanted = _range(request, found)
    span = wanted or ByteRange(0, size_bytes)
    headers = {**found.headers, **_overrides(request), "content-length": str(span.size_bytes)}
    if wanted:
        headers["content-range"] = f"bytes {span.start}-{span.end - 1}/{size_bytes}"
    part = request.parameter("partNumber")
    if part not in {"", "1"}:
        raise PartUnknown
    if part:
        headers["x-amz-mp-parts-count"] = "1"
    return ObjectAnswer(206 if wanted or part else 200, headers, span)


def read_object(source: MediaSource, found: FoundObject, span: ByteRange) -> Iterator[bytes]:
    """Yield the bytes; a whole file is checked, and its last piece held back until it is good.

    Raises ObjectUnavailable, ObjectDamaged, or what the source raises.
    """
    file = found.file
    if file.pin is not None:
        return source.registered(file.pin, span.start, span.end)
    if file.pack is None:
        raise ObjectUnavailable("The bytes of this file lie in no pack.")
    key = found.store_prefix + pack_key(file.pack.hex())
    pieces = source.chunks(key, file.offset + span.start, file.offset + span.end)
    is_whole = span.size_bytes == file.size_bytes
    return _checked(pieces, file) if is_whole and file.digest else pieces


def _overrides(request: S3Request) -> dict[str, str]:
    """Return the headers that `response-…` parameters replace; every request here is signed.

    Raises ArgumentInvalid. The headers that keep a page of a dataset from running as one of ours
    stay, whatever the type.
    """
    replaced = {}
    for header in _OVERRIDES:
        value = request.parameter(f"response-{header}")
        if not value:
            continue
        is_type = header != "content-type" or _MEDIA_TYPE.fullmatch(value)
        if len(value) > _OVERRIDE_CHARS or not _HEADER_VALUE.fullmatch(value) or not is_type:
            raise ArgumentInvalid(f"response-{header} is not a value that the header can have.")
        replaced[header] = value
    return replaced


def _content_type(given: str | None) -> str:
    """Return the pushed media type if it is valid: a push may give any text."""
    is_type = given is not None and len(given) <= _TYPE_CHARS and _MEDIA_TYPE.fullmatch(given)
    return given if given is not None and is_type else "application/octet-stream"


def _checked(pieces: Iterator[bytes], file: StoredFile) -> Iterator[bytes]:
    hasher = blake3()
    held = b""
    for piece in pieces:
        if held:
            yield held
        hasher.update(piece)
        held = piece
    if hasher.digest() != file.digest:
        pack = file.pack.hex() if file.pack else ""
        log.error("pack_damaged", pack=pack, offset=file.offset, size_bytes=file.size_bytes)
        raise ObjectDamaged(f"The pack {pack} is damaged at byte {file.offset}.", pack=pack)
    if held:
        yield held


def _range(request: S3Request, found: FoundObject) -> ByteRange | None:
    if request.headers.get("if-range", found.file.etag) != found.file.etag:
        return None
    try:
        return parse_range(request.headers.get("range", ""), found.file.size_bytes)
    except RangeNotSatisfiable as exc:
        raise RangeInvalid(exc.detail, headers=exc.headers) from exc


def _is_unchanged(headers: Mapping[str, str], found: FoundObject) -> bool:
    """Apply the conditions in the order of RFC 9110, section 13.2.2. Raises PreconditionFailed."""
    etag = found.file.etag
    if "if-match" in headers:
        if not _names(headers["if-match"], etag):
            raise PreconditionFailed
    elif (limit := _time(headers, "if-unmodified-since")) and _modified(found) > limit:
        raise PreconditionFailed
    if "if-none-match" in headers:
        return _names(headers["if-none-match"], etag)
    since = _time(headers, "if-modified-since")
    return since is not None and _modified(found) <= since


def _names(header: str, etag: str) -> bool:
    tags = {tag.strip().removeprefix("W/").strip('"') for tag in header.split(",")}
    return header.strip() == "*" or etag.strip('"') in tags


def _modified(found: FoundObject) -> datetime:
    return found.modified_at.astimezone(UTC).replace(microsecond=0)


def _time(headers: Mapping[str, str], name: str) -> datetime | None:
    """Return the time of a header; one that cannot be read is ignored, as the RFC says."""
    try:
        found = parsedate_to_datetime(headers[name])
    except (KeyError, ValueError, OverflowError):
        return None
    return found if found.tzinfo else found.replace(tzinfo=UTC)
