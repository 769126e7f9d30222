"""Sorted runs of a listing: merging, what stays of the parent, resuming, memory."""

from __future__ import annotations

import threading
import tracemalloc
from collections.abc import Iterator
from datetime import UTC, datetime

import pyarrow as pa
import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.core.storage import PrefixStore
from atom.datasets.sources import source_listing
from atom.datasets.sources.errors import SourceAway
from atom.datasets.sources.pipelines.objects import Shard, SourceObject
from atom.datasets.sources.source_listing import Listing, Tally
from atom.datasets.versions.engines.source_runs import (
    Globs,
    RunRef,
    decode_run,
    encode_run,
    merge_runs,
    merged_with_parent,
    registered_entry,
)
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests.entries import Entry, entries_table, table_entries
from atom_sdk.manifests.pins import Pin, pinned_entry

MTIME = datetime(2026, 1, 1, tzinfo=UTC)
names = st.text("ab/-c", min_size=1, max_size=4)


def pinned(path: str, etag: str = "e", source: str = "s") -> Entry:
    return pinned_entry(path, Pin(source, path, 1, None, etag, MTIME), None)


@given(st.lists(st.sets(names, min_size=1, max_size=8), max_size=6))
def test_runs_merge_into_order_with_each_path_once(sets: list[set[str]]) -> None:
    runs = {str(n): entries_table(pinned(path) for path in paths) for n, paths in enumerate(sets)}
    refs = [RunRef(n, t["path"][0].as_py(), t["path"][-1].as_py()) for n, t in runs.items()]
    found = [
        path
        for table in merge_runs(refs, lambda n: decode_run(encode_run(table_entries(runs[n]))))
        for path in table["path"].to_pylist()
    ]
    assert found == sorted(set().union(*sets))


@given(
    st.dictionaries(names, st.sampled_from(["pushed", "same", "old"]), max_size=12),
    st.sets(names, max_size=12),
    st.integers(1, 5),
)
def test_a_new_version_is_the_listing_and_what_is_not_of_the_source(
    before: dict[str, str], now: set[str], rows: int
) -> None:
    listed = {path: pinned(path) for path in now}
    parent = {
        path: {
            "pushed": Entry(path, 1, b"p" * 32, None, None, b"k" * 32, 0),
            "same": pinned(path)._replace(attributes='{"kept":1}'),
            "old": pinned(path, "changed"),
        }[kind]
        for path, kind in before.items()
    }
    expected = {path: entry for path, entry in parent.items() if entry.source is None} | listed
    expected |= {path: parent[path] for path in now if before.get(path) == "same"}

    def cut(entries: dict[str, Entry]) -> list[pa.Table]:
        table = entries_table(entries.values())
        return [table.slice(start, rows) for start in range(0, len(table), rows)]

    found = [
        entry
        for table in merged_with_parent(cut(parent), cut(listed), "s")
        for entry in table_entries(table)
    ]
    assert found == [expected[path] for path in sorted(expected)]


@pytest.mark.parametrize("key", ["a//b", "../a", "/a", "a\0b", "x" * 300])
def test_a_key_that_is_no_path_is_no_entry(key: str) -> None:
    assert registered_entry(Pin("s", key, 1), None) is None


class MemoryStore(PrefixStore):
    """A scan's folder in memory."""

    def __init__(self) -> None:
        self.objects: dict[str, bytes] = {}

    def get(self, key: str) -> bytes:
        try:
            return self.objects[key]
        except KeyError:
            raise ObjectNotFoundError(key) from None

    def put(self, key: str, data: bytes) -> None:
        self.objects[key] = data


class Generated:
    """A source of `count` names in four folders, which fails once at some name."""

    def __init__(self, count: int, fails_at: str = "", *, ordered: bool = True) -> None:
        self.count, self.names = count, [f"{n:02d}/" for n in range(4)]
        self.fails_at, self.ordered = fails_at, ordered
        self.asked: list[tuple[str, str]] = []
        self.lock = threading.Lock()

    def folders(self, prefix: str) -> list[str] | None:
        return [] if prefix else self.names

    def pages(self, shard: Shard, after: str = "") -> Iterator[list[SourceObject]]:
        with self.lock:
            self.asked.append((shard.prefix, after))
        if not shard.is_deep:
            yield []
            return
        for start in range(0, self.count // len(self.names), 100):
            keys = [f"{shard.prefix}{n:08d}" for n in range(start, start + 100)]
            if self.fails_at in keys:
                self.fails_at = ""
                raise SourceAway
            keys = keys if self.ordered else keys[::-1]
            page = [SourceObject(key, 1, "e", MTIME) for key in keys if key > after]
            if page:
                yield page

    def read(self, pin: Pin, start: int, end: int) -> bytes:
        raise NotImplementedError


def total(listing: Listing) -> int:
    tables = list(listing.entries())
    paths = [path for table in tables for path in table["path"].to_pylist()]
    assert paths == sorted(set(paths))
    return len(paths)


@pytest.mark.parametrize("ordered", [True, False])
def test_a_listing_that_broke_off_goes_on_after_the_last_run(
    monkeypatch: pytest.MonkeyPatch, ordered: bool
) -> None:
    monkeypatch.setattr(source_listing, "RUN_ROWS", 400)
    store, source = MemoryStore(), Generated(8_000, "02/00001000", ordered=ordered)
    with pytest.raises(SourceAway):
        Listing(source, "s", Globs(), store).run(lambda tally: None)
    source.asked.clear()
    again = Listing(source, "s", Globs(), store)
    again.run(lambda tally: None)
    assert (total(again), again.tally.objects) == (8_000, 8_000)
    assert ("02/", "02/00000799" if ordered else "") in source.asked


def test_memory_does_not_grow_with_the_number_of_objects(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(source_listing, "RUN_ROWS", 500)

    def peak(count: int) -> int:
        listing = Listing(Generated(count), "s", Globs(), _Dropping())
        tracemalloc.start()
        listing.run(_ignore)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert listing.tally.objects == count
        return found

    assert peak(24_000) < 1.5 * peak(6_000) + (1 << 20)


def _ignore(tally: Tally) -> None:
    """Nobody looks."""


class _Dropping(MemoryStore):
    def put(self, key: str, data: bytes) -> None:
        pass
