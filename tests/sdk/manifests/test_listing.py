"""Looking up and listing entries."""

from __future__ import annotations

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom_sdk.errors import PathNotFoundError
from atom_sdk.manifests import BoundaryRule, Listing, MemoryObjectStore, build_root
from atom_sdk.manifests.listing import prefix_end
from tests.sdk.manifests.strategies import RULE, entry, filled_sets, table_of
from tests.tiers import examples

prefixes = st.text("abc/é0.", max_size=3)


class CountingStore(MemoryObjectStore):
    reads = 0

    def get(self, key: str) -> bytes:
        self.reads += 1
        return super().get(key)


def _listing(files: dict[str, int]) -> Listing:
    store = MemoryObjectStore()
    return Listing(build_root([table_of(files)], store, rule=RULE), store)


@given(filled_sets)
def test_every_path_is_found_and_no_other(files: dict[str, int]) -> None:
    listing = _listing(files)
    for path, number in files.items():
        assert listing.lookup(path) == entry(path, number)
    for path in ("", "zz", "abc/none", "\U0010ffff"):
        with pytest.raises(PathNotFoundError):
            listing.lookup(path)


@given(filled_sets, prefixes, st.integers(1, 5))
@settings(max_examples=examples(200))
def test_pages_together_hold_every_entry_below_a_prefix_once(
    files: dict[str, int], prefix: str, limit: int
) -> None:
    listing = _listing(files)
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = listing.entries(prefix, after, limit)
        assert len(page.entries) <= limit
        found += [item.path for item in page.entries]
        after = page.cursor
    assert found == sorted(path for path in files if path.startswith(prefix))


@given(filled_sets, st.sampled_from(["", "a/", "b/", "a/b/", "c"]), st.integers(1, 4))
@settings(max_examples=examples(200))
def test_folder_pages_hold_every_child_once(files: dict[str, int], prefix: str, limit: int) -> None:
    listing = _listing(files)
    found: list[str] = []
    after: str | None = ""
    while after is not None:
        page = listing.folder(prefix, after, limit)
        assert len(page.folders) + len(page.entries) <= limit
        found += sorted([*page.folders, *(item.path for item in page.entries)])
        after = page.cursor
    below = {path[len(prefix) :] for path in files if path.startswith(prefix)}
    children = {prefix + "".join(rest.partition("/")[:2]) for rest in below}
    assert found == sorted(children)


@given(filled_sets, prefixes)
def test_totals_below_a_prefix_are_exact(files: dict[str, int], prefix: str) -> None:
    totals = _listing(files).totals(prefix)
    wanted = [entry(path, number) for path, number in files.items() if path.startswith(prefix)]
    assert totals.count == len(wanted)
    assert totals.size_bytes == sum(item.size for item in wanted)


def test_the_top_folder_of_a_large_dataset_reads_a_few_ranges() -> None:
    store = CountingStore()
    files = {f"{folder}/{number:04d}": number for folder in "abc" for number in range(2000)}
    root = build_root([table_of(files)], store, rule=BoundaryRule(modulus=50))
    listing = Listing(root, store)
    assert len(root.ranges) > 60
    assert listing.folder().folders == ["a/", "b/", "c/"]
    assert listing.totals("b/").count == 2000
    assert store.reads <= 8


@pytest.mark.parametrize(
    ("prefix", "end"),
    [
        ("", None),
        ("a", "b"),
        ("a/", "a0"),
        ("\ud7ff", "\ue000"),
        ("a\U0010ffff", "b"),
        ("\U0010ffff", None),
    ],
)
def test_the_end_of_a_prefix(prefix: str, end: str | None) -> None:
    assert prefix_end(prefix) == end
