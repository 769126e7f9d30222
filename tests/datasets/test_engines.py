"""The pure parts, against naive models of themselves."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Hashable, Sequence
from functools import partial

import pyarrow as pa
import pyarrow.compute as pc
import pytest
from blake3 import blake3
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.engines.folder_pages import PageRequest
from atom.datasets.catalog.engines.byte_cache import ByteCache
from atom.datasets.versions.engines.changes import ChangesError, ChangesFile, decode_changes
from atom.datasets.versions.engines.version_plan import FOLDER_LAYER, SPLIT_LAYER, VersionPlan
from atom.datasets.versions.engines.version_stats import VersionStats
from atom.datasets.versions.engines.versions import (
    build_version,
)
from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, entries_table, read_layer
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.layers.folder_labels import folder_label
from atom_sdk.manifests.layers.layers import read_values
from atom_sdk.manifests.links import read_links
from atom_sdk.manifests.query import Query, read_object_facts
from atom_sdk.manifests.ranges.ranges import BoundaryRule
from atom_sdk.manifests.roots.roots import LayerRef, RangeRef, Root
from atom_sdk.manifests.splits.requests import SplitRequest
from tests.datasets.pushing import changes_file, delete_row, make_pack, put_rows
from tests.tiers import examples

# A busy machine is slow, not wrong.
model_test = settings(max_examples=examples(40))
SEGMENTS = st.sampled_from(["a", "b", "ab", "a b", "é", "0", "~", "a-b", "a.b"])
PATHS = st.lists(SEGMENTS, min_size=1, max_size=3).map("/".join)
FILES = st.dictionaries(PATHS, st.binary(max_size=3), min_size=1, max_size=12)


class Source:
    """Reads tables without a cache, and notes what of."""

    def __init__(self, store: MemoryObjectStore) -> None:
        self.store = store
        self.read: list[str] = []
        self.known: dict[Hashable, pa.Array] = {}

    def range(self, part: RangeRef) -> pa.Table:
        self.read.append(part.min)
        return read_range(part, self.store)

    def links(self, root: Root) -> dict[str, str]:
        return read_links(root, self.store)

    def scanned(self, part: RangeRef) -> pa.Table:
        return self.range(part)

    def values(self, ref: LayerRef, column: str) -> pa.Table:
        self.read.append(ref.name)
        return read_values(ref, column, self.store)

    def object_rows(self, ref: LayerRef, paths: Sequence[str]) -> pa.Table:
        table = read_layer(ref, self.store)
        return table.filter(pc.is_in(table["path"], value_set=pa.array(paths, pa.string())))

    def object_facts(self, root: Root, query: Query) -> pa.Table | None:
        return read_object_facts(root, self.store, query)

    def object_labels(self, ref: LayerRef) -> dict[str, int]:
        rows = read_layer(ref, self.store)["objects"].to_pylist()
        return dict(Counter(each["label"] for row in rows for each in row))

    def numbers(self, key: Hashable, find: Callable[[], pa.Array]) -> pa.Array:
        if key not in self.known:
            self.known[key] = find()
        return self.known[key]

    def stats(self, key: Hashable, count: Callable[[], VersionStats]) -> VersionStats:
        return count()


def entries(files: dict[str, bytes]) -> pa.Table:
    """Return entries of files that all claim to lie in one pack."""
    pack = blake3(b"pack").digest()
    return entries_table(
        Entry(path, len(data), blake3(data).digest(), "image/png", None, pack, 0)
        for path, data in files.items()
    )


@pytest.mark.parametrize(
    ("path", "label"),
    [
        ("cat/1.png", "cat"),
        ("train/cat/1.png", "cat"),
        ("1.png", None),
        ("unlabelled/1.png", None),
        ("unlabelled/deep/1.png", None),
        ("unlabelled-too/1.png", "unlabelled-too"),
    ],
)
def test_the_last_folder_names_the_class(path: str, label: str | None) -> None:
    assert folder_label(path, ["unlabelled/"]) == folder_label(path, ["unlabelled"]) == label


@model_test
@given(FILES, st.sampled_from(["", "a", "a/", "b/a", "é/"]), st.integers(1, 4), st.booleans())
def test_pages_agree_with_a_plain_listing(
    files: dict[str, bytes], prefix: str, limit: int, by_folder: bool
) -> None:
    store = MemoryObjectStore()
    root = build_root([entries(files)], store, rule=BoundaryRule(modulus=2, cap=3))
    browser = VersionBrowser(root, Source(store))
    below = sorted(path for path in files if path.startswith(prefix))
    rests = [path[len(prefix) :] for path in below]
    folders = {prefix + rest.split("/")[0] + "/" for rest in rests if by_folder and "/" in rest}
    plain = {prefix + rest for rest in rests if not (by_folder and "/" in rest)}

    found_folders: list[str] = []
    found_paths: list[str] = []
    start: str | None = ""
    while start is not None:
        page = browser.page(PageRequest(prefix, by_folder, limit, start), EntryFilter())
        assert page.length <= limit
        found_folders += page.folders
        found_paths += [row["path"] for row in page.rows]
        start = page.next

    assert found_folders == sorted(folders)
    assert found_paths == sorted(plain)
    assert browser.count(prefix, EntryFilter()).number == len(below)
    reached = [browser.path_at(prefix, EntryFilter(), at) for at in range(len(below) + 1)]
    assert reached == [*below, None]


def layer_rows(root: Root, name: str, column: str, store: MemoryObjectStore) -> dict[str, str]:
    """Return a layer as path to value."""
    ref = root.layer(name)
    if ref is None:
        return {}
    table = read_layer(ref, store)
    return dict(zip(table["path"].to_pylist(), table[column].to_pylist(), strict=True))


@model_test
@given(FILES, FILES, st.sets(PATHS, max_size=6))
def test_a_change_gives_what_a_fresh_build_gives(
    old: dict[str, bytes], new: dict[str, bytes], gone: set[str]
) -> None:
    store = MemoryObjectStore()
    wanted = SplitRequest({"test": 0}, seed=1)
    first = build_version(
        None, VersionPlan(ChangesFile(entries(old), frozenset()), True, (), wanted), store
    )
    final = {path: data for path, data in old.items() if path not in gone} | new
    changes = ChangesFile(entries(new), frozenset(gone))

    second = build_version(first, VersionPlan(changes, True, (), wanted), store)

    fresh = build_root([entries(final)], store)
    assert second.content == fresh.content
    labels = layer_rows(second, FOLDER_LAYER, "label", store)
    assert labels == {path: path.split("/")[-2] for path in final if "/" in path}
    splits = layer_rows(second, SPLIT_LAYER, "value", store)
    assert set(splits) == set(final)
    before = layer_rows(first, SPLIT_LAYER, "value", store)
    assert all(splits[path] == value for path, value in before.items() if path in splits)


@model_test
@given(FILES)
def test_layers_hold_the_digests_of_the_entries(files: dict[str, bytes]) -> None:
    store = MemoryObjectStore()
    plan = VersionPlan(ChangesFile(entries(files), frozenset()), True, (), SplitRequest({}))
    first = build_version(None, plan, store)
    changed = {path: data + b"!" for path, data in files.items()}

    again = VersionPlan(ChangesFile(entries(changed), frozenset()), True, (), SplitRequest({}))
    second = build_version(first, again, store)

    split = second.layer(SPLIT_LAYER)
    assert split is not None
    table = read_layer(split, store)
    found = dict(zip(table["path"].to_pylist(), table["digest"].to_pylist(), strict=True))
    assert found == {path: blake3(data).digest() for path, data in changed.items()}


def test_an_unchanged_push_writes_no_new_root() -> None:
    store = MemoryObjectStore()
    plan = VersionPlan(ChangesFile(entries({"a/1": b"x"}), frozenset()), True)

    first = build_version(None, plan, store)

    assert build_version(first, plan, store) == first


ROWS = put_rows(make_pack({"a.png": b"1", "b.png": b"2"}))


@pytest.mark.parametrize(
    ("rows", "words"),
    [
        ([{**ROWS[0], "op": "move"}], "put or delete"),
        ([ROWS[0], ROWS[0]], "comes twice"),
        ([ROWS[0], delete_row("a.png")], "comes twice"),
        ([{**ROWS[0], "digest": None}], "digest"),
        ([{**ROWS[0], "pack": None}], "pack"),
        ([{**ROWS[0], "size": -1}], "negative"),
        ([{**ROWS[0], "attributes": "[1]"}], "JSON object"),
        ([{**ROWS[0], "attributes": "{"}], "JSON object"),
        ([{**ROWS[0], "path": "../a"}], "'..'"),
    ],
)
def test_a_bad_changes_file_is_refused_in_words(rows: list[dict[str, object]], words: str) -> None:
    with pytest.raises(ChangesError, match=r".") as caught:
        decode_changes(changes_file(rows))

    assert words in str(caught.value)


def test_changes_may_come_as_an_arrow_stream_with_hex_digests() -> None:
    rows = [
        {**row, "digest": row["digest"].hex(), "pack": row["pack"].hex()} for row in reversed(ROWS)
    ]
    sink = pa.BufferOutputStream()
    table = pa.Table.from_pylist(rows)
    with pa.ipc.new_stream(sink, table.schema) as writer:
        writer.write_table(table)

    changes = decode_changes(sink.getvalue().to_pybytes())

    assert changes.puts["path"].to_pylist() == ["a.png", "b.png"]
    assert changes.puts["digest"].to_pylist() == [row["digest"] for row in ROWS]


@model_test
@given(st.lists(st.tuples(st.integers(0, 9), st.integers(1, 40)), max_size=40))
def test_a_byte_cache_stays_in_its_bound_and_is_never_wrong(keys: list[tuple[int, int]]) -> None:
    cache: ByteCache[bytes] = ByteCache(100, len)

    for number, size in keys:
        wanted = bytes([number]) * size
        assert cache.get((number, size), partial(bytes, wanted)) == wanted
        assert cache.used_bytes <= 100


def test_a_byte_cache_forgets_the_least_recently_used() -> None:
    cache: ByteCache[bytes] = ByteCache(10, len)
    loaded: list[str] = []

    def load(key: str) -> bytes:
        loaded.append(key)
        return bytes(5)

    for key in ("a", "b", "a", "c", "a", "b"):
        cache.get(key, partial(load, key))

    assert loaded == ["a", "b", "c", "b"]


def test_a_value_that_does_not_evict_is_kept_where_there_is_room() -> None:
    cache: ByteCache[bytes] = ByteCache(10, len)
    loaded: list[str] = []

    def load(key: str) -> bytes:
        loaded.append(key)
        return bytes(5)

    for key in ("a", "scanned", "scanned"):
        cache.get(key, partial(load, key), evicts=key == "a")
    for key in ("other", "other", "a"):
        cache.get(key, partial(load, key), evicts=False)

    assert loaded == ["a", "scanned", "other", "other"]
