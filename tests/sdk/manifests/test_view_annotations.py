"""A view brings what is drawn on its own pictures, and nothing of others."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom_sdk.manifests import (
    Entry,
    MemoryObjectStore,
    Root,
    ViewSelector,
    build_root,
    build_view,
    entries_table,
    layer_table,
    write_layer,
)
from atom_sdk.readers.view import ViewIndex
from tests.sdk.manifests.drawn import box, bytes_of, drawn, picture

PATHS = ["a.png", "b.png", "c.png", "d.png"]
PACK = bytes_of("pack")


def version(store: MemoryObjectStore, *, with_objects: bool = True, ranges: int = 1) -> Root:
    """Four pictures: two with boxes, one without, one that nobody has looked at."""
    entries = [
        Entry(path, 7, bytes_of(path), None, None, PACK, 4096 * number)
        for number, path in enumerate(PATHS)
    ]
    size = len(PATHS) // ranges
    tables = [entries_table(entries[start : start + size]) for start in range(0, len(PATHS), size)]
    splits = [
        {"path": path, "digest": bytes_of(path), "value": "test" if path == "b.png" else "train"}
        for path in PATHS
    ]
    layers = [write_layer("split", "split", layer_table("split", splits), store)]
    if with_objects:
        rows = drawn(
            picture("a.png", box("1"), box("2", "bike", (0.5, 1.5, 2.25, 3.0), ignore=True)),
            picture("b.png", box("3", "secret")),
            picture("c.png"),
        )
        layers.append(write_layer("objects", "objects", rows, store))
    return build_root(tables, store).with_layers(*layers)


@pytest.mark.parametrize("ranges", [1, 2, 4])
def test_boxes_stand_beside_their_pictures(tmp_path: Path, ranges: int) -> None:
    store = MemoryObjectStore()
    build_view(version(store, ranges=ranges), store, tmp_path / "view")
    index = ViewIndex(tmp_path / "view")
    column = index.annotations
    assert column is not None
    rows = column.to_pylist()
    first = rows[0]
    assert (first["width"], first["height"]) == (640, 480)
    assert [one["label"] for one in first["objects"]] == ["car", "bike"]
    assert [one["ignore"] for one in first["objects"]] == [False, True]
    assert [first["objects"][1][name] for name in ("x", "y", "width", "height")] == [
        0.5, 1.5, 2.25, 3.0,
    ]  # fmt: skip
    assert rows[2]["objects"] == [], "looked at, and nothing is there"
    assert rows[3] is None, "nobody has looked at it"


def test_annotations_of_other_splits_are_not_in_the_file(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    root = version(store)
    build_view(root, store, tmp_path / "view", ViewSelector(splits=frozenset({"train"})))
    index = ViewIndex(tmp_path / "view")
    assert [index.path_of(row) for row in range(len(index))] == ["a.png", "c.png", "d.png"]
    assert index.annotations is not None
    assert index.annotations.is_valid().to_pylist() == [True, True, False]
    assert b"secret" not in (tmp_path / "view").read_bytes()


def test_boxes_belong_to_the_bytes_that_somebody_saw(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    layer = next(one for one in version(store).layers if one.name == "objects")
    entries = [Entry(path, 7, bytes_of("other " + path), None, None, PACK, 0) for path in PATHS]
    root = build_root([entries_table(entries)], store).with_layers(layer)
    build_view(root, store, tmp_path / "view")
    annotations = ViewIndex(tmp_path / "view").annotations
    assert annotations is not None
    assert annotations.null_count == len(PATHS)


def test_a_version_without_the_layer_has_no_column(tmp_path: Path) -> None:
    store = MemoryObjectStore()
    build_view(version(store, with_objects=False), store, tmp_path / "view")
    assert ViewIndex(tmp_path / "view").annotations is None
