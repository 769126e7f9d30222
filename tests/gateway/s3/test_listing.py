"""Pages over the keys of several versions, against a plain model of S3's rules."""

from __future__ import annotations

from datetime import UTC, datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st

from atom.gateway.s3.files import VersionFiles
from atom.gateway.s3.listing import ListRequest, Section, after, list_keys
from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, entries_table
from atom_sdk.manifests.build import read_range
from atom_sdk.manifests.ranges.ranges import BoundaryRule
from atom_sdk.manifests.roots.roots import RangeRef, Root

AT = datetime(2026, 1, 1, tzinfo=UTC)
NAME = st.text("ab-/é", min_size=1, max_size=6)


class Store:
    """Ranges of a version in memory; counts what is read."""

    def __init__(self) -> None:
        self.objects = MemoryObjectStore()
        self.read = 0

    def files(self, root: Root, part: RangeRef) -> object:
        self.read += 1
        return read_range(part, self.objects)


SMALL_RANGES = BoundaryRule(4, 8)


def section(
    name: str, paths: set[str], store: Store | None = None, rule: BoundaryRule = SMALL_RANGES
) -> Section:
    """Return one version with these files."""
    store = store or Store()
    table = entries_table(Entry(path, 1, bytes(32), None, None, bytes(32), 0) for path in paths)
    root = build_root([table], store.objects, rule=rule)
    return Section(name, AT, lambda: VersionFiles(root, store))


def model(keys: list[str], prefix: str, delimiter: str, marker: str) -> list[str]:
    """Return what S3 lists: keys and folders in order, those up to the marker left out."""
    found: list[str] = []
    for key in sorted(keys):
        if not key.startswith(prefix):
            continue
        at = key.find(delimiter, len(prefix)) if delimiter else -1
        line = key if at < 0 else key[: at + len(delimiter)]
        if line > marker and (not found or found[-1] != line):
            found.append(line)
    return found


def lines(sections: list[Section], request: ListRequest) -> list[str]:
    """Return all lines over all pages."""
    found: list[str] = []
    while True:
        page = list_keys(sections, request)
        assert page.length <= request.limit
        found += sorted([*page.prefixes, *(line.key for line in page.objects)])
        if page.next is None:
            return found
        request = ListRequest(request.prefix, request.delimiter, page.next, request.limit)


@given(
    versions=st.dictionaries(
        st.sampled_from(["v1", "v10", "v1-a", "main"]),
        st.sets(NAME.filter(lambda path: not path.startswith("/")), min_size=1, max_size=20),
        max_size=3,
    ),
    prefix=st.sampled_from(["", "v", "v1", "v1/", "v1/a", "v1/a/", "v1/é", "main/b-", "w"]),
    delimiter=st.sampled_from(["", "/", "-", "b/"]),
    marker=st.sampled_from(["", "v1", "v1/", "v1/a", "v1/a/b", "v1/ab-", "v10/é", "z"]),
    limit=st.integers(1, 5),
)
def test_pages_hold_what_s3_lists(
    versions: dict[str, set[str]], prefix: str, delimiter: str, marker: str, limit: int
) -> None:
    sections = [section(name, paths) for name, paths in sorted(versions.items(), key=by_prefix)]
    keys = [f"{name}/{path}" for name, paths in versions.items() for path in paths]
    start = after(marker, prefix, delimiter)
    found = lines(sections, ListRequest(prefix, delimiter, start, limit))
    assert found == model(keys, prefix, delimiter, marker)


def by_prefix(item: tuple[str, set[str]]) -> str:
    return item[0] + "/"


def test_ten_thousand_keys_come_in_pages_of_a_thousand() -> None:
    paths = {f"{number % 10}/{number:05}" for number in range(10_000)}
    many = section("v1", paths, rule=BoundaryRule(4096, 2000))
    assert lines([many], ListRequest("v1/")) == sorted(f"v1/{p}" for p in paths)


def test_folders_are_skipped_without_reading_them() -> None:
    store = Store()
    paths = {f"{folder}/{number:03}" for folder in "abc" for number in range(1000)}
    many = section("v1", paths, store, BoundaryRule(4096, 100))
    page = list_keys([many], ListRequest("v1/", "/"))
    assert page.prefixes == ["v1/a/", "v1/b/", "v1/c/"]
    assert store.read <= 6


def test_versions_are_listed_without_opening_one() -> None:
    store = Store()
    sections = [section(name, {"a"}, store) for name in ("main", "v1", "v10", "v2")]
    assert list_keys(sections, ListRequest("", "/")).prefixes == ["main/", "v1/", "v10/", "v2/"]
    assert list_keys(sections, ListRequest("v1", "/")).prefixes == ["v1/", "v10/"]
    assert store.read == 0


@pytest.mark.parametrize("path", ["a", "é/ü", "z"])
def test_a_file_is_found_by_its_path_alone(path: str) -> None:
    files = section("v1", {"a", "b/c", "é/ü", "z"}).open()
    found = files.find(path)
    assert found is not None
    assert found.path == path
    for other in ("", "a/", "b", "b/", f"{path}\0", "zz", "é/"):
        assert files.find(other) is None
