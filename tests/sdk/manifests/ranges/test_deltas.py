"""Deltas: scattered changes are laid over ranges and leave no trace in the content."""

from __future__ import annotations

import json
from collections.abc import Iterable
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.manifests import (
    BoundaryRule,
    Changes,
    Listing,
    MemoryObjectStore,
    ObjectStore,
    Root,
    apply_changes,
    build_root,
    compact,
    decode_root,
    diff_roots,
    encode_root,
    entries_table,
    iter_ranges,
    table_entries,
)
from atom_sdk.manifests.diff.diff import RootDiff
from atom_sdk.manifests.ranges.deltas import DeltaRule
from tests.sdk.manifests.strategies import RULE, entry, filled_sets, path_sets, table_of
from tests.tiers import examples

ALWAYS = DeltaRule(min_ranges=1, max_share=100.0, max_depth=3)
MANY = {f"{number:05d}": number for number in range(2000)}
FINE = BoundaryRule(modulus=50)
SCATTERED = table_of(dict.fromkeys(list(MANY)[::100], -1))

edits = st.lists(
    st.tuples(path_sets, st.sets(st.text("abc/é0.", min_size=1, max_size=6))), max_size=3
)


def rows_of(root: Root, store: ObjectStore) -> list[Any]:
    return [row for table in iter_ranges(root, store) for row in table_entries(table)]


def grown(root: Root, changes: Iterable[Changes], store: ObjectStore) -> list[Root]:
    """The root, and what it becomes by one change after the other."""
    roots = [root]
    for change in changes:
        roots.append(apply_changes(roots[-1], change, store, RULE, ALWAYS))
    return roots


def facts(diff: RootDiff) -> list[Any]:
    tables = diff.added, diff.removed, diff.changed_to, diff.changed_from
    return [*map(table_entries, tables), diff.renamed]


@given(filled_sets, edits)
@settings(max_examples=examples(50))
def test_changes_laid_over_read_as_changes_written(
    files: dict[str, int], history: list[tuple[dict[str, int], set[str]]]
) -> None:
    store = MemoryObjectStore()
    # One file always stays, so that no dataset becomes empty.
    wanted = files | {"kept": 0}
    root = build_root([table_of(wanted)], store, rule=RULE)
    for upserts, gone in history:
        deletes = gone - {"kept"}
        wanted = {path: n for path, n in wanted.items() if path not in deletes} | upserts
        changes = Changes(table_of(upserts), frozenset(deletes))
        root = apply_changes(root, changes, store, RULE, ALWAYS)
        scratch = build_root([table_of(wanted)], MemoryObjectStore(), rule=RULE)
        assert (root.content, root.count, root.size_bytes) == (
            scratch.content, scratch.count, scratch.size_bytes
        )  # fmt: skip
        assert rows_of(root, store) == table_entries(table_of(wanted))
        assert decode_root(encode_root(root)) == root
        assert compact(root, store) == scratch


@given(filled_sets, edits)
@settings(max_examples=examples(25))
def test_a_diff_finds_the_same_with_and_without_deltas(
    files: dict[str, int], history: list[tuple[dict[str, int], set[str]]]
) -> None:
    store = MemoryObjectStore()
    start = build_root([table_of(files | {"kept": 0})], store, rule=RULE)
    changes = [Changes(table_of(puts), frozenset(gone - {"kept"})) for puts, gone in history]
    roots = grown(start, changes, store)
    for old in roots:
        for new in roots[-2:]:
            plain = diff_roots(compact(old, store), compact(new, store), store)
            assert facts(diff_roots(old, new, store)) == facts(plain)


def test_a_scattered_change_writes_one_object_and_no_range() -> None:
    store = MemoryObjectStore()
    parent = build_root([table_of(MANY)], store, rule=FINE)
    before = set(store.objects)
    root = apply_changes(parent, Changes(SCATTERED), store, FINE)
    (written,) = set(store.objects) - before
    assert written == f"deltas/{root.deltas[0].hex()}.parquet"
    assert sum(bool(part.deltas) for part in root.ranges) > 10


def test_the_diff_of_a_scattered_change_reads_no_range() -> None:
    store = MemoryObjectStore()
    parent = build_root([table_of(MANY)], store, rule=FINE)
    root = apply_changes(parent, Changes(SCATTERED, frozenset(["00150", "01999"])), store, FINE)
    diff = diff_roots(parent, root, store)
    assert diff.ranges_read == 0
    assert diff.changed_to == SCATTERED
    assert diff.removed["path"].to_pylist() == ["00150", "01999"]
    assert diff.changed_from == table_of({path: MANY[path] for path in list(MANY)[::100]})


def test_a_range_with_too_many_deltas_is_written_anew() -> None:
    store = MemoryObjectStore()
    root = build_root([table_of(MANY)], store, rule=FINE)
    depths = []
    for number in range(10):
        change = Changes(table_of(dict.fromkeys(list(MANY)[::100], -number)))
        root = apply_changes(root, change, store, FINE)
        depths.append(max(len(part.deltas) for part in root.ranges))
    assert depths[0] == 1
    assert max(depths) == 8
    assert depths[-1] < 8


def test_rows_that_say_nothing_new_are_not_laid_over() -> None:
    store = MemoryObjectStore()
    parent = build_root([table_of(MANY)], store, rule=FINE)
    same = Changes(table_of({path: MANY[path] for path in list(MANY)[::100]}), frozenset(["x"]))
    assert apply_changes(parent, same, store, FINE) == parent


def test_a_listing_reads_through_deltas() -> None:
    store = MemoryObjectStore()
    parent = build_root([table_of(MANY)], store, rule=FINE)
    changes = Changes(SCATTERED, frozenset(["00001"]))
    listing = Listing(apply_changes(parent, changes, store, FINE), store)
    assert listing.lookup("00100") == entry("00100", -1)
    with pytest.raises(errors.PathNotFoundError):
        listing.lookup("00001")


def test_a_damaged_delta_is_named() -> None:
    store = MemoryObjectStore()
    parent = build_root([table_of(MANY)], store, rule=FINE)
    other = table_of(dict.fromkeys(list(MANY)[::100], -99))
    root = apply_changes(parent, Changes(other), store, FINE)
    key = f"deltas/{root.deltas[0].hex()}.parquet"
    store.objects[key] = store.objects[key][:-1]
    with pytest.raises(errors.ManifestCorruptError, match=r"deltas/[0-9a-f]{64}"):
        rows_of(root, store)


@pytest.mark.parametrize("numbers", [[1], [-1], ["0"], 3])
def test_a_range_that_names_no_delta_of_its_root_is_refused(numbers: Any) -> None:
    value = json.loads(encode_root(build_root([table_of({"a": 1})], MemoryObjectStore())))
    value["deltas"] = ["00" * 32]
    value["ranges"][0]["deltas"] = numbers
    with pytest.raises(errors.ManifestCorruptError):
        decode_root(json.dumps(value).encode())


def test_an_entry_that_only_moved_keeps_its_place() -> None:
    # Where bytes lie is no content: nothing would tell the two roots apart.
    store = MemoryObjectStore()
    parent = build_root([table_of(MANY)], store, rule=FINE)
    moved = [entry(path, MANY[path])._replace(offset=8192) for path in list(MANY)[::100]]
    assert apply_changes(parent, Changes(entries_table(moved)), store, FINE) == parent
