"""A diff as one sorted table of differences, which is filtered and shown in pages."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any, Final, NamedTuple

import pyarrow as pa
import pyarrow.compute as pc

from atom.datasets.versions.engines.version_plan import ANNOTATIONS
from atom_sdk.manifests.diff.diff import RootDiff

KINDS = ("added", "removed", "changed", "renamed", "labels_changed")
MAX_LABEL_CHANGES: Final = 50
Labels = Mapping[str, str | None]

_SCHEMA: Final = pa.schema(
    [
        ("path", pa.string()),
        ("kind", pa.dictionary(pa.int8(), pa.string())),
        ("old_path", pa.string()),
        # These are set for files that both sides have under one path.
        ("relabelled", pa.bool_()),
        ("old_label", pa.string()),
        ("new_label", pa.string()),
    ]
)


class Difference(NamedTuple):
    """One difference. `old_path` and `path` are where to find the old and the new entry."""

    path: str
    kind: str
    old_path: str | None


@dataclass(frozen=True)
class WantedDifferences:
    """Which differences: of a kind, below a prefix, of a label that became another one.

    A label may be None, which is none; without `labels` all are wanted.
    """

    kind: str | None = None
    prefix: str = ""
    labels: tuple[str | None, str | None] | None = None


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


def stays(difference: Difference) -> bool:
    """Return whether both sides have the file under one path."""
    return difference.path == difference.old_path and difference.kind != "removed"


def diff_table(rows: list[Difference], before: Labels, after: Labels) -> pa.Table:
    """Return the differences as a table; `before` and `after` are labels of those that stay."""
    kept = [stays(row) for row in rows]
    pairs = [
        (before.get(row.path), after.get(row.path)) if both else (None, None)
        for row, both in zip(rows, kept, strict=True)
    ]
    columns: dict[str, list[Any]] = {
        "path": [row.path for row in rows],
        "kind": [row.kind for row in rows],
        "old_path": [row.old_path for row in rows],
        "relabelled": [old != new for old, new in pairs],
        "old_label": [old for old, _ in pairs],
        "new_label": [new for _, new in pairs],
    }
    return pa.table(columns, schema=_SCHEMA)


def summarize(table: pa.Table) -> dict[str, int]:
    """Return the number of differences of each kind."""
    found = pc.value_counts(table["kind"].cast(pa.string())).to_pylist()
    return dict.fromkeys(KINDS, 0) | {row["values"]: row["counts"] for row in found}


def label_changes(table: pa.Table) -> list[dict[str, Any]]:
    """Return which labels became which, the most frequent first."""
    changed = table.filter(table["relabelled"]).select(["old_label", "new_label"])
    counted = changed.group_by(["old_label", "new_label"]).aggregate([([], "count_all")])
    rows = [
        {"old": row["old_label"], "new": row["new_label"], "count": row["count_all"]}
        for row in counted.to_pylist()
    ]
    rows.sort(key=lambda row: (-row["count"], row["old"] or "", row["new"] or ""))
    return rows[:MAX_LABEL_CHANGES]


def chosen(table: pa.Table, wanted: WantedDifferences) -> pa.Table:
    """Return the differences that are wanted, in path order."""
    if wanted.kind is not None:
        table = table.filter(pc.equal(table["kind"].cast(pa.string()), wanted.kind))
    if wanted.prefix:
        table = table.filter(pc.starts_with(table["path"], wanted.prefix))
    if wanted.labels is not None:
        table = table.filter(table["relabelled"])
        for column, label in zip(("old_label", "new_label"), wanted.labels, strict=True):
            values = table[column]
            table = table.filter(values.is_null() if label is None else pc.equal(values, label))
    return table


def position_of(table: pa.Table, start: tuple[str, str]) -> int:
    """Return the number of the first difference at or after a path and kind."""
    path, kind = start
    paths, kinds = table["path"], table["kind"].cast(pa.string())
    same = pc.and_(pc.equal(paths, path), pc.greater_equal(kinds, kind))
    found = pc.index(pc.or_(pc.greater(paths, path), same), True).as_py()
    return len(table) if found < 0 else int(found)


def rows_at(table: pa.Table, offset: int, limit: int) -> list[Difference]:
    """Return up to `limit` differences from a number on."""
    page = table.slice(offset, limit).select(["path", "kind", "old_path"])
    return [Difference(**row) for row in page.to_pylist()]


def _relabelled(diff: RootDiff) -> Iterator[str]:
    for layer in diff.layers:
        if layer.kind in ANNOTATIONS:
            for table in (layer.added, layer.removed, layer.changed_to):
                yield from _paths(table)


def _paths(table: pa.Table) -> list[str]:
    paths: list[str] = table["path"].to_pylist()
    return paths
