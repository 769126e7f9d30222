"""Diffs of random histories say what a plain comparison of all entries says."""

from __future__ import annotations

from collections import defaultdict

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.manifests import (
    BoundaryRule,
    Changes,
    Rename,
    apply_changes,
    build_root,
    diff_roots,
    entries_table,
    table_entries,
)
from atom_sdk.manifests.ranges.deltas import DeltaRule
from atom_sdk.manifests.rows.sorted_paths import positions, positions_in_list, rows_of_paths
from tests.sdk.manifests.roots.test_groups import CountingStore
from tests.sdk.manifests.strategies import RULE, entry, filled_sets, path_sets, table_of
from tests.tiers import examples

LAID_OVER = DeltaRule(min_ranges=1, max_share=100.0, max_depth=3)
WRITTEN = DeltaRule(min_ranges=10**9)
FINE = BoundaryRule(modulus=50)
MANY = {f"{number:05d}": number for number in range(2000)}

steps = st.lists(
    st.tuples(path_sets, st.sets(st.text("abc/é0.", min_size=1, max_size=6)), st.booleans()),
    max_size=4,
)


def plain_renames(old: dict[str, int], new: dict[str, int]) -> list[Rename]:
    sources = defaultdict(list)
    for path in sorted(old.keys() - new.keys()):
        sources[entry(path, old[path]).digest].append(path)
    found = []
    for path in sorted(new.keys() - old.keys()):
        digest = entry(path, new[path]).digest
        if sources[digest] and digest:
            found.append(Rename(sources[digest].pop(0), path, digest))
    return found


@given(filled_sets, steps)
@settings(max_examples=examples(60))
def test_a_diff_says_what_comparing_all_entries_says(
    files: dict[str, int], history: list[tuple[dict[str, int], set[str], bool]]
) -> None:
    store = CountingStore()
    states = [files | {"kept": 0}]
    roots = [build_root([table_of(states[0])], store, rule=RULE)]
    for puts, gone, is_laid_over in history:
        deletes = gone - {"kept"}
        states.append({p: n for p, n in states[-1].items() if p not in deletes} | puts)
        rule = LAID_OVER if is_laid_over else WRITTEN
        changes = Changes(table_of(puts), frozenset(deletes))
        roots.append(apply_changes(roots[-1], changes, store, RULE, rule))
    for old, before in zip(roots, states, strict=True):
        for new, after in zip(roots, states, strict=True):
            diff = diff_roots(old, new, store)
            changed = {path for path in before.keys() & after.keys() if before[path] != after[path]}
            assert diff.added_paths.to_pylist() == sorted(after.keys() - before.keys())
            assert diff.removed_paths.to_pylist() == sorted(before.keys() - after.keys())
            assert diff.changed_paths.to_pylist() == sorted(changed)
            assert list(diff.renamed) == plain_renames(before, after)
            assert diff.added == table_of({p: after[p] for p in after.keys() - before.keys()})
            assert diff.removed == table_of({p: before[p] for p in before.keys() - after.keys()})
            assert diff.changed_to == table_of({path: after[path] for path in changed})
            assert diff.changed_from == table_of({path: before[path] for path in changed})
            assert diff.is_empty == (before == after)
            some = diff.selected(lambda paths: pc.starts_with(paths, "a"))
            assert some.changes() == Changes(
                table_of({p: n for p, n in after.items() if before.get(p) != n and p[0] == "a"}),
                frozenset(p for p in before.keys() - after.keys() if p[0] == "a"),
            )


@given(filled_sets, st.lists(st.text("abc/é0\U0001f600.", max_size=4)))
def test_paths_are_found_with_and_without_arrows_search(
    files: dict[str, int], wanted: list[str]
) -> None:
    paths = pa.array(sorted(files))
    asked = pa.array([*files, *wanted])
    left = positions_in_list(paths.to_pylist(), asked.to_pylist(), "left").tolist()
    right = positions_in_list(paths.to_pylist(), asked.to_pylist(), "right").tolist()
    assert positions(paths, asked, "left").tolist() == left
    assert positions(paths, asked, "right").tolist() == right
    rows = [sorted(files).index(path) if path in files else -1 for path in asked.to_pylist()]
    assert rows_of_paths(paths, asked).tolist() == rows
    assert rows_of_paths(paths[:0], asked).tolist() == [-1] * len(asked)


def test_entries_that_differ_in_one_optional_column_are_found() -> None:
    store = CountingStore()
    first, second, third = (entry(path) for path in "abc")
    old = [first, second._replace(attributes='{"a":1}'), third._replace(media_type=None)]
    new = [first, second, third]
    roots = [build_root([entries_table(rows)], store) for rows in (old, new)]
    diff = diff_roots(roots[0], roots[1], store)
    assert diff.changed_paths.to_pylist() == ["b", "c"]
    assert table_entries(diff.changed_from) == old[1:]
    assert table_entries(diff_roots(roots[1], roots[0], store).changed_to) == old[1:]


def test_entries_are_read_only_when_they_are_asked_for() -> None:
    store = CountingStore()
    old = build_root([table_of(MANY)], store, rule=FINE)
    # No other test lays these rows over a range, since decoded deltas are kept.
    scattered = Changes(table_of(dict.fromkeys(list(MANY)[::100], -31)))
    new = apply_changes(old, scattered, store, FINE)
    store.read.clear()
    diff = diff_roots(old, new, store)
    assert len(diff.changed_paths) == 20
    (delta,) = store.read
    assert delta.startswith("deltas/")
    assert diff.changed_to == scattered.upserts
    assert not [key for key in store.read if key.startswith("ranges/")]
    assert len(diff.changed_from) == 20
    assert [key for key in store.read if key.startswith("ranges/")]


def test_a_damaged_range_is_named_by_the_diff() -> None:
    store = CountingStore()
    old = build_root([table_of(MANY)], store, rule=FINE)
    new = apply_changes(old, Changes(table_of({"01000": -1})), store, FINE)
    (part,) = set(new.ranges) - set(old.ranges)
    key = f"ranges/{part.object.hex()}.parquet"
    store.objects[key] = store.objects[key][:-1]
    with pytest.raises(errors.ManifestCorruptError, match=key):
        diff_roots(old, new, store)
