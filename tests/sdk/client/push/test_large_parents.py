"""A push onto a large version: what is kept in files says what it says in memory."""

from __future__ import annotations

from itertools import chain
from pathlib import Path
from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.client.progress import Silent
from atom_sdk.client.push import scan as scanning
from atom_sdk.client.push.contents import FolderContents
from atom_sdk.client.push.pack_groups import group_by_split, paths_after
from atom_sdk.client.push.packed_rows import add_unpacked, in_path_order, packed_rows
from atom_sdk.client.push.parents import parent_of
from atom_sdk.client.push.scan import DigestCache, Parent, Scan, compare
from atom_sdk.client.push.stored_contents import Known, StoredContents
from atom_sdk.importers.collection import ImportContents
from atom_sdk.manifests import BoundaryRule, Entry, MemoryObjectStore, build_root, entries_table
from atom_sdk.manifests.layers.layers import layer_table, write_layer
from atom_sdk.manifests.rows.path_map import PathMap, PathMapFile
from atom_sdk.packs import SourceFile
from tests.tiers import examples

NOW_NS = 10**18
_PATHS = st.sampled_from([f"{folder}é{n}" for folder in ("", "a/", "b/c/") for n in range(9)])
_CONTENTS = st.integers(1, 9)
_PACKS = st.sampled_from([None, b"good", b"bad!", b"also"])
_SPLITS = st.sampled_from([None, "train", "test"])
_BEFORE = st.dictionaries(_PATHS, st.tuples(_CONTENTS, _PACKS, st.booleans(), _SPLITS), min_size=1)
_NOW = st.dictionaries(_PATHS, _CONTENTS)
_OPTIONS = {"labels_from": "folder", "unlabelled_prefixes": ["b"], "split": {"test": "30%"}}


@pytest.fixture(autouse=True)
def _own_cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ATOM_CACHE", str(tmp_path / "cache"))


def _digest(content: int) -> bytes:
    # All begin with the same bytes: the rest must decide.
    return bytes(31) + bytes([content])


def _pack(name: bytes) -> bytes:
    return name.ljust(32, b".")


def _parent(before: dict[str, Any], folder: Path, large: int) -> Parent:
    store = MemoryObjectStore()
    entries = [
        Entry(
            path,
            content,
            _digest(content),
            "image/png",
            '{"said":1}' if is_described else None,
            _pack(pack) if pack else None,
            512 * len(path) if pack else None,
        )
        for path, (content, pack, is_described, _) in before.items()
    ]
    root = build_root([entries_table(entries)], store, rule=BoundaryRule(cap=4))
    splits = (
        {"path": path, "digest": _digest(content), "value": split}
        for path, (content, _, _, split) in before.items()
        if split
    )
    layer = write_layer("split", "split", layer_table("split", splits), store)
    return parent_of(root.with_layers(layer), store, {_pack(b"bad!")}, folder, large)


def _compared(now: dict[str, int], parent: Parent, folder: Path) -> tuple[Scan, DigestCache]:
    files = [SourceFile(path, now[path], 5) for path in sorted(now)]
    contents = ImportContents(bytes(folder), {})
    digests = ((file.path, _digest(now[file.path])) for file in files)
    DigestCache(folder, contents).save(files, digests, (), NOW_NS)
    cache = DigestCache(folder, contents)
    return compare(files, parent, cache, Silent(), folder), cache


def _expected(now: dict[str, int], before: dict[str, Any]) -> dict[str, str]:
    """The expected operation for each path."""
    good = {content for content, pack, *_ in before.values() if pack not in (None, b"bad!")}
    found = {path: "delete" for path in before if path not in now}
    for path, content in now.items():
        was = before.get(path, (None, None))
        is_there = was[0] == content and was[1] != b"bad!"
        found[path] = "new" if content not in good else "unchanged" if is_there else "put"
    return found


@settings(max_examples=examples(60), deadline=None)
@given(_BEFORE, _NOW)
def test_a_push_does_with_each_file_what_it_should(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, Any], now: dict[str, int]
) -> None:
    rows, groups = {}, {}
    for large in (0, 10**9):
        folder = tmp_path_factory.mktemp("parent")
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(scanning, "_ROWS_AT_ONCE", 4)
            parent = _parent(before, folder, large)
            scan, cache = _compared(now, parent, folder)
            found = {file.path: "new" for file in scan.new}
            with packed_rows() as packed:
                add_unpacked(packed, scan, parent, ())
                tables = [*in_path_order(packed.runs())]
            rows[large] = [row for table in tables for row in table.to_pylist()]
            found |= {row["path"]: row["op"] for row in rows[large]}
            assert len(found) == len(scan.new) + len(rows[large])
            unchanged = {path: "unchanged" for path in now if path not in found}
            assert scan.unchanged == len(unchanged)
            assert found | unchanged == _expected(now, before)
            assert {file.path: cache.get(file) for file, _ in scan.known} == {
                file.path: digest for file, digest in scan.known
            }
        paths = paths_after(parent.digests, sorted(now), scan.removed)
        split = group_by_split(scan.new, paths, _OPTIONS, parent.splits, parent.attributes.get)
        groups[large] = [list(files) for files in split]
        assert sorted(chain(*groups[large])) == sorted(scan.new)
    assert rows[0] == rows[10**9]
    assert groups[0] == groups[10**9]


@given(before=_BEFORE)
def test_a_parent_in_files_is_the_one_in_memory(
    tmp_path_factory: pytest.TempPathFactory, before: dict[str, Any]
) -> None:
    folder = tmp_path_factory.mktemp("parent")
    ours, known = (_parent(before, folder, large) for large in (0, 10**9))
    for name in ("digests", "attributes", "splits"):
        assert list(getattr(ours, name).items()) == list(getattr(known, name).items())
    assert set(ours.damaged) == set(known.damaged)
    for content in range(11):
        assert ours.stored.get(_digest(content)) == known.stored.get(_digest(content))


def test_the_first_of_equal_contents_is_the_one_that_is_used(tmp_path: Path) -> None:
    contents = StoredContents(tmp_path / "contents", 4)
    schema = {"digest": pa.binary(32), "pack": pa.binary(32), "offset": "i8", "size": "i8"}
    for offset in (512, 1024):
        row = {"digest": _digest(1), "pack": _pack(b"good"), "offset": offset, "size": 7}
        contents.add(pa.Table.from_pylist([row], schema=pa.schema(list(schema.items()))))
    contents.close()
    assert contents[_digest(1)] == Known(_pack(b"good"), 512, 7)
    assert _digest(2) not in contents


def test_values_are_found_by_path_in_any_order(tmp_path: Path) -> None:
    file = PathMapFile(tmp_path / "map", pa.schema([("path", pa.string()), ("value", pa.int64())]))
    for start in (10, 14, 20):
        paths = [f"{number}" for number in range(start, start + 3)]
        file.add(pa.table({"path": paths, "value": list(range(start, start + 3))}))
    found: PathMap[int] = file.read()
    assert [found.get(path) for path in ("21", "1", "10", "13", "16", "99", "14", "0")] == [
        21, None, 10, None, 16, None, 14, None,
    ]  # fmt: skip
    assert dict(found) == dict(PathMap[int](tmp_path / "map"))
    assert len(found) == 9


def test_paths_after_a_push_leave_out_what_is_removed() -> None:
    assert list(paths_after("abdf", "bce", "df")) == list("abce")


def test_what_was_read_of_a_file_is_remembered_whatever_the_branch_holds(tmp_path: Path) -> None:
    file = tmp_path / "a"
    file.write_bytes(b"mine")
    contents = FolderContents(tmp_path)
    files = [SourceFile("a", 4, 5)]
    cache = DigestCache(tmp_path / "cache", contents)
    mine = cache.digests(files)
    cache.save(files, (), (), NOW_NS)
    assert DigestCache(tmp_path / "cache", contents).get(files[0]) == mine["a"]
