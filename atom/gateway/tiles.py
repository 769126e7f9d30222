"""Serving tiles: each is a range of the one object that holds a picture's pyramid."""

from __future__ import annotations

import re
import threading
import zipfile
from collections import OrderedDict
from collections.abc import Mapping
from concurrent.futures import ThreadPoolExecutor
from typing import Final

from atom.core.parquet.ranged_file import RangedFile
from atom.core.storage import ObjectMissing, ObjectStorage
from atom.gateway.errors import Overloaded, TileMissing
from atom.gateway.links import TilesLink
from atom.gateway.responses import Answer
from atom.gateway.threads import run_in

_READERS: Final = 16
_MAX_WAITING: Final = 512
# An index of 250 megapixels has 1,300 entries.
_KEPT_INDEXES: Final = 32
_TAIL_BYTES: Final = 256 << 10
_LOCAL_HEADER_BYTES: Final = 30
# The extra fields of a local header are not in the index; libvips writes a few bytes.
_SPARE_BYTES: Final = 256
_NAME = re.compile(r".*_files/(\d+)/(\d+)_(\d+)\.(jpg|png)$")
_TYPES: Final = {"jpg": "image/jpeg", "png": "image/png"}
_PLACE = re.compile(r"\d{1,2}/\d{1,5}_\d{1,5}")
_HEADERS: Final = {
    "cache-control": "private, max-age=86400, immutable",
    "x-content-type-options": "nosniff",
    "content-security-policy": "default-src 'none'; sandbox",
    "cross-origin-resource-policy": "same-origin",
}

# By `<level>/<x>_<y>`: where the tile's entry begins, its bytes, the length of its name, its type.
Index = dict[str, tuple[int, int, int, str]]


class TileServer:
    """Turns links and places into tiles. One per process."""

    def __init__(self, objects: ObjectStorage) -> None:
        """Threads are started when they are first needed."""
        self._objects = objects
        self._readers = ThreadPoolExecutor(_READERS, "tiles-read")
        self._indexes: OrderedDict[TilesLink, Index] = OrderedDict()
        self._lock = threading.Lock()
        self._in_progress = 0

    async def answer(
        self, link: TilesLink, level: str, place: str, headers: Mapping[str, str]
    ) -> Answer:
        """Return one tile. Raises TileMissing or Overloaded."""
        name = f"{level}/{place}"
        if not _PLACE.fullmatch(name):
            raise TileMissing
        # The key holds the picture's digest: a tile never changes under its address.
        etag = f'"{link.key.rsplit("/", 1)[-1][:16]}-{level}-{place}"'
        if headers.get("if-none-match", "") == etag:
            return Answer(304, {"etag": etag, **_HEADERS})
        if self._in_progress >= _MAX_WAITING:
            raise Overloaded(headers={"Retry-After": "1"})
        self._in_progress += 1
        try:
            data, media_type = await run_in(self._readers, lambda: self._read(link, name))
        finally:
            self._in_progress -= 1
        return Answer(200, {"content-type": media_type, "etag": etag, **_HEADERS}, data)

    def close(self) -> None:
        """Stop the threads."""
        self._readers.shutdown(wait=False, cancel_futures=True)

    def _read(self, link: TilesLink, name: str) -> tuple[bytes, str]:
        try:
            entry = self._index(link).get(name)
            if entry is None:
                raise TileMissing
            start, size, name_bytes, ending = entry
            most = _LOCAL_HEADER_BYTES + name_bytes + _SPARE_BYTES + size
            part = self._objects.get_range(link.key, start, min(start + most, link.size_bytes))
        except ObjectMissing as exc:
            raise TileMissing from exc
        lengths = [int.from_bytes(part[at : at + 2], "little") for at in (26, 28)]
        begin = _LOCAL_HEADER_BYTES + sum(lengths)
        return part[begin : begin + size], _TYPES[ending]

    def _index(self, link: TilesLink) -> Index:
        with self._lock:
            if link in self._indexes:
                self._indexes.move_to_end(link)
                return self._indexes[link]
        index = self._read_index(link)
        with self._lock:
            self._indexes[link] = index
            while len(self._indexes) > _KEPT_INDEXES:
                self._indexes.popitem(last=False)
        return index

    def _read_index(self, link: TilesLink) -> Index:
        """Return the places of all tiles; the end of the object is read once, with the index."""
        begin = max(link.size_bytes - _TAIL_BYTES, 0)
        tail = self._objects.get_range(link.key, begin, link.size_bytes)

        def read(start: int, end: int) -> bytes:
            if start >= begin:
                return tail[start - begin : end - begin]
            return self._objects.get_range(link.key, start, end)

        index: Index = {}
        with zipfile.ZipFile(RangedFile(read, link.size_bytes)) as pyramid:
            for entry in pyramid.infolist():
                match = _NAME.match(entry.filename)
                if match is None or entry.compress_type != zipfile.ZIP_STORED:
                    continue
                level, x, y, ending = match.groups()
                name_bytes = len(entry.filename.encode())
                place = (entry.header_offset, entry.file_size, name_bytes, ending)
                index[f"{level}/{x}_{y}"] = place
        return index
