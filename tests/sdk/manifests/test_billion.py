"""A root over a billion entries: what is read to open it, look up and compare does not grow.

Its groups have real descriptions, but only one of them, and one range in it, is there to be read:
whoever asked for any other object would not find it.
"""

from __future__ import annotations

import pyarrow as pa
import pytest
from blake3 import blake3

from atom_sdk.errors import ObjectNotFoundError, PathNotFoundError
from atom_sdk.manifests import (
    Entry,
    Listing,
    MemoryObjectStore,
    Root,
    diff_roots,
    entries_table,
    read_root,
    write_root,
)
from atom_sdk.manifests.build import merge_entries, write_range
from atom_sdk.manifests.objects import group_key
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.roots.groups import DEFAULT_GROUP_RULE, GroupedRanges, GroupRef, grouped

BILLION = 10**9
RANGE_ROWS = 4096
GROUP_ROWS = RANGE_ROWS * DEFAULT_GROUP_RULE.cap
GROUPS = -(-BILLION // GROUP_ROWS)
# The group, the range in it and the entry in that which are there.
MIDDLE = GROUPS // 2
FIRST = MIDDLE * GROUP_ROWS + 1000 * RANGE_ROWS
ASKED = FIRST + 17


class CountingStore(MemoryObjectStore):
    """Counts the bytes that were read, by kind of object."""

    def __init__(self) -> None:
        super().__init__()
        self.read: list[tuple[str, int]] = []

    def get(self, key: str) -> bytes:
        data = super().get(key)
        self.read.append((key.partition("/")[0], len(data)))
        return data

    def taken(self) -> tuple[list[str], int]:
        """Return the kinds of the objects that were read since, and their bytes together."""
        kinds, sizes = [kind for kind, _ in self.read], [size for _, size in self.read]
        self.read.clear()
        return sorted(kinds), sum(sizes)


def path_of(number: int) -> str:
    return f"train/{number // 1000:06d}/{number:09d}.jpg"


def digest_of(text: str) -> bytes:
    return blake3(text.encode()).digest()


def group_of(number: int) -> GroupRef:
    first, last = number * GROUP_ROWS, min((number + 1) * GROUP_ROWS, BILLION) - 1
    rows = last - first + 1
    digest = digest_of(f"group {number}")
    return GroupRef(
        path_of(first), path_of(last), rows, rows * 30_000, -(-rows // RANGE_ROWS), digest, digest
    )


def range_of(number: int) -> RangeRef:
    first = MIDDLE * GROUP_ROWS + number * RANGE_ROWS
    digest = digest_of(f"range {first}")
    last = path_of(first + RANGE_ROWS - 1)
    return RangeRef(path_of(first), last, RANGE_ROWS, 30_000 * RANGE_ROWS, digest, digest)


def rows_of(numbers: range, content: str = "") -> pa.Table:
    pack = digest_of("pack")
    paths = map(path_of, numbers)
    return entries_table(
        Entry(path, 30_000, digest_of(path + content), "image/jpeg", None, pack, 4096)
        for path in paths
    )


def billion(store: CountingStore, rows: pa.Table) -> bytes:
    """Write a root over a billion entries in which `rows` are there; returns its digest."""
    parts = [range_of(number) for number in range(DEFAULT_GROUP_RULE.cap)]
    parts[1000] = write_range(rows, store, {})
    ((there, data),) = grouped(parts)
    store.put(group_key(there.object), data)
    groups = [group_of(number) for number in range(GROUPS)]
    groups[MIDDLE] = there
    content = blake3(b"".join(group.content for group in groups)).digest()
    size_bytes = sum(group.size_bytes for group in groups)
    return write_root(Root(GroupedRanges(groups, store), (), BILLION, size_bytes, content), store)


@pytest.fixture(scope="module")
def roots() -> tuple[CountingStore, bytes, bytes]:
    """Two versions that differ in one entry; tests read them only."""
    store = CountingStore()
    rows = rows_of(range(FIRST, FIRST + RANGE_ROWS))
    changed = merge_entries(rows, rows_of(range(ASKED, ASKED + 1), "changed"), ())
    old, new = billion(store, rows), billion(store, changed)
    store.read.clear()
    return store, old, new


def opened(roots: tuple[CountingStore, bytes, bytes]) -> tuple[Root, Root]:
    """Return both versions, nothing of which counts as read."""
    store, old, new = roots
    found = read_root(old, store), read_root(new, store)
    store.read.clear()
    return found


def test_it_is_opened_by_one_small_object(roots: tuple[CountingStore, bytes, bytes]) -> None:
    store, old, _ = roots
    root = read_root(old, store)
    assert (root.count, len(root.ranges)) == (BILLION, -(-BILLION // RANGE_ROWS))
    kinds, size_bytes = store.taken()
    assert kinds == ["roots"]
    assert size_bytes < 64 << 10


def test_a_lookup_reads_one_group_and_one_range(
    roots: tuple[CountingStore, bytes, bytes],
) -> None:
    store, listing = roots[0], Listing(opened(roots)[0], roots[0])
    assert listing.lookup(path_of(ASKED)).digest == digest_of(path_of(ASKED))
    kinds, size_bytes = store.taken()
    assert kinds == ["groups", "ranges"]
    assert size_bytes < 1 << 20
    with pytest.raises(PathNotFoundError):
        listing.lookup(path_of(ASKED) + "x")
    assert store.taken() == ([], 0)
    with pytest.raises(ObjectNotFoundError):
        listing.lookup(path_of(1))


def test_a_page_reads_the_ranges_that_it_shows(roots: tuple[CountingStore, bytes, bytes]) -> None:
    root, _ = opened(roots)
    page = Listing(root, roots[0]).entries(after=path_of(ASKED), limit=1000)
    assert [entry.path for entry in page.entries] == [
        path_of(number) for number in range(ASKED + 1, ASKED + 1001)
    ]
    assert roots[0].taken()[0] == ["groups", "ranges"]


def test_a_comparison_reads_what_differs(roots: tuple[CountingStore, bytes, bytes]) -> None:
    old, new = opened(roots)
    diff = diff_roots(old, new, roots[0])
    assert diff.changed_paths.to_pylist() == [path_of(ASKED)]
    assert (len(diff.added_paths), len(diff.removed_paths), diff.ranges_read) == (0, 0, 2)
    kinds, size_bytes = roots[0].taken()
    assert kinds == ["groups", "groups", "ranges", "ranges"]
    assert size_bytes < 2 << 20
    assert diff_roots(old, opened(roots)[0], roots[0]).is_empty
    assert roots[0].taken() == ([], 0)
