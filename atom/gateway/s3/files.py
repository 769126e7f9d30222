"""The files of one version, found by path: what S3 sees of a manifest."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Protocol

import pyarrow as pa

from atom.gateway.s3.xml import unescaped
from atom_sdk.manifests.pins import Pin
from atom_sdk.manifests.roots.roots import RangeRef, Root


class RangeSource(Protocol):
    """Gives decoded, cached ranges of one project."""

    def files(self, root: Root, part: RangeRef) -> pa.Table:
        """Return the files of a range, sorted by path; a link is the file that it leads to."""


@dataclass(frozen=True, slots=True)
class StoredFile:
    """One file: its size and digest, and where its bytes lie: in a pack or, pinned, at a source."""

    path: str
    size_bytes: int
    digest: bytes | None
    media_type: str | None
    pack: bytes | None
    offset: int
    pin: Pin | None = None

    @property
    def etag(self) -> str:
        """Return a strong validator: the BLAKE3 of the content, which S3 tools take as opaque.

        With its 64 digits no tool mistakes it for an MD5.
        """
        identity = self.digest or (self.pack or b"") + self.offset.to_bytes(8, "big")
        return f'"{identity.hex()}"'


class Rows:
    """The rows of one range in path order."""

    def __init__(self, table: pa.Table) -> None:
        self._table = table
        self.paths: list[str] = table.column("path").to_pylist()

    def first_at_or_after(self, path: str, low: int = 0) -> int:
        """Return the first row, from `low` on, whose path is not before `path`."""
        return bisect_left(self.paths, path, lo=low)

    def file(self, row: int) -> StoredFile:
        """Return one row."""
        values = self._table.slice(row, 1).to_pylist()[0]
        return StoredFile(
            path=values["path"],
            size_bytes=values["size"],
            digest=values["digest"],
            media_type=values["media_type"],
            pack=values["pack"],
            offset=values["offset"] or 0,
            pin=_pin_of(values),
        )


def _pin_of(values: Mapping[str, Any]) -> Pin | None:
    if values["source"] is None:
        return None
    state = (values["version_id"], values["etag"], values["mtime"])
    return Pin(values["source"], values["key"], values["size"], *state)


class VersionFiles:
    """Read access to the entries of one version. Cheap to make; the source keeps the ranges."""

    def __init__(self, root: Root, source: RangeSource) -> None:
        self._root = root
        self._ranges = root.ranges
        self._starts = [part.min for part in root.ranges]
        self._source = source

    def find(self, path: str) -> StoredFile | None:
        """Return the file at a path, or None."""
        index = bisect_right(self._starts, path) - 1
        if index < 0 or self._ranges[index].max < path:
            return None
        table = self._source.files(self._root, self._ranges[index])
        column = table.column("path")
        row = bisect_left(range(len(column)), path, key=lambda at: column[at].as_py())
        if row == len(column) or column[row].as_py() != path:
            return None
        # Without decoding the paths of the other rows.
        return Rows(table.slice(row, 1)).file(0)

    def stored_path(self, shown: str) -> str:
        """Return the path, or beginning of paths, that a listing may have shown as `shown`.

        A name that is stored as it was shown comes first.
        """
        rows = None if unescaped(shown) == shown else self.rows_from(shown)
        if rows is None:
            return unescaped(shown)
        at = rows.first_at_or_after(shown)
        return shown if rows.paths[at].startswith(shown) else unescaped(shown)

    def rows_from(self, path: str) -> Rows | None:
        """Return the first range that holds `path` or something after it; None past the end."""
        index = max(bisect_right(self._starts, path) - 1, 0)
        for part in self._ranges[index:]:
            if part.max < path:
                continue
            rows = Rows(self._source.files(self._root, part))
            # The last entry of a range may be a link that is not shown.
            if rows.paths and rows.paths[-1] >= path:
                return rows
        return None
