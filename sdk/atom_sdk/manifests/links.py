"""Symbolic links: entries that hold a target as text and no bytes. Format: README.md.

Only the links of a version say where one of them leads: a path may go through others, and `..`
after a link to a folder is the folder above the one that it leads to.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import NamedTuple

import pyarrow as pa
from blake3 import blake3

from atom_sdk.manifests.entries import LINK_COLUMN, Entry
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.ranges.stored import read_range
from atom_sdk.manifests.roots.groups import GroupedRanges
from atom_sdk.manifests.roots.roots import RangeRef, Root
from atom_sdk.packs.paths import encode_target

# The registered type of symbolic links, as `file --mime-type` and desktops name it.
LINK_MEDIA_TYPE = "inode/symlink"
_LINK_DOMAIN = b"atom-link/1\n"
# As many as Linux follows before it says ELOOP.
_MAX_HOPS = 40


class Lead(NamedTuple):
    """Where a link leads: to `path` of its version, "" for the top folder.

    `path` is None if the link `leaves` the tree, or if it leads in a circle.
    """

    path: str | None
    leaves: bool = False


_LEAVES = Lead(None, leaves=True)
_CIRCLE = Lead(None)


def link_digest(target: str) -> bytes:
    """The digest of a link's entry, 32 bytes; it stands for the bytes."""
    return blake3(_LINK_DOMAIN + target.encode()).digest()


def link_entry(path: str, target: str, attributes: str | None = None) -> Entry:
    """The entry of a link; its size is that of the target in bytes. Raises LinkTargetError."""
    return Entry(
        path=path,
        size=len(encode_target(path, target)),
        digest=link_digest(target),
        media_type=LINK_MEDIA_TYPE,
        attributes=attributes,
        link=target,
    )


def without_links(entries: pa.Table) -> pa.Table:
    """The entries that are no links: what labels and splits are given to."""
    if entries[LINK_COLUMN].null_count == len(entries):
        return entries
    return entries.filter(entries[LINK_COLUMN].is_null())


def follow_link(path: str, link_at: Callable[[str], str | None]) -> Lead:
    """Where the link at `path` leads, as a file system would follow it.

    `link_at` gives the target of the link at a path, None where no link is. Whether something is
    at the path that is returned, only the entries know.
    """
    *done, name = path.split("/")
    left = [name]
    hops = 0
    while left:
        name = left.pop()
        if name == "..":
            if not done:
                return _LEAVES
            done.pop()
        elif name not in {"", "."}:
            done.append(name)
            if (target := link_at("/".join(done))) is not None:
                done.pop()
                hops += 1
                if target.startswith("/") or hops > _MAX_HOPS:
                    return _LEAVES if target.startswith("/") else _CIRCLE
                left += target.split("/")[::-1]
    return Lead("/".join(done))


def leads_of(links: Mapping[str, str]) -> dict[str, Lead]:
    """Where each link of a version leads; `links` are the targets of all of them by path."""
    return {path: follow_link(path, links.get) for path in links}


def read_links(root: Root, store: ObjectStore) -> dict[str, str]:
    """The target of each link of a version by its path; reads only the ranges that have links."""
    found: dict[str, str] = {}
    for part in _linked_ranges(root):
        rows = read_range(part, store, ("path", LINK_COLUMN))
        rows = rows.filter(rows[LINK_COLUMN].is_valid())
        found.update(zip(rows["path"].to_pylist(), rows[LINK_COLUMN].to_pylist(), strict=True))
    return found


def _linked_ranges(root: Root) -> Iterator[RangeRef]:
    if not root.links:
        return
    ranges = root.ranges
    if isinstance(ranges, GroupedRanges):
        for number, group in enumerate(ranges.groups):
            if group.links:
                yield from (part for part in ranges.group(number) if part.links)
        return
    yield from (part for part in ranges if part.links)
