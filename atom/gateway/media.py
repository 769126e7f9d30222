"""Serving one media link: conditional requests, ranges, thumbnails, bounded concurrency."""

from __future__ import annotations

from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor

from blake3 import blake3

from atom.gateway.budgets import ByteBudget
from atom.gateway.errors import ImageTooLarge, ImageUnreadable, Overloaded
from atom.gateway.links import MediaLink
from atom.gateway.ranges import parse_range
from atom.gateway.responses import Answer
from atom.gateway.sources import CHUNK_BYTES, MediaSource
from atom.gateway.threads import begun, run_in
from atom.gateway.thumb_cache import ThumbCache
from atom.gateway.thumbnails import MAX_SOURCE_BYTES, make_thumbnail

_READERS = 32
_DECODERS = 2
# Increase it when thumbnails of the same bytes change, so that cached ones are not used.
_DRAWN_AS = 2
_MAX_WAITING = 512
# Less keeps two decoders busy; a single picture takes at most a quarter.
_ORIGINALS_BYTES = 4 * MAX_SOURCE_BYTES
# The cache's mark for a file without a thumbnail; its bytes are the error's code.
_NO_PICTURE = "application/x-no-picture"
_SAFETY = {
    "cache-control": "private, max-age=86400, immutable",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
}


class MediaServer:
    """Turns links into answers. One per process."""

    def __init__(
        self, source: MediaSource, thumbs: ThumbCache, originals_bytes: int = _ORIGINALS_BYTES
    ) -> None:
        """Threads are started when they are first needed.

        At most `originals_bytes` of the originals of thumbnails are in memory at once.
        """
        self._source = source
        self._thumbs = thumbs
        self._readers = ThreadPoolExecutor(_READERS, "media-read")
        self._decoders = ThreadPoolExecutor(_DECODERS, "media-decode")
        self._originals = ByteBudget(originals_bytes)
        self._in_progress = 0

    async def answer(self, link: MediaLink, headers: Mapping[str, str]) -> Answer:
        """Return the answer for a link. Raises one of the gateway's errors."""
        if _matches(headers.get("if-none-match", ""), link.etag):
            return Answer(304, {"etag": link.etag, **_SAFETY})
        self._admit()
        try:
            if link.width:
                return await self._thumbnail(link)
            return await self._bytes(link, headers)
        finally:
            self._in_progress -= 1

    def close(self) -> None:
        """Stop the threads."""
        self._readers.shutdown(wait=False, cancel_futures=True)
        self._decoders.shutdown(wait=False, cancel_futures=True)

    def _admit(self) -> None:
        if self._in_progress >= _MAX_WAITING:
            raise Overloaded(headers={"Retry-After": "1"})
        self._in_progress += 1

    async def _thumbnail(self, link: MediaLink) -> Answer:
        drawn = f"{_DRAWN_AS}\n{link.key}\n{link.offset}\n{link.etag}"
        key = blake3(drawn.encode()).hexdigest()
        kept = await run_in(self._readers, lambda: self._thumbs.get(key))
        if kept is None:
            kept = await self._drawn_or_refused(link, key)
        data, media_type = kept
        if media_type == _NO_PICTURE:
            # A 204 fires the error event of an <img>, without an error in the browser's console.
            return Answer(204, {"atom-problem": data.decode(), "etag": link.etag, **_SAFETY})
        return Answer(200, {"content-type": media_type, "etag": link.etag, **_SAFETY}, data)

    async def _drawn_or_refused(self, link: MediaLink, key: str) -> tuple[bytes, str]:
        """Return a thumbnail, or why there is none; both are kept, so neither is made twice."""
        try:
            return await self._make_thumbnail(link, key)
        except (ImageTooLarge, ImageUnreadable) as error:
            code = error.code.encode()
            await run_in(self._readers, lambda: self._thumbs.put(key, code, _NO_PICTURE))
            return code, _NO_PICTURE

    async def _make_thumbnail(self, link: MediaLink, key: str) -> tuple[bytes, str]:
        if link.size_bytes > MAX_SOURCE_BYTES:
            raise ImageTooLarge
        # Reading is faster than decoding, so the pictures in between need a limit.
        async with self._originals.lent(link.size_bytes):
            picture, media_type = await self._decoded(link)
        await run_in(self._readers, lambda: self._thumbs.put(key, picture, media_type))
        return picture, media_type

    async def _decoded(self, link: MediaLink) -> tuple[bytes, str]:
        data = await run_in(self._readers, lambda: self._source.whole(link))
        return await run_in(self._decoders, lambda: make_thumbnail(data, link.width))

    async def _bytes(self, link: MediaLink, headers: Mapping[str, str]) -> Answer:
        wanted = None
        if headers.get("if-range", link.etag) == link.etag:
            wanted = parse_range(headers.get("range", ""), link.size_bytes)
        common = {
            "content-type": link.content_type,
            "content-disposition": link.disposition,
            "accept-ranges": "bytes",
            "etag": link.etag,
            **_SAFETY,
        }
        if wanted is None and link.size_bytes <= CHUNK_BYTES:
            data = await run_in(self._readers, lambda: self._source.whole(link))
            return Answer(200, common, data)
        start, end = (wanted.start, wanted.end) if wanted else (0, link.size_bytes)
        common["content-length"] = str(end - start)
        if wanted:
            common["content-range"] = f"bytes {start}-{end - 1}/{link.size_bytes}"
        chunks = self._source.pieces(link, start, end)
        pieces = await begun(self._readers, chunks)
        return Answer(206 if wanted else 200, common, pieces=pieces)


def _matches(header: str, etag: str) -> bool:
    return header.strip() == "*" or etag in {
        tag.strip().removeprefix("W/") for tag in header.split(",")
    }
