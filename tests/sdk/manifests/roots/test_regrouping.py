"""Changes to a root in groups read and write the groups that they touch, and no others."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.manifests import (
    BoundaryRule,
    Changes,
    MemoryObjectStore,
    Root,
    apply_changes,
    build_root,
    read_root,
    table_entries,
    write_root,
)
from atom_sdk.manifests.joined import iter_ranges
from atom_sdk.manifests.objects import contents_key
from atom_sdk.manifests.ranges.deltas import DeltaRule
from atom_sdk.manifests.roots.groups import GroupedRanges, GroupRule
from tests.sdk.manifests.roots.test_groups import CountingStore
from tests.sdk.manifests.strategies import RULE, filled_sets, path_sets, table_of
from tests.tiers import examples

# Every second range begins a group, and a group has at most three.
SMALL = GroupRule(flat=0, modulus=6, cap=3)
FINE = BoundaryRule(modulus=20)
FINE_GROUPS = GroupRule(flat=0, modulus=200, cap=30)
MANY = {f"{number:05d}": number for number in range(2000)}
LAID_OVER = DeltaRule(min_ranges=1, max_share=100.0, max_depth=3)
WRITTEN = DeltaRule(min_ranges=10**9)

steps = st.lists(
    st.tuples(path_sets, st.sets(st.text("abc/é0.", min_size=1, max_size=6)), st.booleans()),
    max_size=3,
)


def in_groups(root: Root, store: MemoryObjectStore, rule: GroupRule = SMALL) -> Root:
    read = read_root(write_root(root, store, rule), store)
    return replace(read, ranges=GroupedRanges(read.groups, store, rule))


def rows_of(root: Root, store: MemoryObjectStore) -> list[Any]:
    return [row for table in iter_ranges(root, store) for row in table_entries(table)]


@given(filled_sets, steps, st.booleans())
@settings(max_examples=examples(100))
def test_changes_to_a_root_in_groups_are_those_to_a_flat_one(
    files: dict[str, int], history: list[tuple[dict[str, int], set[str], bool]], has_contents: bool
) -> None:
    store = MemoryObjectStore()
    flat = build_root([table_of(files | {"kept": 0})], store, rule=RULE)
    root = in_groups(flat, store)
    for puts, gone, is_laid_over in history:
        if not has_contents:
            store.objects.pop(contents_key(root.content), None)
        # A path that begins a range, and with it a group, goes more often than by chance.
        firsts = {part.min for part in flat.ranges[::2]}
        changes = Changes(table_of(puts), frozenset((gone | firsts) - {"kept"}))
        rule = LAID_OVER if is_laid_over else WRITTEN
        flat = apply_changes(flat, changes, store, RULE, rule)
        root = apply_changes(root, changes, store, RULE, rule)
        assert rows_of(root, store) == rows_of(flat, store)
        assert [part.content for part in root.ranges] == [part.content for part in flat.ranges]
        assert (root.count, root.size_bytes, root.content) == (
            flat.count, flat.size_bytes, flat.content
        )  # fmt: skip
        scratch = in_groups(flat, MemoryObjectStore())
        assert [group.content for group in root.groups] == [g.content for g in scratch.groups]
        assert read_root(write_root(root, store), store).content == root.content


def test_a_commit_reads_only_the_groups_that_it_touches() -> None:
    store = CountingStore()
    root = in_groups(build_root([table_of(MANY)], store, rule=FINE), store, FINE_GROUPS)
    assert len(root.groups) > 5
    before = set(store.objects)
    store.read.clear()
    changed = apply_changes(root, Changes(table_of({"01000": -1})), store, FINE)
    write_root(changed, store)
    assert sorted(key.rpartition(".")[2] for key in store.read) == ["contents", "json", "parquet"]
    written = set(store.objects) - before
    assert sorted(key.split("/")[0] for key in written) == ["groups", "groups", "ranges", "roots"]
    assert len(set(changed.groups) - set(root.groups)) == 1


def test_without_the_digests_of_all_ranges_all_groups_are_read() -> None:
    store = CountingStore()
    root = in_groups(build_root([table_of(MANY)], store, rule=FINE), store, FINE_GROUPS)
    store.objects[contents_key(root.content)] = b"damaged"
    changes = Changes(table_of({"01000": -1}))
    store.read.clear()
    changed = apply_changes(root, changes, store, FINE)
    assert len([key for key in store.read if key.endswith(".json")]) == len(root.groups)
    assert changed.content == build_root(
        [table_of(MANY | {"01000": -1})], MemoryObjectStore(), rule=FINE
    ).content  # fmt: skip


def test_a_root_that_became_small_lists_its_ranges() -> None:
    store = MemoryObjectStore()
    rule = replace(FINE_GROUPS, flat=20)
    root = in_groups(build_root([table_of(MANY)], store, rule=FINE), store, rule)
    assert len(root.groups) > 5
    few = apply_changes(root, Changes(deletes=frozenset(list(MANY)[100:])), store, FINE)
    assert few == build_root([table_of(dict(list(MANY.items())[:100]))], store, rule=FINE)
    with pytest.raises(errors.EmptyDatasetError):
        apply_changes(root, Changes(deletes=frozenset(MANY)), store, FINE)
