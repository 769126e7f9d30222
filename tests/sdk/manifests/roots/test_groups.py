"""Roots of two levels: the same dataset, of which only what is asked for is read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings

from atom_sdk import errors
from atom_sdk.manifests import (
    BoundaryRule,
    Changes,
    Listing,
    MemoryObjectStore,
    Root,
    apply_changes,
    build_root,
    decode_root,
    diff_roots,
    encode_root,
    read_root,
    table_entries,
    write_layer,
    write_root,
)
from atom_sdk.manifests.layers.layers import layer_table
from atom_sdk.manifests.roots.groups import GroupRule, range_position
from tests.sdk.manifests.strategies import RULE, filled_sets, table_of
from tests.tiers import examples

SMALL = GroupRule(flat=0, modulus=6, cap=3)
FINE = BoundaryRule(modulus=20)
MANY = {f"{number:05d}": number for number in range(2000)}


class CountingStore(MemoryObjectStore):
    """Remembers which keys were read."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[str] = []

    def get(self, key: str) -> bytes:
        self.read.append(key)
        return super().get(key)


def regrouped(root: Root, store: MemoryObjectStore) -> Root:
    return read_root(write_root(root, store, SMALL), store)


@given(filled_sets)
def test_a_root_in_groups_is_the_same_root(files: dict[str, int]) -> None:
    store = MemoryObjectStore()
    flat = build_root([table_of(files)], store, rule=RULE)
    root = regrouped(flat, store)
    assert tuple(root.ranges) == flat.ranges
    assert (root.count, root.size_bytes, root.content) == (
        flat.count, flat.size_bytes, flat.content
    )  # fmt: skip
    assert all(1 <= group.ranges <= SMALL.cap for group in root.groups)
    for path in [*files, "", "b", "\U0010ffff"]:
        assert range_position(root.ranges, path) == range_position(flat.ranges, path)
    assert write_root(root, store) == write_root(flat, store, SMALL)


@given(filled_sets, filled_sets)
@settings(max_examples=examples(50))
def test_roots_in_groups_differ_as_flat_ones_do(old: dict[str, int], new: dict[str, int]) -> None:
    store = MemoryObjectStore()
    flat = [build_root([table_of(files)], store, rule=RULE) for files in (old, new)]
    plain = diff_roots(flat[0], flat[1], store)
    diff = diff_roots(regrouped(flat[0], store), regrouped(flat[1], store), store)
    assert diff.changes() == plain.changes()
    assert diff.renamed == plain.renamed
    assert apply_changes(regrouped(flat[0], store), diff.changes(), store, RULE) == flat[1]


def test_a_lookup_reads_one_group_and_one_range() -> None:
    store = CountingStore()
    root = regrouped(build_root([table_of(MANY)], store, rule=FINE), store)
    assert len(root.groups) > 20
    store.read.clear()
    assert Listing(root, store).lookup("01000").path == "01000"
    assert [key.split("/")[0] for key in store.read] == ["groups", "ranges"]


def test_a_comparison_reads_only_the_groups_that_differ() -> None:
    store = CountingStore()
    flat = build_root([table_of(MANY)], store, rule=FINE)
    changed = apply_changes(flat, Changes(table_of({"01000": -1})), store, FINE)
    old, new = regrouped(flat, store), regrouped(changed, store)
    store.read.clear()
    diff = diff_roots(old, new, store)
    assert diff.changed_paths.to_pylist() == ["01000"]
    assert sorted(key.split("/")[0] for key in store.read) == ["groups"] * 2 + ["ranges"] * 2


def test_layers_of_a_root_in_groups_change_without_reading_it() -> None:
    store = CountingStore()
    root = regrouped(build_root([table_of(MANY)], store, rule=FINE), store)
    store.read.clear()
    split = write_layer("split", "split", layer_table("split", []), store)
    with_split = read_root(write_root(root.with_layers(split), store), store)
    assert with_split.layers == (split,)
    assert with_split.groups == root.groups
    assert not [key for key in store.read if key.startswith("groups")]


def test_the_format_fixes_where_groups_begin() -> None:
    # Changing these would give equal datasets unequal objects.
    assert GroupRule() == GroupRule(flat=4096, modulus=1_048_576, cap=2048)


@pytest.mark.parametrize("field", ["min", "count", "bytes", "ranges", "content"])
def test_a_group_that_its_root_lies_about_is_refused(field: str) -> None:
    store = MemoryObjectStore()
    flat = build_root([table_of(MANY)], store, rule=FINE)
    value: dict[str, Any] = json.loads(encode_root(flat, SMALL))
    write_root(flat, store, SMALL)
    given_value = value["groups"][0][field]
    value["groups"][0][field] = "00" * 32 if isinstance(given_value, str) else given_value + 1
    value["count"] = sum(group["count"] for group in value["groups"])
    value["bytes"] = sum(group["bytes"] for group in value["groups"])
    root = decode_root(json.dumps(value).encode(), store=store)
    with pytest.raises(errors.ManifestCorruptError, match="groups/"):
        root.ranges[0]


def test_rows_of_a_range_in_a_group_are_read() -> None:
    store = MemoryObjectStore()
    root = regrouped(build_root([table_of(MANY)], store, rule=FINE), store)
    page = Listing(root, store).entries(prefix="019", limit=500)
    assert page.entries == table_entries(table_of({p: n for p, n in MANY.items() if p >= "01900"}))
