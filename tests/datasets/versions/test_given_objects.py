"""Documents that come with pictures: rows of the layer of objects, beside what people drew."""

from __future__ import annotations

import json
from typing import Any

import pyarrow as pa
from blake3 import blake3

from atom.datasets.versions.engines.changes import check_changes
from atom.datasets.versions.engines.version_plan import VersionPlan
from atom.datasets.versions.engines.versions import build_version, publish_rows
from atom_sdk.annotations.geometry import Box
from atom_sdk.annotations.layer import documents_of
from atom_sdk.manifests import read_layer
from atom_sdk.manifests.layers.object_rows import with_contents
from atom_sdk.manifests.objects import MemoryObjectStore
from atom_sdk.manifests.roots.roots import Root


def put(path: str, data: bytes, *boxes: list[float]) -> dict[str, Any]:
    """Return the row of a picture with boxes."""
    objects = [
        {"id": f"{number:016x}", "label": "cat", "kind": "box", "box": box}
        for number, box in enumerate(boxes)
    ]
    document = {"version": 2, "width": 16, "height": 16, "objects": objects}
    return {
        "op": "put",
        "path": path,
        "size": len(data),
        "digest": blake3(data).digest(),
        "pack": b"\1" * 32,
        "offset": 0,
        "document": json.dumps(document),
    }


def built(root: Root | None, store: MemoryObjectStore, *rows: dict[str, Any]) -> Root:
    plan = VersionPlan(check_changes(pa.Table.from_pylist(list(rows))))
    return build_version(root, plan, store)


def rows_in(root: Root, store: MemoryObjectStore) -> pa.Table:
    layer = root.layer("objects")
    assert layer is not None
    return read_layer(layer, store)


def test_documents_are_rows_and_the_same_ones_again_are_the_same_root() -> None:
    store = MemoryObjectStore()
    pictures = put("a.png", b"1", [1.1, 2.2, 3.3, 4.4]), put("b.png", b"2")
    root = built(None, store, *pictures)
    first, second = documents_of(rows_in(root, store))
    assert [one.geometry for one in first.objects] == [Box(1.1, 2.2, 3.3, 4.4)]
    assert second.objects == ()
    assert built(root, store, *pictures).says_the_same(root)


def test_new_documents_replace_imported_rows_and_not_those_that_people_drew() -> None:
    store = MemoryObjectStore()
    root = built(None, store, put("a.png", b"1", [1, 1, 2, 2]), put("b.png", b"2", [1, 1, 2, 2]))
    drawn = rows_in(root, store).slice(0, 1)
    source = drawn.schema.get_field_index("source")
    drawn = drawn.set_column(source, drawn.schema.field(source), pa.array(["human"]))
    root = publish_rows(root, "objects", "objects", with_contents(drawn), store)
    news = put("a.png", b"1", [3, 3, 4, 4]), put("b.png", b"2", [3, 3, 4, 4])
    root = built(root, store, *news)
    table = rows_in(root, store)
    boxes = [one.objects[0].geometry for one in documents_of(table)]
    assert boxes == [Box(1, 1, 2, 2), Box(3, 3, 4, 4)]
    assert table["source"].to_pylist() == ["human", "import"]

    # Other bytes are another picture: what was drawn on the old ones is gone.
    root = built(root, store, put("a.png", b"new", [3, 3, 4, 4]))
    assert rows_in(root, store)["source"].to_pylist() == ["import", "import"]
