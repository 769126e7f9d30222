"""A diff as one sorted list of differences, in pages."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import NamedTuple

import pyarrow as pa

from atom_sdk.manifests.diff import RootDiff

KINDS = ("added", "removed", "changed", "renamed", "labels_changed")


class Difference(NamedTuple):
    """One difference. `old_path` and `path` are where to find the old and the new entry."""

    path: str
    kind: str
    old_path: str | None


@dataclass(frozen=True)
class DiffPage:
    """Differences of one page; `next` is the sort key of the first of the next page."""

    rows: list[Difference]
    next: tuple[str, str] | None


def differences(diff: RootDiff) -> list[Difference]:
    """Return all differences by path; a renamed file is one and not an added and a removed one."""
    found = [Difference(item.new_path, "renamed", item.old_path) for item in diff.renamed]
    moved_to = {item.new_path for item in diff.renamed}
    moved_from = {item.old_path for item in diff.renamed}
    added, removed = diff.added_paths.to_pylist(), diff.removed_paths.to_pylist()
    found += [Difference(path, "added", None) for path in added if path not in moved_to]
    found += [Difference(path, "removed", path) for path in removed if path not in moved_from]
    changed = set(diff.changed_paths.to_pylist())
    found += [Difference(path, "changed", path) for path in changed]
    touched = changed.union(moved_to, moved_from, added, removed)
    labels = {path for path in _relabelled(diff) if path not in touched}
    found += [Difference(path, "labels_changed", path) for path in labels]
    return sorted(found)


def summarize(rows: list[Difference]) -> dict[str, int]:
    """Return the number of differences of each kind."""
    counts = dict.fromkeys(KINDS, 0)
    for row in rows:
        counts[row.kind] += 1
    return counts


def diff_page(
    rows: list[Difference], kind: str | None, limit: int, start: tuple[str, str] = ("", "")
) -> DiffPage:
    """Return up to `limit` differences of a kind from a sort key on."""
    wanted = [row for row in rows if kind in (None, row.kind) and (row.path, row.kind) >= start]
    following = wanted[limit] if len(wanted) > limit else None
    return DiffPage(wanted[:limit], (following.path, following.kind) if following else None)


def _relabelled(diff: RootDiff) -> Iterator[str]:
    for layer in diff.layers:
        if layer.kind == "classification":
            for table in (layer.added, layer.removed, layer.changed_to):
                yield from _paths(table)


def _paths(table: pa.Table) -> list[str]:
    paths: list[str] = table["path"].to_pylist()
    return paths
