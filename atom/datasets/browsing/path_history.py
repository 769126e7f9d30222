"""The history of one path, from version to version."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from atom.datasets.browsing.engines.browse import Row, VersionBrowser
from atom.datasets.browsing.reads import open_version
from atom.datasets.catalog.history import parents_of
from atom.datasets.errors import DatasetDeleted, VersionExpired
from atom.datasets.models import Dataset, Version
from atom_sdk.manifests.layers.object_rows import CONTENT

# One answer looks into at most this many versions.
VERSIONS_AT_ONCE = 100


@dataclass(frozen=True)
class PathState:
    """An entry of a version, and its row of the layer of objects if it has one."""

    entry: Row
    drawn: Row | None


@dataclass(frozen=True)
class PathChange:
    """A change of one path: `kinds` of added, removed, changed, label, split, attributes, objects.

    `before` and `after` are the entry in the version before it and in itself.
    """

    version: Version
    kinds: tuple[str, ...]
    before: PathState | None
    after: PathState | None


@dataclass(frozen=True)
class PathHistory:
    """Changes, the newest first; `next` is the commit to go on from.

    `ends_at` names a version before which nothing can be read any more: its files left retention.
    """

    changes: list[PathChange]
    next: str | None = None
    ends_at: str | None = None


def history_of_path(dataset: Dataset, version: Version, path: str, start: str = "") -> PathHistory:
    """Return what the versions that `version` came from did to a path, following first parents."""
    line = _first_parents(dataset, start or version.commit)
    chosen = line[: VERSIONS_AT_ONCE + 1]
    rows = dataset.versions.filter(commit__in=chosen).select_related("author")
    by_commit = {row.commit: row for row in rows}
    changes: list[PathChange] = []
    newer: tuple[Version, PathState | None] | None = None
    reader = _Reader(path)
    for commit in chosen:
        present = by_commit[commit]
        present.dataset = dataset
        try:
            state = reader.read(present)
        except (VersionExpired, DatasetDeleted):
            return PathHistory(changes, ends_at=present.ref)
        if newer is not None:
            changes += _change(*newer, before=state)
        newer = present, state
    if len(line) > VERSIONS_AT_ONCE:
        return PathHistory(changes, next=line[VERSIONS_AT_ONCE])
    if newer is not None:
        changes += _change(*newer, before=None)
    return PathHistory(changes)


def _first_parents(dataset: Dataset, commit: str) -> Sequence[str]:
    parents = parents_of(dataset)

    def line(present: str) -> Iterator[str]:
        while present in parents:
            yield present
            present = next(iter(parents[present]), "")

    return list(line(commit))


def _change(
    version: Version, after: PathState | None, *, before: PathState | None
) -> list[PathChange]:
    kinds = tuple(_kinds(before, after))
    return [PathChange(version, kinds, before, after)] if kinds else []


def _kinds(before: PathState | None, after: PathState | None) -> Iterator[str]:
    if before is None or after is None:
        if before is not None:
            yield "removed"
        elif after is not None:
            yield "added"
        return
    old, new = before.entry, after.entry
    if old["digest"] != new["digest"]:
        yield "changed"
    yield from (name for name in ("label", "split", "attributes") if old[name] != new[name])
    # A picture that somebody looked at without drawing has a row too.
    was, is_now = (side.drawn and side.drawn[CONTENT] for side in (before, after))
    if was != is_now:
        yield "objects"


class _Reader:
    """Reads the entry of a path; versions that share the range and the layers are read once."""

    def __init__(self, path: str) -> None:
        self._path = path
        self._key: object = None
        self._state: PathState | None = None

    def read(self, version: Version) -> PathState | None:
        browser = open_version(version)
        key = self._key_of(browser)
        if key != self._key:
            row = browser.find(self._path)
            drawn = {} if row is None else browser.drawn([row])
            self._key = key
            self._state = None if row is None else PathState(row, drawn.get(self._path))
        return self._state

    def _key_of(self, browser: VersionBrowser) -> object:
        index = browser.range_from(self._path)
        ranges = browser.root.ranges
        part = ranges[index].content if index < len(ranges) else b""
        return part, tuple(layer.content for layer in browser.root.layers)
