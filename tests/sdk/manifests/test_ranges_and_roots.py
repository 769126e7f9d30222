"""Ranges and roots: where the cuts are, what the digests cover, what a change costs."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk import errors
from atom_sdk.manifests import (
    ENTRY_SCHEMA,
    BoundaryRule,
    Changes,
    Entry,
    FolderObjectStore,
    MemoryObjectStore,
    apply_changes,
    build_root,
    decode_root,
    encode_root,
    entries_table,
    iter_ranges,
    read_range,
    read_root,
    table_entries,
    write_root,
)
from atom_sdk.manifests.ranges.ranges import split_ranges
from tests.sdk.manifests.strategies import RULE, entry, filled_sets, path_sets, table_of
from tests.tiers import examples

PINNED_CONTENT = "a749fc7f36a59d0feea72835500830b0ef2fede630e26c4d0d7e19ac3544178e"


@given(filled_sets)
def test_what_is_built_is_read_back(files: dict[str, int]) -> None:
    store = MemoryObjectStore()
    root = build_root([table_of(files)], store, rule=RULE)
    rows = [row for table in iter_ranges(root, store) for row in table_entries(table)]
    assert rows == table_entries(table_of(files))
    assert root.count == len(files)
    assert root.size_bytes == sum(row.size for row in rows)
    assert read_root(write_root(root, store), store) == root


@given(filled_sets, st.integers(1, 7))
def test_the_cuts_do_not_depend_on_how_the_stream_was_cut(files: dict[str, int], step: int) -> None:
    table = table_of(files)
    pieces = [table.slice(start, step) for start in range(0, len(table), step)]
    whole = build_root([table], MemoryObjectStore(), rule=RULE)
    assert build_root(pieces, MemoryObjectStore(), rule=RULE) == whole


@given(filled_sets)
def test_a_range_begins_at_each_boundary_path_and_never_exceeds_the_cap(
    files: dict[str, int],
) -> None:
    previous = 0
    for number, table in enumerate(split_ranges([table_of(files)], RULE)):
        paths = table.column("path").to_pylist()
        assert 1 <= len(paths) <= RULE.cap
        assert not any(RULE.begins(path) for path in paths[1:])
        if number and not RULE.begins(paths[0]):
            assert previous == RULE.cap
        previous = len(paths)


@given(filled_sets, path_sets, st.sets(st.text("abc/é0.", min_size=1, max_size=6)))
@settings(max_examples=examples(300))
def test_applying_changes_gives_the_root_that_building_from_scratch_gives(
    files: dict[str, int], upserts: dict[str, int], deletes: set[str]
) -> None:
    some = sorted(files)[::3]
    deletes = deletes | set(some)
    wanted = {path: number for path, number in files.items() if path not in deletes} | upserts
    store = MemoryObjectStore()
    parent = build_root([table_of(files)], store, rule=RULE)
    changes = Changes(table_of(upserts), frozenset(deletes))
    if not wanted:
        with pytest.raises(errors.EmptyDatasetError):
            apply_changes(parent, changes, store, RULE)
        return
    assert apply_changes(parent, changes, store, RULE) == build_root(
        [table_of(wanted)], MemoryObjectStore(), rule=RULE
    )


@given(filled_sets, st.randoms(use_true_random=False))
def test_the_order_of_edits_leaves_no_trace(files: dict[str, int], random: Any) -> None:
    store = MemoryObjectStore()
    order = list(files)
    random.shuffle(order)
    root = build_root([table_of({order[0]: files[order[0]]})], store, rule=RULE)
    for path in order[1:]:
        root = apply_changes(root, Changes(table_of({path: files[path]})), store, RULE)
    assert root == build_root([table_of(files)], store, rule=RULE)


def test_a_small_change_writes_one_range_of_many() -> None:
    store = MemoryObjectStore()
    files = {f"{number:05d}": number for number in range(2000)}
    rule = BoundaryRule(modulus=50)
    parent = build_root([table_of(files)], store, rule=rule)
    before = set(store.objects)
    root = apply_changes(parent, Changes(table_of({"01000": -1})), store, rule)
    assert len(parent.ranges) > 20
    assert len(set(store.objects) - before) == 1
    assert len(set(root.ranges) - set(parent.ranges)) == 1


def test_rebuilding_with_a_parent_writes_only_what_changed() -> None:
    store = MemoryObjectStore()
    files = {f"{number:05d}": number for number in range(500)}
    rule = BoundaryRule(modulus=20)
    parent = build_root([table_of(files)], store, rule=rule)
    before = set(store.objects)
    root = build_root([table_of(files | {"00100": -1})], store, parent, rule)
    assert len(set(store.objects) - before) == 1
    assert root.content != parent.content


def test_repacking_changes_no_content_digest() -> None:
    here = entry("a")
    there = here._replace(pack=bytes(32), offset=8192)
    first = build_root([entries_table([here])], MemoryObjectStore())
    second = build_root([entries_table([there])], MemoryObjectStore())
    assert first.content == second.content
    assert first.ranges[0].object != second.ranges[0].object


@pytest.mark.parametrize(
    "change",
    [
        {"path": "b"},
        {"size": 8},
        {"digest": bytes(32)},
        {"digest": None},
        {"media_type": "image/png"},
        {"media_type": None},
        {"media_type": ""},
        {"attributes": "{}"},
    ],
)
def test_every_logical_column_counts_in_the_content_digest(change: dict[str, Any]) -> None:
    contents = {
        build_root([entries_table([item])], MemoryObjectStore()).content
        for item in (entry("a"), entry("a")._replace(**change))
    }
    assert len(contents) == 2


def test_the_content_digest_is_pinned() -> None:
    # A changed digest here means a changed format: people pin these digests.
    root = build_root([table_of({"a": 1, "é/b": 2})], MemoryObjectStore())
    assert root.content.hex() == PINNED_CONTENT


def test_no_entries_are_no_dataset() -> None:
    with pytest.raises(errors.EmptyDatasetError):
        build_root([], MemoryObjectStore())
    with pytest.raises(errors.EmptyDatasetError):
        build_root([ENTRY_SCHEMA.empty_table()], MemoryObjectStore())


def test_entries_out_of_order_or_twice_are_refused() -> None:
    one, two = table_of({"a": 1}), table_of({"b": 1})
    for tables in ([two, one], [one, one]):
        with pytest.raises(errors.EntryOrderError):
            build_root(tables, MemoryObjectStore())
    with pytest.raises(errors.EntryOrderError):
        build_root([entries_table([Entry("a", 1, None), Entry("a", 2, None)])], MemoryObjectStore())


def test_a_damaged_range_is_named_and_not_read() -> None:
    store = MemoryObjectStore()
    root = build_root([table_of({"a": 1})], store)
    (key,) = store.objects
    store.objects[key] = store.objects[key][:-1] + b"x"
    with pytest.raises(errors.ManifestCorruptError, match=key):
        read_range(root.ranges[0], store)


def test_a_missing_object_is_named() -> None:
    with pytest.raises(errors.ObjectNotFoundError, match="roots/0000"):
        read_root(bytes(32), MemoryObjectStore())


@pytest.mark.parametrize(
    ("change", "error"),
    [
        ({"format": "atom-root/3"}, errors.UnknownFormatError),
        ({"count": 7}, errors.ManifestCorruptError),
        ({"content": "00" * 32}, errors.ManifestCorruptError),
        ({"ranges": [{}]}, errors.ManifestCorruptError),
    ],
)
def test_a_root_that_lies_is_refused(change: dict[str, Any], error: type[Exception]) -> None:
    value = json.loads(encode_root(build_root([table_of({"a": 1})], MemoryObjectStore())))
    with pytest.raises(error):
        decode_root(json.dumps(value | change).encode())


def test_a_root_is_canonical_json() -> None:
    data = encode_root(build_root([table_of({"é": 1})], MemoryObjectStore()))
    text = json.dumps(json.loads(data), sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    assert data == text.encode()
    assert "é".encode() in data


def test_a_folder_keeps_objects_as_files(tmp_path: Any) -> None:
    store = FolderObjectStore(tmp_path / "objects")
    root = build_root([table_of({"a": 1})], store)
    digest = write_root(root, store)
    assert store.exists(f"roots/{digest.hex()}.json")
    assert read_root(digest, FolderObjectStore(tmp_path / "objects")) == root
    with pytest.raises(errors.ObjectNotFoundError):
        store.get("roots/none.json")
