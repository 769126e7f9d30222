"""Comparing two roots."""

from __future__ import annotations

from hypothesis import given, settings

from atom_sdk.manifests import (
    BoundaryRule,
    Changes,
    MemoryObjectStore,
    Rename,
    Root,
    apply_changes,
    build_root,
    diff_roots,
    layer_table,
    write_layer,
)
from tests.sdk.manifests.strategies import RULE, entry, filled_sets, table_of
from tests.tiers import examples


@given(filled_sets, filled_sets)
@settings(max_examples=examples(200))
def test_applying_a_diff_gives_the_new_root(old: dict[str, int], new: dict[str, int]) -> None:
    store = MemoryObjectStore()
    before = build_root([table_of(old)], store, rule=RULE)
    after = build_root([table_of(new)], store, rule=RULE)
    diff = diff_roots(before, after, store)
    assert apply_changes(before, diff.changes(), store, RULE) == after
    assert diff.is_empty == (old == new)


@given(filled_sets, filled_sets)
def test_a_diff_names_exactly_what_differs(old: dict[str, int], new: dict[str, int]) -> None:
    store = MemoryObjectStore()
    before = build_root([table_of(old)], store, rule=RULE)
    diff = diff_roots(before, build_root([table_of(new)], store, rule=RULE), store)
    assert diff.added.column("path").to_pylist() == sorted(new.keys() - old.keys())
    assert diff.removed.column("path").to_pylist() == sorted(old.keys() - new.keys())
    changed = sorted(path for path in old.keys() & new.keys() if old[path] != new[path])
    assert diff.changed_from.column("path").to_pylist() == changed
    assert diff.changed_to.column("path").to_pylist() == changed


def test_equal_ranges_are_not_read() -> None:
    store = MemoryObjectStore()
    files = {f"{number:05d}": number for number in range(2000)}
    rule = BoundaryRule(modulus=50)
    before = build_root([table_of(files)], store, rule=rule)
    after = apply_changes(before, Changes(table_of({"01000": -1})), store, rule)
    diff = diff_roots(before, after, store)
    assert diff.ranges_read == 2
    assert diff.changed_to.column("path").to_pylist() == ["01000"]


def test_a_file_with_the_same_bytes_elsewhere_is_a_rename() -> None:
    store = MemoryObjectStore()
    before = build_root([table_of({"a": 1, "b": 2, "c": 3})], store)
    after = build_root([table_of({"a": 1, "moved/b": 2, "d": 4})], store)
    diff = diff_roots(before, after, store)
    assert diff.renamed == (Rename("b", "moved/b", entry("b", 2).digest or b""),)
    assert diff.removed.column("path").to_pylist() == ["b", "c"]
    assert diff.added.column("path").to_pylist() == ["d", "moved/b"]


def _with_split(root: Root, store: MemoryObjectStore, values: dict[str, str]) -> Root:
    rows = [
        {"path": path, "digest": entry(path, 1).digest, "value": value}
        for path, value in values.items()
    ]
    return root.with_layers(write_layer("split", "split", layer_table("split", rows), store))


def test_rows_of_layers_are_compared_too() -> None:
    store = MemoryObjectStore()
    root = build_root([table_of({"a": 1, "b": 1, "c": 1})], store)
    before = _with_split(root, store, {"a": "train", "b": "train"})
    after = _with_split(root, store, {"b": "test", "c": "val"})
    diff = diff_roots(before, after, store)
    assert diff.ranges_read == 0
    (layer,) = diff.layers
    assert layer.added.column("path").to_pylist() == ["c"]
    assert layer.removed.column("path").to_pylist() == ["a"]
    assert layer.changed_from.column("value").to_pylist() == ["train"]
    assert layer.changed_to.column("value").to_pylist() == ["test"]


def test_a_layer_that_comes_or_goes_is_reported_whole() -> None:
    store = MemoryObjectStore()
    root = build_root([table_of({"a": 1})], store)
    with_split = _with_split(root, store, {"a": "train"})
    assert len(diff_roots(root, with_split, store).layers[0].added) == 1
    assert len(diff_roots(with_split, root, store).layers[0].removed) == 1
    assert diff_roots(with_split, with_split, store).is_empty
