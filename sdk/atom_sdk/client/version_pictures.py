"""Sizes of a version's pictures, from files beside the labels or from their first bytes there."""

from __future__ import annotations

import io
from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc

from atom_sdk.client.config import Config
from atom_sdk.client.errors import ApiError, PackUnreadableError
from atom_sdk.client.transport.pack_urls import PackUrls
from atom_sdk.client.transport.ranges import PackRanges, Patience
from atom_sdk.importers.lookup import Pictures
from atom_sdk.importers.names import NameRefusedError
from atom_sdk.importers.trees import Tree
from atom_sdk.label_formats.picture_sizes import KnownSides, Sides, Size, sides_of

_AT_ONCE = 16
_AHEAD = 16
# Most headers are short; EXIF with a preview needs more.
_HEADS_BYTES = (16 << 10, 128 << 10, 1 << 20)


class VersionPictures:
    """Pictures of a version by path, with sides that are read once, when they are asked for."""

    def __init__(self, config: Config, version_base: str, pictures: pa.Table, beside: Tree) -> None:
        """`pictures` are in path order, as `picture_table` gives them."""
        self._pictures = pictures
        self.paths: list[str] = pictures["path"].to_pylist()
        self._beside = beside
        self._names = Pictures(beside.images())
        packs = pc.unique(pictures["pack"].drop_null()).to_pylist()
        self._ranges = PackRanges(PackUrls(config, version_base, packs), Patience(tries=3))
        self._sides = KnownSides(len(self.paths))

    def close(self) -> None:
        """Close the connections."""
        self._ranges.close()

    def size(self, path: str) -> Size | None:
        """Return width and height as people see the picture, None where its bytes do not tell.

        Raises NetworkError.
        """
        sides = self._sides_of(path)
        return sides and sides.size

    def orientation(self, path: str) -> int:
        """Return EXIF's number of how a picture is turned, 1 where its bytes do not tell."""
        sides = self._sides_of(path)
        return sides.orientation if sides else 1

    def _sides_of(self, path: str) -> Sides | None:
        row = bisect_left(self.paths, path)
        if self._sides.unread(row, 1):
            sides = self._sides_beside(path)
            if sides is not None:
                self._sides.put(row, sides)
            else:
                self._read_from(row)
        return self._sides.get(row)

    def _sides_beside(self, path: str) -> Sides | None:
        try:
            name = self._names.find(path, counts=False)
        except NameRefusedError:
            return None
        if name is None:
            return None
        with self._beside.files[name].open() as stream:
            return sides_of(stream)

    def _read_from(self, row: int) -> None:
        """Read a picture, and those after it: labels mostly come in path order."""
        rows = self._sides.unread(row, _AHEAD)
        with ThreadPoolExecutor(_AT_ONCE) as pool:
            read = list(pool.map(self._read, self._pictures.take(rows).to_pylist()))
        for one, sides in zip(rows, read, strict=True):
            self._sides.put(one, sides)

    def _read(self, row: dict[str, Any]) -> Sides | None:
        # A file that stays at its source is in no pack.
        if row["pack"] is None:
            return None
        for most in _HEADS_BYTES:
            length = min(row["size"], most)
            try:
                head = self._ranges.read(row["pack"], row["offset"], length).data
            except (ApiError, PackUnreadableError):
                return None
            sides = sides_of(io.BytesIO(head))
            if sides is not None or row["size"] <= most:
                return sides
        return None
