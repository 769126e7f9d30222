"""No commit makes a path a file and a folder at once."""

from __future__ import annotations

from typing import Any

import pyarrow as pa
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.datasets.versions.engines.path_conflicts import path_conflict
from atom_sdk.manifests import Entry, MemoryObjectStore, build_root, entries_table
from atom_sdk.manifests.ranges.ranges import BoundaryRule
from atom_sdk.manifests.roots.roots import Root
from tests.datasets.forks import carried_out, paths_of, published
from tests.datasets.pushing import Pusher, make_pack, png, put_rows
from tests.tiers import examples

_SEGMENTS = st.sampled_from(["a", "b", "a-", "a0", "a b", "é", "\U0001f600"])
_PATHS = st.sets(st.lists(_SEGMENTS, min_size=1, max_size=4).map("/".join), max_size=20)
_RULE = BoundaryRule(modulus=3, cap=4)


def _root(paths: set[str], store: MemoryObjectStore) -> Root:
    entries = [Entry(path, 1, bytes(32), pack=bytes(32), offset=0) for path in sorted(paths)]
    return build_root([entries_table(entries)], store, rule=_RULE)


@settings(max_examples=examples(200))
@given(before=_PATHS, put=_PATHS, piece=st.integers(1, 5))
def test_what_clashes_is_what_a_naive_search_finds(
    before: set[str], put: set[str], piece: int
) -> None:
    store = MemoryObjectStore()
    after = {*before, *put, "z"}
    root, parent = _root(after, store), _root({*before, "z"}, store)
    ordered = sorted(put)
    pieces = [pa.array(ordered[n : n + piece]) for n in range(0, len(ordered), piece)]
    folders = {(path, path[:n]) for path in after for n, char in enumerate(path) if char == "/"}
    clashes = {
        folder for path, folder in folders if folder in after and {path, folder} & put - before
    }

    found = path_conflict(root, pieces, store, parent)

    assert found in clashes if clashes else found is None


@pytest.mark.parametrize(("there", "new"), [("a/b", "a/b/c"), ("a/b/c", "a/b")])
def test_a_push_puts_no_file_where_a_folder_is_nor_below_a_file(
    there: str, new: str, pusher: Pusher
) -> None:
    pusher.push({there: png(1), "a/b-c": png(2)})

    refused = _pushed(pusher, {new: png(3)})

    assert (refused["state"], refused["error"]["code"]) == ("failed", "path_taken")
    assert refused["error"]["detail"] == "a/b would be a file and a folder."
    assert paths_of(pusher) == {there, "a/b-c"}


def test_a_first_push_has_no_path_that_is_both(pusher: Pusher) -> None:
    refused = _pushed(pusher, {"a": png(1), "a.png": png(2), "a/b": png(3)})

    assert refused["error"]["code"] == "path_taken"


def test_where_sides_of_a_merge_meet_as_file_and_folder_is_a_conflict(forked: Pusher) -> None:
    forked.push({"x": png(1)})
    forked.push({"x/y": png(2)}, branch="fix")

    merged = carried_out(forked, "merges", source="fix", branch="main")
    picked = carried_out(forked, "picks", source="fix", paths=["x/"], branch="main")

    assert merged["error"]["code"] == "merge_conflict"
    assert [each["path"] for each in merged["conflicts"]] == ["x/y"]
    # A picked file does not replace one that is there.
    assert picked["error"]["code"] == "path_taken"
    assert "x/y" not in paths_of(forked)
    removed = published(forked, "edits", edits=[{"op": "remove", "paths": ["x"]}])
    published(forked, "picks", source="fix", paths=["x/"], branch="main")
    assert "x/y" in paths_of(forked)
    reverted = carried_out(forked, "reverts", version=removed["ref"], branch="main")
    assert reverted["error"]["code"] == "merge_conflict"


def _pushed(pusher: Pusher, files: dict[str, bytes]) -> dict[str, Any]:
    pack = make_pack(files)
    pusher.upload(pack.data, digest=pack.digest)
    return pusher.commit(put_rows(pack))
