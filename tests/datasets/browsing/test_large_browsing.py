"""Reads of browsing follow the shown page and the query, not the size of the version."""

from __future__ import annotations

import pytest

from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.engines.folder_pages import PageRequest
from atom.datasets.browsing.engines.query_scan import Scan
from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, entries_table
from atom_sdk.manifests.layers.layers import layer_table, write_layer
from atom_sdk.manifests.query import parse_query
from atom_sdk.manifests.ranges.ranges import BoundaryRule
from atom_sdk.manifests.roots.roots import Root
from tests.datasets.test_engines import Source

PATHS = [f"{folder}/{number:02d}.png" for folder in "abcdef" for number in range(10)]


@pytest.fixture
def store() -> MemoryObjectStore:
    return MemoryObjectStore()


@pytest.fixture
def root(store: MemoryObjectStore) -> Root:
    """Sixty labelled files in six folders; their sizes are their numbers."""
    entries = entries_table(
        Entry(path, number, bytes(32), "image/png", f'{{"x": {"true" if number % 2 else 1}}}')
        for number, path in enumerate(PATHS)
    )
    labels = [
        {"path": path, "digest": bytes(32), "label": path[0], "source": "folder"} for path in PATHS
    ]
    splits = [{"path": path, "digest": bytes(32), "value": "train"} for path in PATHS]
    root = build_root([entries], store, rule=BoundaryRule(modulus=4, cap=7))
    return root.with_layers(
        write_layer("folder", "classification", layer_table("classification", labels), store),
        write_layer("split", "split", layer_table("split", splits), store),
    )


def where(text: str) -> EntryFilter:
    return EntryFilter(where=parse_query(text))


def test_a_page_of_folders_reads_no_label(root: Root, store: MemoryObjectStore) -> None:
    source = Source(store)
    page = VersionBrowser(root, source).page(PageRequest("", True, 10), EntryFilter())
    assert page.folders == [f"{folder}/" for folder in "abcdef"]
    assert not {"folder", "split"} & set(source.read)


def test_one_entry_costs_one_range(root: Root, store: MemoryObjectStore) -> None:
    source = Source(store)
    browser = VersionBrowser(root, source)
    found = [browser.find(path) for path in (*PATHS, "", "a/000.png", "z")]
    assert [row and (row["path"], row["label"], row["split"]) for row in found] == [
        *((path, path[0], "train") for path in PATHS),
        None,
        None,
        None,
    ]
    source.read.clear()
    browser.find("c/05.png")
    assert len(set(source.read) - {"folder", "split"}) == 1


def test_a_query_reads_only_the_layers_that_it_asks(root: Root, store: MemoryObjectStore) -> None:
    for asked, layers in (("size < 3", set[str]()), ("label = 'b'", {"folder"})):
        source = Source(store)
        VersionBrowser(root, source).count("", where(asked))
        assert {"folder", "split"} & set(source.read) == layers


def test_what_a_query_matched_is_known_the_next_time(root: Root, store: MemoryObjectStore) -> None:
    source = Source(store)
    wanted = where("size = 33")
    assert VersionBrowser(root, source).count("", wanted).number == 1
    source.read.clear()
    browser = VersionBrowser(root, source)
    assert browser.count("", wanted).number == 1
    assert source.read == []
    page = browser.page(PageRequest("", False, 5), wanted)
    assert [(row["path"], row["label"]) for row in page.rows] == [("d/03.png", "d")]
    assert len(set(source.read) - {"folder", "split"}) == 1
    # As trees these two are equal; what they mean is not.
    ones, trues = where("attributes.x = 1"), where("attributes.x = TRUE")
    below = [PATHS[number] for number in range(0, 60, 2)]
    for asked, paths in ((ones, below), (trues, sorted(set(PATHS) - set(below)))):
        rows = browser.page(PageRequest("", False, 60), asked).rows
        assert [row["path"] for row in rows] == paths


def test_other_labels_over_the_same_files_are_another_answer(
    root: Root, store: MemoryObjectStore
) -> None:
    source = Source(store)
    assert VersionBrowser(root, source).count("", where("label = 'a'")).number == 10
    rows = [{"path": PATHS[0], "digest": bytes(32), "label": "a", "source": "human"}]
    less = write_layer("folder", "classification", layer_table("classification", rows), store)
    assert (
        VersionBrowser(root.with_layers(less), source).count("", where("label = 'a'")).number == 1
    )


def test_a_count_that_stops_names_the_path_from_which_on_nobody_looked(
    root: Root, store: MemoryObjectStore
) -> None:
    browser = VersionBrowser(root, Source(store))
    scan = Scan(
        root.ranges,
        lambda part: browser.matching(part, where("size >= 0")),
        lambda part: browser.entries(part)["path"].combine_chunks(),
        "",
        where("size >= 0"),
        20,
    )
    count = scan.count()
    assert count.stopped_at in PATHS
    assert PATHS.index(count.stopped_at) == count.number
    assert count.number >= 20
