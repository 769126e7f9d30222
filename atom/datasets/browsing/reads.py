"""Reads of what a version contains: its entries, and how two versions differ."""

from __future__ import annotations

from collections.abc import Container, Iterable

import pyarrow as pa

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.diff_pages import diff_table, differences, stays
from atom.datasets.catalog.reads import require_kept
from atom.datasets.catalog.stores import version_store
from atom.datasets.errors import (
    EntryNotFound,
)
from atom.datasets.models import Version
from atom.datasets.packs.media_pins import registered_url
from atom_sdk.manifests.diff.diff import diff_roots
from atom_sdk.sentences import Sentence


def open_version(version: Version) -> VersionBrowser:
    """Return read access to the entries and layers of a version. Raises VersionExpired."""
    require_kept(version)
    store = version_store(version.dataset.project)
    return VersionBrowser(store.root(version.readable_root), store)


def compare(old: Version, new: Version) -> pa.Table:
    """Return what changed between two versions of one dataset, as `diff_table` makes it."""
    before, after = open_version(old), open_version(new)
    store = version_store(old.dataset.project)

    def find() -> pa.Table:
        rows = differences(diff_roots(before.root, after.root, store.store))
        both = [row.path for row in rows if stays(row)]
        return diff_table(rows, before.labels_at(both), after.labels_at(both))

    # Pages of one comparison are asked for one after another.
    return store.differences((old.root, new.root), find)


def source_addresses(
    version: Version, paths: Iterable[str], pins: Container[str] | None = None
) -> dict[str, str]:
    """Return where to GET files that stay at a source, in the pinned state, for a day.

    With `pins` (hex) only of these. Raises EntryNotFound.
    """
    browser = open_version(version)
    urls = {}
    for path in paths:
        row = browser.find(path)
        is_there = row is not None and row["source"] is not None
        if row is None or not is_there or (pins is not None and row["digest"].hex() not in pins):
            name = f"{version.dataset.name}@{version.ref}"
            raise EntryNotFound(
                Sentence(
                    "datasets.linked_file_unknown",
                    "{dataset} has no file {path} at a source.",
                    dataset=name,
                    path=repr(path),
                )
            )
        urls[path] = registered_url(row, "application/octet-stream", 0)
    return urls
