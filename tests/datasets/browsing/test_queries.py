"""Entries by query: pages, counts, places; what is refused."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.datasets.browsing.engines import browse, query_scan
from atom.datasets.browsing.engines.browse import VersionBrowser
from atom.datasets.browsing.engines.entry_filters import EntryFilter
from atom.datasets.browsing.engines.folder_pages import PageRequest
from atom_sdk.manifests import (
    BoundaryRule,
    Entry,
    MemoryObjectStore,
    build_root,
    entries_table,
    parse_query,
)
from tests.datasets.prepared import made_once
from tests.datasets.pushing import Pusher, make_pack, new_pusher, png, put_rows
from tests.datasets.test_engines import Source

BASE = "versions/v1/entries/"
SIZES = st.dictionaries(st.text("ab/", min_size=1, max_size=5), st.integers(0, 3), min_size=1)


@pytest.fixture
def pushed(committing_db: None) -> Pusher:
    """Three classes of four images; those with an even number come from the camera north."""
    return made_once(push_pushed)


def push_pushed() -> Pusher:
    pusher = new_pusher()
    pack = make_pack({f"{n % 3}/{n:03d}.png": png(n) for n in range(12)})
    pusher.upload(pack.data)
    rows = put_rows(pack)
    for row in rows:
        number = int(row["path"][2:5])
        camera = {"camera": "north" if number % 2 == 0 else "south", "iso": 100 * number}
        row["attributes"] = json.dumps(camera)
    pusher.commit(rows, labels_from="folder", split={"test": 3, "seed": 7})
    return pusher


def matching_paths(pusher: Pusher, where: str, **params: Any) -> list[str]:
    """Return the paths of all pages."""
    page = pusher.get(BASE, where=where, **params)
    paths = [row["path"] for row in page["results"]]
    while page["next"]:
        page = pusher.get(BASE, where=where, cursor=page["next"], **params)
        paths += [row["path"] for row in page["results"]]
    return paths


@pytest.mark.parametrize(
    ("where", "paths"),
    [
        ("label = '1' AND attributes.camera = 'north'", ["1/004.png", "1/010.png"]),
        ("attributes.iso > 900", ["1/010.png", "2/011.png"]),
        ("folder = '2' AND NOT attributes.camera = 'south'", ["2/002.png", "2/008.png"]),
        ("name IN ('000.png', '011.png')", ["0/000.png", "2/011.png"]),
        ("attributes.lens = 'wide'", []),
    ],
)
def test_a_query_chooses_files_by_what_is_known_of_them(
    pushed: Pusher, where: str, paths: list[str]
) -> None:
    assert matching_paths(pushed, where, limit=1) == paths
    page = pushed.get(BASE, where=where)
    assert (page["total"], page["total_is_exact"], page["counted_before"]) == (
        len(paths),
        True,
        None,
    )


def test_a_query_narrows_the_other_filters(pushed: Pusher) -> None:
    tests = matching_paths(pushed, "split = 'test'")
    assert tests == matching_paths(pushed, "size > 0", split="test")
    assert matching_paths(pushed, "attributes.camera = 'north'", split="test", label="0") == [
        path for path in tests if path in {"0/000.png", "0/006.png"}
    ]


def test_folders_are_those_with_a_match(pushed: Pusher) -> None:
    page = pushed.get(BASE, where="attributes.iso < 200", delimiter="/")
    assert [folder["prefix"] for folder in page["folders"]] == ["0/", "1/"]


def test_a_page_may_begin_at_a_match_by_its_number(pushed: Pusher) -> None:
    page = pushed.get(BASE, where="attributes.camera = 'north'", offset=4, limit=1)
    assert [row["path"] for row in page["results"]] == ["2/002.png"]


def test_a_wrong_query_is_refused_with_its_place(pushed: Pusher) -> None:
    answer = pushed.client.get(f"{pushed.base}{BASE}", {"where": "label = 'a' AND lower(path) = 1"})
    problem = answer.json()
    assert (answer.status_code, problem["code"]) == (400, "query_invalid")
    assert (problem["position"], problem["reason"]) == (17, "query_not_allowed")
    assert "LOWER(path) cannot be used" in problem["errors"]["where"][0]


def test_an_unknown_column_is_a_parameter_of_the_problem(pushed: Pusher) -> None:
    answer = pushed.client.get(f"{pushed.base}{BASE}", {"where": "lable = 3 AND"})
    problem = answer.json()
    assert (problem["reason"], problem["position"]) == ("query_column", 1)
    assert (problem["column"], problem["suggestion"]) == ("lable", "label")


@given(SIZES, st.integers(0, 6), st.sampled_from(["", "a", "b/"]), st.booleans())
def test_whatever_is_read_at_once_the_pages_hold_every_match(
    sizes: dict[str, int], limit_rows: int, prefix: str, by_folder: bool
) -> None:
    store = MemoryObjectStore()
    entries = entries_table(Entry(path, size, bytes(32)) for path, size in sizes.items())
    root = build_root([entries], store, rule=BoundaryRule(modulus=2, cap=3))
    wanted = EntryFilter(where=parse_query("size = 1"))
    below = [path for path in sorted(sizes) if sizes[path] == 1 and path.startswith(prefix)]
    rests = [path[len(prefix) :] for path in below]
    pages = [rest for rest in rests if not (by_folder and "/" in rest)]
    paths: list[str] = []
    folders: list[str] = []
    start: str | None = ""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(browse, "SCAN_ROWS", max(limit_rows, 1))
        while start is not None:
            browser = VersionBrowser(root, Source(store))
            page = browser.page(PageRequest(prefix, by_folder, 2, start), wanted)
            paths += [row["path"] for row in page.rows]
            folders += page.folders
            assert page.next is None or page.next > start
            start = page.next
    assert paths == [prefix + rest for rest in pages]
    assert folders == sorted(
        {f"{prefix}{rest.split('/')[0]}/" for rest in rests if by_folder and "/" in rest}
    )


@given(SIZES, st.integers(1, 6))
def test_a_count_that_stops_early_says_so(sizes: dict[str, int], limit_rows: int) -> None:
    store = MemoryObjectStore()
    entries = entries_table(Entry(path, size, bytes(32)) for path, size in sizes.items())
    root = build_root([entries], store, rule=BoundaryRule(modulus=2, cap=3))
    wanted = EntryFilter(where=parse_query("size = 1"))
    scan = query_scan.Scan(
        root.ranges,
        lambda part: VersionBrowser(root, Source(store)).matching(part, wanted),
        lambda part: Source(store).range(part)["path"].combine_chunks(),
        "",
        wanted,
        limit_rows,
    )
    matching = [path for path in sorted(sizes) if sizes[path] == 1]
    count = scan.count()
    assert count.number <= len(matching)
    is_all = limit_rows > sum(part.count for part in root.ranges[:-1])
    assert (count.stopped_at is None) is is_all
    if count.stopped_at is not None:
        assert count.number == sum(path < count.stopped_at for path in matching)
    assert [scan.path_at(at) for at in range(count.number)] == matching[: count.number]


def listed(pusher: Pusher, **params: Any) -> int:
    """Return how many files pass."""
    return int(pusher.get(BASE, **params)["total"])


def test_kinds_and_sizes_narrow_what_a_query_finds(pushed: Pusher) -> None:
    size = pushed.get(BASE, limit=1)["results"][0]["size_bytes"]

    assert listed(pushed, type="image/") == listed(pushed, type=".PNG") == 12
    assert listed(pushed, type="image/png", where="label = '1' OR label = '2'") == 8
    assert listed(pushed, type="image/p") == listed(pushed, type="im%/") == 0
    assert listed(pushed, min_size=size, max_size=size) > 0
    assert listed(pushed, type="it's'/", label="1") == 0
    assert listed(pushed, min_size=size * 100) == 0


@pytest.mark.parametrize(
    ("name", "value"), [("min_size", "1k"), ("max_size", "-1"), ("type", "x" * 200)]
)
def test_a_kind_or_size_that_is_none_is_refused(pushed: Pusher, name: str, value: str) -> None:
    answer = pushed.client.get(pushed.base + BASE, {name: value})
    assert answer.status_code == 400
    assert list(answer.json()["errors"]) == [name]
