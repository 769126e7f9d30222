"""Deltas that pile up are written away in the background; nobody sees another dataset."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom.core import storage
from atom.datasets.browsing.reads import compare
from atom.datasets.catalog.reads import open_root
from atom.datasets.commits.actions.branches import BranchMove, head_commit, move_branch
from atom.datasets.commits.actions.compaction import compact_version
from atom.datasets.models import Dataset, Version
from atom.datasets.retention.engines.reachable import Reachable
from atom.datasets.retention.garbage_roots import readable_roots
from atom_sdk.manifests import (
    Changes,
    Root,
    apply_changes,
    build_root,
    entries_table,
    iter_ranges,
    table_entries,
    write_root,
)
from atom_sdk.manifests.commits import Commit, write_commit
from atom_sdk.manifests.deltas import DeltaRule
from tests.datasets.pushing import Pusher
from tests.sdk.manifests.strategies import RULE, entry, table_of

ALWAYS = DeltaRule(min_ranges=1, max_share=1.0)
FILES = {f"{number:03d}": 0 for number in range(60)}


@pytest.fixture
def history(pusher: Pusher) -> list[Version]:
    """Four versions, each a delta over the one before."""
    store = storage.project_store(pusher.project)
    root = build_root([table_of(FILES)], store, rule=RULE)
    versions = [committed(pusher, root)]
    for number in (1, 2, 3):
        changes = Changes(table_of(dict.fromkeys(list(FILES)[::10], number)))
        root = apply_changes(root, changes, store, RULE, ALWAYS)
        versions.append(committed(pusher, root))
    for version in versions:
        version.refresh_from_db()
    return versions


def committed(pusher: Pusher, root: Root) -> Version:
    dataset = Dataset.objects.get(project=pusher.project, name=pusher.name)
    branch = dataset.branches.select_related("head").get(name="main")
    store = storage.project_store(pusher.project)
    document = Commit(
        dataset="p/digits",
        root=write_root(root, store),
        parents=(bytes.fromhex(branch.head.commit),) if branch.head else (),
        author=pusher.user.username,
        message="",
        created_at=branch.created_at,
    )
    commit = write_commit(document, store).hex()
    return move_branch(BranchMove(dataset, "main", head_commit(branch), commit))


def rows(version: Version) -> list[object]:
    store = storage.project_store(version.dataset.project)
    return [row for table in iter_ranges(open_root(version), store) for row in table_entries(table)]


def differing(old: Version, new: Version) -> list[tuple[str, str]]:
    found = compare(old, new)
    return [*zip(found["kind"].to_pylist(), found["path"].to_pylist(), strict=True)]


def test_a_version_with_many_deltas_gets_a_layout_without(history: list[Version]) -> None:
    assert [bool(version.layout) for version in history] == [False, False, False, True]
    last = history[-1]
    assert not open_root(last).deltas
    assert open_root(last).content.hex() == last.content_digest
    assert rows(last) == [entry(path, 3 if int(path) % 10 == 0 else 0) for path in FILES]


def test_compacting_again_does_nothing(history: list[Version]) -> None:
    assert not compact_version(history[-1].pk)


def test_versions_with_and_without_a_layout_are_compared(history: list[Version]) -> None:
    changed = [f"{number:03d}" for number in range(0, 60, 10)]
    assert differing(history[2], history[3]) == [("changed", path) for path in changed]


def test_what_a_layout_needs_is_no_garbage(
    history: list[Version], pusher: Pusher, tmp_path: Path
) -> None:
    last = history[-1]
    assert {last.root, last.layout} <= readable_roots(pusher.project)
    reachable = Reachable(tmp_path)
    reachable.add_root(bytes.fromhex(last.layout), storage.project_store(pusher.project))
    ranges = {part.object for part in open_root(last).ranges}
    assert set(reachable.digests("ranges")) == ranges


def test_the_next_push_builds_upon_the_layout(history: list[Version], pusher: Pusher) -> None:
    store = storage.project_store(pusher.project)
    root = open_root(history[-1])
    new = apply_changes(root, Changes(entries_table([entry("new", 1)])), store, RULE)
    version = committed(pusher, new)
    assert differing(history[-1], version) == [("added", "new")]
