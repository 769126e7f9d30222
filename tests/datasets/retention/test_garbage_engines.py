"""Sets of digests beyond memory, and listings of what is stored."""

from __future__ import annotations

from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path

import pytest
from blake3 import blake3
from hypothesis import given
from hypothesis import strategies as st

from atom.datasets.catalog.engines.stored import ListingDisordered, keys_of, stored_objects
from atom.datasets.packs.engines.digest_runs import DigestRuns, in_batches, without
from atom.datasets.retention.engines.reachable import Reachable
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests import (
    BoundaryRule,
    Changes,
    Entry,
    apply_changes,
    build_root,
    entries_table,
    write_root,
)
from atom_sdk.manifests.deltas import DeltaRule
from atom_sdk.manifests.groups import GroupRule
from atom_sdk.manifests.objects import MemoryObjectStore

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def digest(number: int) -> bytes:
    # Many begin alike, and some end with zeros, which fixed-width strings like to lose.
    return number.to_bytes(2, "big") + bytes(30)


@given(
    added=st.lists(st.integers(0, 60)),
    candidates=st.sets(st.integers(0, 60)),
    run_rows=st.integers(1, 7),
)
def test_runs_on_disk_say_the_same_as_a_set(
    tmp_path_factory: pytest.TempPathFactory,
    added: list[int],
    candidates: set[int],
    run_rows: int,
) -> None:
    runs = DigestRuns(tmp_path_factory.mktemp("runs") / "r", run_rows)
    runs.add(digest(number) for number in added)

    assert list(runs) == [digest(number) for number in sorted(set(added))]
    left = without([digest(number) for number in sorted(candidates)], runs, bytes)
    assert list(left) == [digest(number) for number in sorted(candidates - set(added))]


def test_a_digest_of_another_length_is_refused(tmp_path: Path) -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        DigestRuns(tmp_path).add([b"short"])


def test_batches_hold_everything_once() -> None:
    assert list(in_batches(range(5), 2)) == [[0, 1], [2, 3], [4]]


@dataclass
class Item:
    key: str
    size_bytes: int = 10
    modified_at: datetime = NOW


def test_a_pack_and_its_index_are_one_item_and_other_names_are_left_out() -> None:
    first, second = digest(1).hex(), digest(2).hex()
    listing = [
        Item(f"p/x/packs/{first}.index.parquet", 1),
        Item(f"p/x/packs/{first}.tar", 10),
        Item(f"p/x/packs/{second}.tar", 20),
        Item(f"p/x/packs/{second}.tar.part", 20),
        Item("p/x/packs/README"),
    ]

    found = list(stored_objects("packs", listing))

    assert [(item.digest.hex(), item.size_bytes) for item in found] == [(first, 11), (second, 20)]
    assert keys_of("packs", first) == [f"packs/{first}.tar", f"packs/{first}.index.parquet"]


def test_a_listing_out_of_order_is_refused() -> None:
    listing = [Item(f"ranges/{digest(n).hex()}.parquet") for n in (2, 1)]
    with pytest.raises(ListingDisordered):
        list(stored_objects("ranges", listing))


def make_root(store: MemoryObjectStore, packs: list[bytes | None]) -> bytes:
    entries = [
        Entry(f"{index:04d}", 1, blake3(b"x").digest(), "", None, pack, index)
        for index, pack in enumerate(packs)
        if pack is not None
    ]
    return write_root(build_root([entries_table(entries)], store), store)


def test_a_root_needs_its_ranges_and_their_packs(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    root = make_root(store, [digest(1), digest(2), digest(1)])
    found = Reachable(tmp_path / "kept")
    found.add_root(root, store)

    stored = {key for key in store.objects if key.startswith("ranges/")}
    assert {f"ranges/{name.hex()}.parquet" for name in found.digests("ranges")} == stored
    assert list(found.digests("packs")) == [digest(1), digest(2)]
    assert list(found.digests("roots")) == [root]


def test_deltas_are_needed_and_what_they_replaced_is_not(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    rule = BoundaryRule(modulus=4, cap=8)
    entries = [
        Entry(f"{index:04d}", 1, blake3(b"x").digest(), "", None, digest(1 + index % 2), index)
        for index in range(200)
    ]
    base = build_root([entries_table(entries)], store, rule=rule)
    other = blake3(b"y").digest()
    puts = [
        entry._replace(pack=digest(9), digest=other) for entry in entries if entry.pack == digest(2)
    ]
    changed = apply_changes(
        base, Changes(entries_table(puts)), store, rule, DeltaRule(min_ranges=1, max_share=100.0)
    )
    found = Reachable(tmp_path / "kept")
    found.add_root(write_root(changed, store), store)

    assert changed.deltas
    assert list(found.digests("deltas")) == list(changed.deltas)
    assert set(found.digests("ranges")) == {part.object for part in changed.ranges}
    assert list(found.digests("packs")) == [digest(1), digest(9)]


def test_all_objects_of_a_root_in_groups_are_needed(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    entries = [Entry(f"{index:04d}", 1, blake3(b"x").digest()) for index in range(200)]
    root = build_root([entries_table(entries)], store, rule=BoundaryRule(modulus=4, cap=8))
    found = Reachable(tmp_path / "kept")
    found.add_root(write_root(root, store, GroupRule(flat=0, modulus=6, cap=3)), store)

    stored = {key for key in store.objects if key.startswith("groups/")}
    needed = {key for name in found.digests("groups") for key in keys_of("groups", name.hex())}
    assert len(stored) > 3
    assert stored < needed


def test_what_is_shared_is_followed_once(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    root = make_root(store, [digest(1)])
    found = Reachable(tmp_path / "kept")
    found.add_root(root, store)
    beside = found.beside(tmp_path / "beside")
    beside.add_root(root, store)

    assert list(beside.digests("packs")) == []


def test_a_root_that_lacks_a_range_is_no_answer(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    root = make_root(store, [digest(1)])
    store.objects = {k: v for k, v in store.objects.items() if not k.startswith("ranges/")}
    with pytest.raises(ObjectNotFoundError):
        Reachable(tmp_path / "kept").add_root(root, store)
