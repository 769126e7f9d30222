"""Pages of a folder over a sorted source of entries: entries and folders in path order.

The cost of a page follows its rows, not the dataset: a folder is skipped by one seek.
"""

from __future__ import annotations

from bisect import bisect_left
from dataclasses import dataclass, field
from typing import Any, Protocol

import pyarrow as pa

from atom_sdk.manifests.listing import prefix_end

DELIMITER = "/"
# The character after the delimiter: the first string that is past everything in a folder.
_PAST_DELIMITER = chr(ord(DELIMITER) + 1)


class ScanStopped(Exception):
    """So much was read without a match that the page ends here; the next begins at `position`."""

    def __init__(self, position: str) -> None:
        super().__init__(position)
        self.position = position


class SortedEntries(Protocol):
    """Rows in path order, found by path."""

    def seek(self, position: str) -> str | None:
        """Return the path of the first matching row at or after `position`; None at the end.

        Raises ScanStopped.
        """

    def row(self) -> dict[str, Any]:
        """Return the row that was found last."""


@dataclass(frozen=True)
class PageRequest:
    """The page that is asked for: `start` is where the last page ended, "" for the first."""

    prefix: str
    by_folder: bool
    limit: int
    start: str = ""


@dataclass
class FolderPage:
    """Folders and rows of one page; `next` is where the next begins, None at the end."""

    folders: list[str] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    next: str | None = None

    @property
    def length(self) -> int:
        """Return how many lines the page has."""
        return len(self.folders) + len(self.rows)


def read_page(entries: SortedEntries, request: PageRequest) -> FolderPage:
    """Return one page; `folders` are prefixes with their slash.

    A page may be short, even empty, and have a next one where reading had to stop.
    """
    page = FolderPage()
    try:
        _fill(page, entries, request)
    except ScanStopped as stopped:
        page.next = stopped.position if stopped.position.startswith(request.prefix) else None
    return page


def _fill(page: FolderPage, entries: SortedEntries, request: PageRequest) -> None:
    position = max(request.start, request.prefix)
    while (path := entries.seek(position)) is not None:
        if not path.startswith(request.prefix):
            break
        if page.length == request.limit:
            page.next = position
            break
        head, slash, _ = path[len(request.prefix) :].partition(DELIMITER)
        if request.by_folder and slash:
            page.folders.append(request.prefix + head + DELIMITER)
            position = request.prefix + head + _PAST_DELIMITER
        else:
            page.rows.append(entries.row())
            position = path + "\0"


def first_at_or_after(paths: pa.Array, position: str) -> int:
    """Return the index of the first path that is not before `position`, in a sorted array."""
    return bisect_left(range(len(paths)), position, key=lambda index: paths[index].as_py())


def slice_of_prefix(paths: pa.Array, prefix: str) -> tuple[int, int]:
    """Return start and end of the rows of a sorted array that begin with `prefix`."""
    start = first_at_or_after(paths, prefix)
    end = prefix_end(prefix)
    return start, len(paths) if end is None else first_at_or_after(paths, end)
