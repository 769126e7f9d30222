"""Moving what earlier imports wrote into attributes to the layer of objects."""

from __future__ import annotations

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.annotations.geometry import Box, Polygon
from atom_sdk.annotations.layer import documents_of
from atom_sdk.annotations.naming import NamedDocument
from atom_sdk.client import Client
from atom_sdk.client.errors import ApiError
from atom_sdk.client.progress import Silent
from atom_sdk.client.push.import_metadata import ImportMetadata
from atom_sdk.client.push.push import Push, PushOptions
from atom_sdk.client.transport.manifest import RemoteManifest
from atom_sdk.manifests import read_layer
from tests.datasets.pushing import png

RING = [1, 1, 6, 1, 6, 6]
MOVE = [{"op": "move_objects", "paths": ["/"]}]


def written(*objects: dict[str, Any], unit: str = "pixel", **more: Any) -> dict[str, Any]:
    """Return attributes as imports wrote them."""
    return {"objects": list(objects), "object_counts": {"cat": 1}, "box_unit": unit, **more}


def cat(*box: float, **more: Any) -> dict[str, Any]:
    return {"label": "cat", "box": list(box), **more}


def push(
    client: Client, folder: Path, attributes: Mapping[str, Any], importer: str = "coco"
) -> None:
    """Push pictures with such attributes, as an import of that format did."""
    folder.mkdir(exist_ok=True)
    for number, name in enumerate(sorted(attributes)):
        (folder / name).write_bytes(png(number + len(folder.name)))
    origin = {"kind": "import", "import": {"importer": importer}}
    metadata = ImportMetadata(keeps_others=True, provenance=origin)
    options = PushOptions(attributes=attributes, metadata=metadata)
    Push(client.datasets, client.http, Silent(), options).run(folder, "cats")


def documents(client: Client, reference: str) -> dict[str, NamedDocument]:
    """Return what the layer of a version holds, by path."""
    manifest = RemoteManifest(client.http, client.datasets.version_base(reference))
    layer = manifest.root.layer("objects")
    if layer is None:
        return {}
    table = read_layer(layer, manifest)
    return dict(zip(table["path"].to_pylist(), documents_of(table), strict=True))


def moved(client: Client, value: str = "") -> dict[str, Any]:
    """Move the objects of the branch, and return its version."""
    edit = [{**MOVE[0], "value": value}]
    done = client.operations.edit("cats", edit)
    version: dict[str, Any] = done["version"]
    return client.datasets.version(f"cats@{version['ref']}")


def test_boxes_polygons_and_flags_go_to_the_layer_in_one_version(
    client: Client, tmp_path: Path
) -> None:
    push(
        client,
        tmp_path / "in",
        {
            "a.png": written(
                cat(1, 2, 3, 4, crowd=True),
                cat(1, 1, 5, 5, polygons=[RING], occluded=True),
                camera="north",
                width=8,
                height=8,
            ),
            # The size of a picture whose boxes are relative is in the picture.
            "b.png": written(cat(0.25, 0.25, 0.5, 0.5), unit="relative"),
            "c.png": written(),
            "cut.png": {"object_counts": {"cat": 900}},
            "far.png": written(cat(100, 100, 5, 5)),
            "other.png": {"objects": "three", "camera": "south"},
        },
    )
    version = moved(client)
    found = documents(client, "cats@v2")
    assert sorted(found) == ["a.png", "b.png", "c.png"]
    crowd, polygon = found["a.png"].objects
    assert (crowd.geometry, crowd.ignore, crowd.attributes) == (Box(1, 2, 3, 4), True, {})
    assert polygon.geometry == Polygon(((tuple(map(float, RING)),),))
    assert polygon.attributes == {"occluded": True}
    assert found["b.png"].objects[0].geometry == Box(2, 2, 4, 4)
    assert (found["c.png"].objects, found["c.png"].width) == ((), 8)
    left = {row["path"]: row["attributes"] for row in client.datasets.entries("cats@v2")}
    assert left["a.png"] == {"camera": "north", "width": 8, "height": 8}
    assert left["cut.png"] == {"object_counts": {"cat": 900}}
    # Nothing is lost: a box that no picture can have stays where it was.
    assert left["far.png"]["objects"] == [cat(100, 100, 5, 5)]
    assert left["other.png"] == {"objects": "three", "camera": "south"}
    assert version["provenance"]["moved_objects"] == {
        "pictures": 3,
        "objects": 3,
        "cut": 1,
        "left": 1,
        "first": ["far.png"],
    }
    assert (version["added"], version["removed"], version["changed"]) == (0, 0, 3)


def test_moving_again_makes_no_version(client: Client, tmp_path: Path) -> None:
    push(client, tmp_path / "in", {"a.png": written(cat(1, 2, 3, 4)), "b.png": {}})
    assert moved(client)["ref"] == "v2"
    assert client.operations.edit("cats", MOVE)["unchanged"]
    assert documents(client, "cats@main")["a.png"].objects[0].geometry == Box(1, 2, 3, 4)


def test_boxes_of_voc_are_corrected_once_and_those_of_others_are_not(
    client: Client, tmp_path: Path
) -> None:
    push(client, tmp_path / "coco", {"coco.png": written(cat(1, 2, 3, 4))})
    voc = {
        "one.png": written(cat(1, 2, 3, 4, difficult=True)),
        "zero.png": written(cat(0, 2, 3, 4)),
    }
    push(client, tmp_path / "voc", voc, "voc")
    version = moved(client)
    found = {path: one.objects[0] for path, one in documents(client, "cats@main").items()}
    # Pixels 1 to 4 and 2 to 6, counted from 1 with both ends.
    assert (found["one.png"].geometry, found["one.png"].ignore) == (Box(0, 1, 4, 5), True)
    assert found["zero.png"].geometry == Box(0, 2, 3, 4)
    assert found["coco.png"].geometry == Box(1, 2, 3, 4)
    assert version["provenance"]["moved_objects"]["voc_corrected"] == 1


@pytest.mark.parametrize(("value", "box"), [("1", Box(0, 1, 4, 5)), ("0", Box(1, 2, 3, 4))])
def test_a_person_may_say_from_which_number_pixels_count(
    value: str, box: Box, client: Client, tmp_path: Path
) -> None:
    push(client, tmp_path / "in", {"a.png": written(cat(1, 2, 3, 4))}, "voc")
    moved(client, value)
    assert documents(client, "cats@main")["a.png"].objects[0].geometry == box


def test_objects_that_are_in_the_layer_already_stay(client: Client, tmp_path: Path) -> None:
    push(client, tmp_path / "in", {"a.png": written(cat(1, 2, 3, 4))})
    moved(client)
    push(client, tmp_path / "in", {"a.png": written(cat(5, 5, 1, 1))})
    version = moved(client)
    assert documents(client, "cats@main")["a.png"].objects[0].geometry == Box(1, 2, 3, 4)
    assert version["provenance"]["moved_objects"] == {"superseded": 1}
    (row,) = client.datasets.entries("cats@main")
    assert row["attributes"] == {}


def test_another_origin_is_refused_with_the_field(client: Client, tmp_path: Path) -> None:
    push(client, tmp_path / "in", {"a.png": written(cat(1, 2, 3, 4))})
    with pytest.raises(ApiError) as refused:
        moved(client, "2")
    assert refused.value.status == 400
    assert "Give 0 or 1, or nothing." in json.dumps(refused.value.problem)
