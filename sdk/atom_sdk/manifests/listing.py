"""Looks entries up and lists them, reading only the ranges that the answer needs."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass

import pyarrow as pa

from atom_sdk.errors import PathNotFoundError
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.entries import Entry, table_entries
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.groups import range_position, ranges_from
from atom_sdk.manifests.roots.roots import RangeRef, Root

_CACHED_RANGES = 8


@dataclass(frozen=True, slots=True)
class _Rows:
    table: pa.Table
    paths: list[str]


@dataclass(frozen=True, slots=True)
class EntryPage:
    """Entries in path order; `cursor` is the `after` of the next page, None at the end."""

    entries: list[Entry]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class FolderPage:
    """Names directly below a folder, in path order.

    `folders` are full paths that end in a slash; `cursor` is the `after` of the next page, None at
    the end.
    """

    folders: list[str]
    entries: list[Entry]
    cursor: str | None


@dataclass(frozen=True, slots=True)
class PrefixTotals:
    """Number of entries and of bytes below a prefix."""

    count: int
    size_bytes: int


class Listing:
    """Read access to the entries of one root; keeps a few decoded ranges.

    Not for several threads at once.
    """

    def __init__(self, root: Root, store: ObjectStore) -> None:
        """Nothing is read until something is asked."""
        self.root = root
        self._store = store
        self._cache: OrderedDict[tuple[bytes, ...], _Rows] = OrderedDict()

    def lookup(self, path: str) -> Entry:
        """The entry with this path. Raises PathNotFoundError."""
        part = self.root.ranges[range_position(self.root.ranges, path)]
        if part.min <= path <= part.max:
            rows = self._rows(part)
            row = bisect_left(rows.paths, path)
            if row < len(rows.paths) and rows.paths[row] == path:
                return table_entries(rows.table.slice(row, 1))[0]
        raise PathNotFoundError(path)

    def entries(self, prefix: str = "", after: str = "", limit: int = 1000) -> EntryPage:
        """Up to `limit` entries whose paths start with `prefix` and come after `after`."""
        found: list[Entry] = []
        end = prefix_end(prefix)
        start = max(prefix, after)
        for rows in self._from(start):
            low = (
                bisect_right(rows.paths, after)
                if after >= prefix
                else bisect_left(rows.paths, prefix)
            )
            high = len(rows.paths) if end is None else bisect_left(rows.paths, end)
            wanted = min(high - low, limit + 1 - len(found))
            found += table_entries(rows.table.slice(low, wanted)) if wanted > 0 else []
            if len(found) > limit or high < len(rows.paths):
                break
        more = len(found) > limit
        return EntryPage(found[:limit], found[limit - 1].path if more else None)

    def folder(self, prefix: str = "", after: str = "", limit: int = 1000) -> FolderPage:
        """Up to `limit` files and folders directly below `prefix` ("" or ending in a slash).

        A folder is skipped over without reading its ranges, except the first and the last.
        """
        folders: list[str] = []
        entries: list[Entry] = []
        for item in self._children(prefix, after):
            if len(folders) + len(entries) == limit:
                last = [*folders[-1:], *(entry.path for entry in entries[-1:])]
                return FolderPage(folders, entries, max(last))
            if isinstance(item, str):
                folders.append(item)
            else:
                entries.append(item)
        return FolderPage(folders, entries, None)

    def totals(self, prefix: str = "") -> PrefixTotals:
        """Entries and bytes below a prefix; reads at most the first and the last range of it."""
        end = prefix_end(prefix)
        count = size_bytes = 0
        for part in ranges_from(self.root.ranges, prefix):
            if end is not None and part.min >= end:
                break
            if part.min >= prefix and (end is None or part.max < end):
                count, size_bytes = count + part.count, size_bytes + part.size_bytes
                continue
            rows = self._rows(part)
            low = bisect_left(rows.paths, prefix)
            high = len(rows.paths) if end is None else bisect_left(rows.paths, end)
            count += high - low
            size_bytes += sum(rows.table.column("size").slice(low, high - low).to_pylist())
        return PrefixTotals(count, size_bytes)

    def _children(self, prefix: str, after: str) -> Iterator[Entry | str]:
        """Files and folders directly below `prefix`, in path order, after the child `after`."""
        at = max(prefix, _next_child(after)) if after else prefix
        while (first := self._first_at_or_after(at)) is not None:
            rows, row = first
            path = rows.paths[row]
            if not path.startswith(prefix):
                return
            name, slash, _ = path[len(prefix) :].partition("/")
            child = prefix + name + slash
            yield child if slash else table_entries(rows.table.slice(row, 1))[0]
            at = _next_child(child)

    def _first_at_or_after(self, path: str) -> tuple[_Rows, int] | None:
        for rows in self._from(path):
            row = bisect_left(rows.paths, path)
            if row < len(rows.paths):
                return rows, row
        return None

    def _from(self, path: str) -> Iterator[_Rows]:
        """Ranges that may hold paths from `path` on."""
        for part in ranges_from(self.root.ranges, path):
            yield self._rows(part)

    def _rows(self, part: RangeRef) -> _Rows:
        rows = self._cache.get(part.layout)
        if rows is None:
            table = read_range(part, self._store)
            rows = _Rows(table, table.column("path").to_pylist())
            self._cache[part.layout] = rows
            if len(self._cache) > _CACHED_RANGES:
                self._cache.popitem(last=False)
        self._cache.move_to_end(part.layout)
        return rows


def _next_child(child: str) -> str:
    """The smallest path that can follow a file or a whole folder."""
    # "0" is the character after "/", so it follows everything below the folder.
    return f"{child[:-1]}0" if child.endswith("/") else f"{child}\0"


def prefix_end(prefix: str) -> str | None:
    """The smallest string after all that start with `prefix`; None if there is none."""
    while prefix:
        code = ord(prefix[-1]) + 1
        prefix = prefix[:-1]
        if code <= 0x10FFFF:
            # Surrogates are no characters; the next one after them is U+E000.
            return prefix + chr(0xE000 if 0xD800 <= code <= 0xDFFF else code)
    return None
