"""The files that a version has at paths: a client then sends only new ones."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import islice
from typing import NamedTuple

import pyarrow as pa

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.folder_pages import first_at_or_after, slice_of_prefix
from atom_sdk.manifests.listing import prefix_end
from atom_sdk.manifests.roots.groups import ranges_from

_COLUMNS = ("path", "size", "digest", "pack", "attributes")


class StoredFile(NamedTuple):
    """One file: its size in bytes, BLAKE3, the pack that holds it (none: at a source)."""

    path: str
    size: int
    digest: bytes
    pack: bytes | None
    attributes: str | None


def files_at(browser: VersionBrowser, wanted: Iterable[str]) -> Iterator[StoredFile]:
    """Yield the files that the version has of those paths, in path order; ranges are read once."""
    paths, held, index = pa.array([], pa.string()), pa.table({}), -1
    for path in sorted(set(wanted)):
        found = browser.range_from(path)
        if found == len(browser.root.ranges):
            return
        if found != index:
            index, held = found, browser.entries(browser.root.ranges[found])
            paths = held["path"].combine_chunks()
        row = first_at_or_after(paths, path)
        if row < len(paths) and paths[row].as_py() == path:
            yield from _files(held.slice(row, 1))


def files_below(browser: VersionBrowser, prefix: str, after: str, limit: int) -> list[StoredFile]:
    """Return files below a prefix that come after a path, at most `limit`, in path order."""
    return list(islice(_below(browser, prefix, after), limit))


def _below(browser: VersionBrowser, prefix: str, after: str) -> Iterator[StoredFile]:
    end, begin = prefix_end(prefix), max(prefix, after)
    for part in ranges_from(browser.root.ranges, begin):
        if end is not None and part.min >= end:
            return
        held = browser.entries(part)
        paths = held["path"].combine_chunks()
        first, last = slice_of_prefix(paths, prefix)
        if after:
            first = max(first, first_at_or_after(paths, after + "\0"))
        if first < last:
            yield from _files(held.slice(first, last - first))


def _files(rows: pa.Table) -> Iterator[StoredFile]:
    columns = (rows[name].to_pylist() for name in _COLUMNS)
    yield from (StoredFile(*values) for values in zip(*columns, strict=True))
