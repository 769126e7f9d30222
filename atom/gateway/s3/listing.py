"""The keys of a bucket in order, page by page: `<version>/<path>`, folders by delimiter.

The cost of a page follows its lines, not the dataset: a folder is skipped by one search.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from datetime import datetime

from atom.gateway.s3.files import Rows, StoredFile, VersionFiles
from atom_sdk.manifests.listing import prefix_end

SLASH = "/"


@dataclass(frozen=True)
class Section:
    """One version's part of the bucket; it is opened when the listing gets there."""

    name: str
    modified_at: datetime
    open: Callable[[], VersionFiles]
    root: str = ""

    @property
    def prefix(self) -> str:
        """Return what all its keys begin with."""
        return self.name + SLASH


@dataclass(frozen=True)
class ListRequest:
    """`start` is the first key that may be listed, "" for the beginning."""

    prefix: str = ""
    delimiter: str = ""
    start: str = ""
    limit: int = 1000


@dataclass(frozen=True)
class ListedObject:
    """One line of a page."""

    key: str
    file: StoredFile
    modified_at: datetime


@dataclass
class ListPage:
    """`next` is the `start` of the next page and `next_section` its version; None at the end."""

    objects: list[ListedObject] = field(default_factory=list)
    prefixes: list[str] = field(default_factory=list)
    next: str | None = None
    next_section: str | None = None

    @property
    def length(self) -> int:
        """Return how many lines the page has."""
        return len(self.objects) + len(self.prefixes)

    @property
    def last(self) -> str:
        """Return the last key or folder, "" when there is none."""
        ends = [*self.prefixes[-1:], *(found.key for found in self.objects[-1:])]
        return max(ends, default="")


def after(marker: str, prefix: str, delimiter: str) -> str:
    """Return the first key that may follow `marker`; a folder that holds it was listed already."""
    if not marker:
        return ""
    folder = _folder_of(marker, prefix, delimiter) if marker.startswith(prefix) else None
    return marker + "\0" if folder is None else prefix_end(folder) or marker + "\0"


def list_keys(sections: Sequence[Section], request: ListRequest) -> ListPage:
    """Return one page. `sections` are in the order of their prefixes."""
    if request.delimiter == SLASH and SLASH not in request.prefix:
        return _list_sections(sections, request)
    page = ListPage()
    cursor = _Cursor(sections)
    position: str | None = max(request.start, request.prefix)
    while position is not None and (key := cursor.seek(position)) is not None:
        if not key.startswith(request.prefix):
            break
        if page.length >= request.limit:
            page.next, page.next_section = position, cursor.section.name
            break
        folder = _folder_of(key, request.prefix, request.delimiter)
        if folder is None:
            page.objects.append(ListedObject(key, cursor.file(), cursor.section.modified_at))
            position = key + "\0"
        else:
            page.prefixes.append(folder)
            position = prefix_end(folder)
    return page


def _list_sections(sections: Sequence[Section], request: ListRequest) -> ListPage:
    """List the versions as folders, without opening one."""
    wanted = [
        section.prefix
        for section in sections
        if section.prefix.startswith(request.prefix) and section.prefix >= request.start
    ]
    page = ListPage(prefixes=wanted[: request.limit])
    if len(wanted) > request.limit:
        page.next = wanted[request.limit]
    return page


def _folder_of(key: str, prefix: str, delimiter: str) -> str | None:
    if not delimiter:
        return None
    at = key.find(delimiter, len(prefix))
    return None if at < 0 else key[: at + len(delimiter)]


class _Cursor:
    """Finds the next key; one range of one section is kept at a time."""

    def __init__(self, sections: Sequence[Section]) -> None:
        self._sections = sections
        self._index = -1
        self._files: VersionFiles | None = None
        self._rows: Rows | None = None
        self._row = 0

    @property
    def section(self) -> Section:
        """Return the section of the key that was found last."""
        return self._sections[self._index]

    def file(self) -> StoredFile:
        """Return the file of the key that was found last."""
        assert self._rows is not None
        return self._rows.file(self._row)

    def seek(self, position: str) -> str | None:
        """Return the first key that is not before `position`; positions only grow."""
        for index in range(max(self._index, 0), len(self._sections)):
            prefix = self._sections[index].prefix
            if position > prefix and not position.startswith(prefix):
                continue
            path = self._seek_in(index, position[len(prefix) :] if position > prefix else "")
            if path is not None:
                return prefix + path
        return None

    def _seek_in(self, index: int, path: str) -> str | None:
        if index != self._index or self._files is None:
            self._index, self._rows = index, None
            self._files = self._sections[index].open()
        if self._rows is None or path > self._rows.paths[-1]:
            self._rows, self._row = self._files.rows_from(path), 0
            if self._rows is None:
                return None
        self._row = self._rows.first_at_or_after(path, self._row)
        return self._rows.paths[self._row]
