"""Sizes of a version's pictures, where labels do not name them: read from their first bytes."""

from __future__ import annotations

from bisect import bisect_left
from concurrent.futures import ThreadPoolExecutor

import pyarrow as pa
import structlog

from atom.accounts.models import Project
from atom.core import storage
from atom.core.errors import AtomError
from atom.datasets.keys import pack_key
from atom.labeling.engines.picture_size import HEAD_BYTES, SHORT_HEAD_BYTES, sides_of
from atom_sdk.label_formats.picture_sizes import KnownSides, Sides

log = structlog.get_logger(__name__)

_AT_ONCE = 16
_AHEAD = 32


class VersionPictures:
    """Pictures of a version by path: their digests, and their sizes when these are asked for."""

    def __init__(self, project: Project, pictures: pa.Table) -> None:
        """`pictures` are in path order, as `picture_table` gives them."""
        self._prefix = storage.project_prefix(project)
        self._pictures = pictures
        self.paths: list[str] = pictures["path"].to_pylist()
        self._digests = pictures["digest"].combine_chunks()
        self._sides = KnownSides(len(self.paths))

    def digest(self, path: str) -> bytes:
        """Return the digest of a picture."""
        digest: bytes = self._digests[bisect_left(self.paths, path)].as_py()
        return digest

    def size(self, path: str) -> tuple[int, int] | None:
        """Return width and height of a picture, None where its bytes do not tell or are elsewhere.

        They are those of the picture as people see it.
        """
        sides = self._sides_of(path)
        return sides and sides.size

    def orientation(self, path: str) -> int:
        """Return EXIF's number of how a picture is turned, 1 where its bytes do not tell."""
        sides = self._sides_of(path)
        return sides.orientation if sides else 1

    def _sides_of(self, path: str) -> Sides | None:
        """Return the sides of a picture.

        Those that follow it in path order are read along, since labels mostly come in that order.
        In any other order, too, each picture is read once.
        """
        row = bisect_left(self.paths, path)
        if rows := self._sides.unread(row, _AHEAD):
            with ThreadPoolExecutor(_AT_ONCE) as pool:
                read = list(pool.map(self._read, self._pictures.take(rows).to_pylist()))
            for one, sides in zip(rows, read, strict=True):
                self._sides.put(one, sides)
        return self._sides.get(row)

    def _read(self, row: dict[str, object]) -> Sides | None:
        pack, size_bytes, start = row["pack"], row["size"], row["offset"]
        if not (isinstance(pack, bytes) and isinstance(size_bytes, int) and isinstance(start, int)):
            return None
        key = self._prefix + pack_key(pack.hex())
        for most in (SHORT_HEAD_BYTES, HEAD_BYTES):
            try:
                head = storage.objects().get_range(key, start, start + min(size_bytes, most))
            except AtomError as error:
                log.warning("picture_size_unread", path=row["path"], code=error.code)
                return None
            sides = sides_of(head)
            if sides is not None or size_bytes <= most:
                return sides
        return None
