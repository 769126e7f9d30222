"""Three-way merges, against a merge of plain dictionaries."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.errors import EmptyDatasetError
from atom_sdk.manifests import (
    Conflict,
    MemoryObjectStore,
    MergePlan,
    Policy,
    Root,
    apply_changes,
    build_root,
    diff_roots,
    layer_table,
    merge_roots,
    read_layer,
    read_range,
    write_layer,
)
from atom_sdk.manifests.merge.merge import EMPTY_ROOT
from tests.sdk.manifests.strategies import RULE, entry, table_of
from tests.tiers import examples

Files = Mapping[str, int]
Labels = Mapping[str, tuple[str, str]]
RULED = MergePlan(rule=RULE)
# No slash: what happens to files and folders of one name has a test of its own.
_paths = st.text("abc0", min_size=1, max_size=3)
files = st.dictionaries(_paths, st.integers(0, 2), min_size=1, max_size=8)
policies = st.sampled_from(["ours", "theirs"])


def root_of(files: Files, store: MemoryObjectStore) -> Root:
    """A root of files whose contents are named by numbers."""
    return build_root([table_of(files)], store, rule=RULE)


def with_labels(root: Root, labels: Labels, files: Files, store: MemoryObjectStore) -> Root:
    """The root with labels and their audit states for the bytes that the files have."""
    rows = [
        {"path": path, "digest": entry(path, files[path]).digest, "label": label,
         "source": "human", "audit_state": state}
        for path, (label, state) in labels.items()
        if path in files
    ]  # fmt: skip
    if not rows:
        return root
    table = layer_table("classification", rows)
    return root.with_layers(write_layer("labels", "classification", table, store))


def files_of(root: Root, store: MemoryObjectStore) -> dict[str, bytes]:
    """The digest of each path."""
    pairs: dict[str, bytes] = {}
    for part in root.ranges:
        table = read_range(part, store)
        pairs.update(zip(table["path"].to_pylist(), table["digest"].to_pylist(), strict=True))
    return pairs


def labels_of(root: Root, store: MemoryObjectStore) -> dict[str, dict[str, Any]]:
    """The label row of each path."""
    ref = root.layer("labels")
    return {row["path"]: row for row in read_layer(ref, store).to_pylist()} if ref else {}


def naive(base: Files, ours: Files, theirs: Files, policy: str) -> tuple[dict[str, int], set[str]]:
    """Merge dictionaries; returns the files and the paths in conflict."""
    merged, clashes = {}, set()
    for path in {*base, *ours, *theirs}:
        before, mine, other = base.get(path), ours.get(path), theirs.get(path)
        chosen = other if mine == before else mine
        if mine not in (before, other) and other != before:
            clashes.add(path)
            chosen = other if policy == "theirs" else mine
        if chosen is not None:
            merged[path] = chosen
    return merged, clashes


@settings(max_examples=examples(12))
@given(files, files, files, policies)
def test_files_merge_as_dictionaries_do(
    base: Files, ours: Files, theirs: Files, policy: Policy
) -> None:
    store = MemoryObjectStore()
    roots = [root_of(each, store) for each in (base, ours, theirs)]
    expected, clashes = naive(base, ours, theirs, policy)
    plan = MergePlan(policy, rule=RULE)
    if not expected:
        with pytest.raises(EmptyDatasetError):
            merge_roots(roots[0], roots[1], roots[2], store, plan)
        return
    merged = merge_roots(roots[0], roots[1], roots[2], store, plan)
    assert merged.root is not None
    assert merged.root.content == root_of(expected, store).content
    assert {conflict.path for conflict in merged.conflicts} == clashes
    strict = merge_roots(roots[0], roots[1], roots[2], store, RULED)
    assert (strict.root is None) == bool(clashes)
    assert strict.conflicts == merged.conflicts
    assert strict.conflicts_total == len(clashes)


labels = st.dictionaries(
    _paths, st.tuples(st.sampled_from(["cat", "dog"]), st.sampled_from(["ok", "bad"])), max_size=8
)


@settings(max_examples=examples(12))
@given(st.tuples(files, labels), st.tuples(files, labels), st.tuples(files, labels))
def test_merging_the_other_way_round_gives_the_same(
    base: tuple[Files, Labels], ours: tuple[Files, Labels], theirs: tuple[Files, Labels]
) -> None:
    store = MemoryObjectStore()
    roots = [
        with_labels(root_of(files, store), labels, files, store)
        for files, labels in (base, ours, theirs)
    ]
    try:
        one = merge_roots(roots[0], roots[1], roots[2], store, MergePlan("ours", rule=RULE))
    except EmptyDatasetError:
        return
    two = merge_roots(roots[0], roots[2], roots[1], store, MergePlan("theirs", rule=RULE))
    assert one.root is not None
    assert two.root is not None
    assert one.root.content == two.root.content
    assert labels_of(one.root, store) == labels_of(two.root, store)
    assert len(one.conflicts) == len(two.conflicts)
    # Every label is of the bytes that are there.
    now = files_of(one.root, store)
    assert all(now[path] == row["digest"] for path, row in labels_of(one.root, store).items())


@settings(max_examples=examples(12))
@given(files, files)
def test_undoing_the_last_commit_gives_its_parent_back(before: Files, after: Files) -> None:
    store = MemoryObjectStore()
    old, new = root_of(before, store), root_of(after, store)
    assert merge_roots(new, new, old, store, RULED).root == old


@settings(max_examples=examples(12))
@given(files, files, files)
def test_what_one_side_did_not_change_is_the_other_side(
    base: Files, ours: Files, theirs: Files
) -> None:
    store = MemoryObjectStore()
    roots = [root_of(each, store) for each in (base, ours, theirs)]
    assert merge_roots(roots[0], roots[1], roots[0], store, RULED).root == roots[1]
    assert merge_roots(roots[0], roots[0], roots[2], store, RULED).root == roots[2]


def test_a_merge_reads_and_writes_what_changed_and_nothing_else() -> None:
    store = MemoryObjectStore()
    files = {f"{number:05d}": 0 for number in range(600)}
    base = root_of(files, store)
    ours = apply_changes(base, diff_of(base, {**files, "00010": 1}, store), store, RULE)
    theirs = apply_changes(base, diff_of(base, {**files, "00590": 1}, store), store, RULE)
    known = len(store.objects)
    merged = merge_roots(base, ours, theirs, store, RULED)
    assert merged.root is not None
    assert len(store.objects) - known <= 1
    assert diff_roots(ours, merged.root, store).changed_to["path"].to_pylist() == ["00590"]


def diff_of(base: Root, files: Files, store: MemoryObjectStore) -> Any:
    """The changes from a root to other files."""
    return diff_roots(base, root_of(files, store), store).changes()


FILES = {"a": 0, "b": 0}


def merged_labels(
    base: Labels, ours: Labels, theirs: Labels, policy: Policy = "fail"
) -> tuple[dict[str, dict[str, Any]], tuple[Conflict, ...]]:
    """Merge three versions of labels of the same two files."""
    store = MemoryObjectStore()
    root = root_of(FILES, store)
    roots = [with_labels(root, each, FILES, store) for each in (base, ours, theirs)]
    merged = merge_roots(roots[0], roots[1], roots[2], store, MergePlan(policy))
    return (labels_of(merged.root, store) if merged.root else {}), merged.conflicts


def test_two_people_who_changed_different_columns_of_one_label_both_win() -> None:
    rows, conflicts = merged_labels(
        {"a": ("cat", "open")}, {"a": ("dog", "open")}, {"a": ("cat", "passed")}
    )
    assert (rows["a"]["label"], rows["a"]["audit_state"]) == ("dog", "passed")
    assert conflicts == ()


def test_two_labels_for_one_file_are_a_conflict_of_that_field_alone() -> None:
    sides: tuple[Labels, Labels, Labels] = (
        {"a": ("cat", "open")}, {"a": ("dog", "open")}, {"a": ("cow", "passed")},
    )  # fmt: skip
    assert merged_labels(*sides)[1] == (
        Conflict("a", "changed", "changed", "labels", "label", our_value="dog", their_value="cow"),
    )
    rows, _ = merged_labels(*sides, "theirs")
    assert (rows["a"]["label"], rows["a"]["audit_state"]) == ("cow", "passed")


def test_labels_of_different_files_never_clash() -> None:
    rows, conflicts = merged_labels({}, {"a": ("cat", "open")}, {"b": ("dog", "open")})
    assert (sorted(rows), conflicts) == (["a", "b"], ())


def test_a_label_of_bytes_that_the_other_side_replaced_counts_for_nothing() -> None:
    store = MemoryObjectStore()
    base = root_of({"a": 0, "b": 0}, store)
    ours = with_labels(base, {"a": ("cat", "open"), "b": ("dog", "open")}, FILES, store)
    theirs = root_of({"a": 1, "b": 0}, store)
    merged = merge_roots(base, ours, theirs, store)
    assert merged.root is not None
    assert (list(labels_of(merged.root, store)), merged.conflicts) == (["b"], ())


MOVED = {"a": 2, "c": 1}
LABELLED: Labels = {"a": ("cat", "open"), "b": ("dog", "open")}


def merge_with_a_move(
    base: Labels, moved: Labels, kept: Labels, *, moved_is_ours: bool
) -> tuple[dict[str, dict[str, Any]], tuple[Conflict, ...]]:
    """Merge a side on which b became c with one that left it where it was."""
    store = MemoryObjectStore()
    still: Files = {"a": 2, "b": 1}
    before, left = (with_labels(root_of(still, store), each, still, store) for each in (base, kept))
    gone = with_labels(root_of(MOVED, store), moved, MOVED, store)
    sides = (gone, left) if moved_is_ours else (left, gone)
    merged = merge_roots(before, *sides, store)
    return (labels_of(merged.root, store) if merged.root else {}), merged.conflicts


@pytest.mark.parametrize("moved_is_ours", [True, False])
def test_a_label_goes_along_with_a_file_that_the_other_side_moved(moved_is_ours: bool) -> None:
    moved: Labels = {"a": ("cat", "open"), "c": ("dog", "passed")}
    kept: Labels = {"a": ("cat", "open"), "b": ("wolf", "open")}
    rows, conflicts = merge_with_a_move(LABELLED, moved, kept, moved_is_ours=moved_is_ours)
    assert {path: (row["label"], row["audit_state"]) for path, row in rows.items()} == {
        "a": ("cat", "open"),
        "c": ("wolf", "passed"),
    }
    assert conflicts == ()


@pytest.mark.parametrize("moved_is_ours", [True, False])
def test_two_labels_for_a_file_that_one_side_moved_are_a_conflict(moved_is_ours: bool) -> None:
    moved: Labels = {"a": ("cat", "open"), "c": ("hound", "open")}
    kept: Labels = {"a": ("cat", "open"), "b": ("wolf", "open")}
    _, (conflict,) = merge_with_a_move(LABELLED, moved, kept, moved_is_ours=moved_is_ours)
    assert (conflict.path, conflict.field) == ("c", "label")
    assert {conflict.our_value, conflict.their_value} == {"wolf", "hound"}


@pytest.mark.parametrize(
    ("ours", "theirs", "policy", "left"),
    [
        ({"x": 1}, {"x/y": 1}, "ours", {"x", "z"}),
        ({"x": 1}, {"x/y": 1}, "theirs", {"x/y", "z"}),
        ({"x/y": 1}, {"x": 1}, "ours", {"x/y", "z"}),
        ({"x/y": 1, "x/w/v": 1}, {"x": 1}, "theirs", {"x", "z"}),
    ],
)
def test_a_file_and_a_folder_of_one_name_are_a_conflict(
    ours: Files, theirs: Files, policy: Policy, left: set[str]
) -> None:
    store = MemoryObjectStore()
    base = {"z": 0}
    roots = [root_of(each, store) for each in (base, {**base, **ours}, {**base, **theirs})]
    assert merge_roots(roots[0], roots[1], roots[2], store).root is None
    merged = merge_roots(roots[0], roots[1], roots[2], store, MergePlan(policy))
    assert merged.root is not None
    assert set(files_of(merged.root, store)) == left
    assert all(conflict.other_path for conflict in merged.conflicts)


def test_without_a_common_ancestor_every_difference_is_an_addition() -> None:
    store = MemoryObjectStore()
    ours, theirs = root_of({"a": 0, "b": 0}, store), root_of({"a": 1, "c": 0}, store)
    merged = merge_roots(EMPTY_ROOT, ours, theirs, store)
    ((conflict,), total) = merged.conflicts, merged.conflicts_total
    assert (conflict.path, conflict.ours, conflict.theirs, total) == ("a", "added", "added", 1)


def test_a_merge_may_be_confined_to_some_paths() -> None:
    store = MemoryObjectStore()
    base = root_of({"a/1": 0, "b/1": 0}, store)
    theirs = root_of({"a/1": 1, "b/1": 1, "b/2": 0}, store)
    plan = MergePlan(selects=lambda paths: pc.starts_with(paths, "b/"))
    merged = merge_roots(base, base, theirs, store, plan)
    assert merged.root is not None
    assert diff_roots(base, merged.root, store).changed_to["path"].to_pylist() == ["b/1"]
    assert "b/2" in files_of(merged.root, store)
