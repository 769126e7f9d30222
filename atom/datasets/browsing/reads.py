"""Reads of what a version contains: its entries, and how two versions differ."""

from __future__ import annotations

from collections.abc import Container, Iterable
from dataclasses import replace

import pyarrow as pa

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.diff_pages import diff_table, differences, stays
from atom.datasets.browsing.engines.drawn_objects import sum_object_changes
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


def compare_objects(old: Version, new: Version) -> dict[str, int]:
    """Return how many objects were added, removed and changed between two versions."""
    before, after = open_version(old), open_version(new)
    store = version_store(old.dataset.project)

    def count() -> pa.Table:
        # Without the files: their layers alone are compared.
        was, is_now = (replace(side.root, ranges=(), count=0) for side in (before, after))
        sums = sum_object_changes(diff_roots(was, is_now, store.store))
        return pa.table({kind: [number] for kind, number in sums.items()})

    row: dict[str, int] = store.differences(("objects", old.root, new.root), count).to_pylist()[0]
    return row


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
