"""Compares a folder with what a pull selects."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, field
from pathlib import Path

import pyarrow.compute as pc

from atom_sdk.client.config import cache_path
from atom_sdk.client.progress import Progress
from atom_sdk.client.pull.links import LEAVES, has_link
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.manifests import Entry, ViewSelector, table_entries
from atom_sdk.manifests.entries import LINK_COLUMN
from atom_sdk.manifests.views import selected_with_links
from atom_sdk.packs.external_objects import RegisteredStore
from atom_sdk.packs.paths import encode_path
from atom_sdk.packs.store import PackStore
from atom_sdk.packs.walk import SkippedPath, hash_file


@dataclass
class Missing:
    """Entries to write and links to create: what a pull selects and the folder lacks.

    `paths` are those of all that is selected, `left_out` links that lead out of the version.
    """

    entries: list[Entry] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    paths: set[str] = field(default_factory=set)
    left_out: list[SkippedPath] = field(default_factory=list)
    files_total: int = 0
    links_total: int = 0


def find_missing(
    manifest: RemoteManifest,
    chosen: ViewSelector,
    folder: Path,
    progress: Progress,
    *,
    unsafe_links: bool,
) -> Missing:
    """Return what is selected, and what of it is missing or different."""
    progress.start("compare", manifest.root.count, "files")
    missing = Missing()
    registered = RegisteredStore(PackStore(cache_path()))
    for rows in selected_with_links(manifest.root, manifest, chosen):
        links = dict(
            zip(rows.links["path"].to_pylist(), rows.links[LINK_COLUMN].to_pylist(), strict=True)
        )
        _want_links(missing, links, frozenset() if unsafe_links else rows.leaving, folder)
        progress.advance("compare", len(links))
        table = rows.files
        if links:
            is_link = pc.is_in(table["path"], value_set=rows.links["path"].combine_chunks())
            table = table.filter(pc.invert(is_link))
        # Objects of a source have digests of their bytes once these were brought here.
        known = table_entries(registered.place(table))
        for entry, here in zip(table_entries(table), known, strict=True):
            encode_path(entry.path)
            missing.paths.add(entry.path)
            if not _same(folder / entry.path, here):
                missing.entries.append(entry)
            progress.advance("compare", 1)
        missing.files_total += len(table)
    return missing


def _want_links(
    missing: Missing, links: Mapping[str, str], leaving: Collection[str], folder: Path
) -> None:
    for path, target in links.items():
        encode_path(path)
        is_there = has_link(folder / path, target)
        if path in leaving and not is_there:
            missing.left_out.append(SkippedPath(path, LEAVES))
            continue
        missing.paths.add(path)
        missing.links_total += 1
        if not is_there:
            missing.links[path] = target


def _same(path: Path, entry: Entry) -> bool:
    try:
        if path.is_symlink() or path.stat().st_size != entry.size:
            return False
    except (FileNotFoundError, NotADirectoryError):
        return False
    return hash_file(path) == entry.digest
