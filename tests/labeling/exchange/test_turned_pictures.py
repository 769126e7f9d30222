"""Labels of pictures that EXIF turns: places are those of the picture that people see."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from typing import Any

import pytest

from atom.accounts.models import Project
from tests.labeling.exchange.transferring import Exchange, coco, drawn_on, picture, zipped

pytestmark = pytest.mark.usefixtures("committing_db")

PATH = "train/a.jpg"


@pytest.fixture
def exchange(project: Project) -> Exchange:
    return Exchange(project)


def voc(width: int, height: int, *corners: int) -> bytes:
    """An archive of one file of VOC; the ends count from 1."""
    names = ("xmin", "ymin", "xmax", "ymax")
    box = "".join(f"<{name}>{value}</{name}>" for name, value in zip(names, corners, strict=True))
    text = (
        f"<annotation><filename>{PATH}</filename>"
        f"<size><width>{width}</width><height>{height}</height></size>"
        f"<object><name>car</name><bndbox>{box}</bndbox></object></annotation>"
    )
    return zipped({"Annotations/train/a.xml": text})


def coco_of(width: int, height: int, *bbox: float) -> bytes:
    row = {"id": 1, "image_id": 0, "category_id": 7, "bbox": list(bbox)}
    return coco(row, names=(PATH,), size=(width, height))


def changes(done: Any) -> list[str]:
    assert done["state"] == "done", done["error"]
    return [row["code"] for row in done["report"]["read"]["changed"]]


# Stored: 640 wide, 480 high, turned by a quarter to the right, so that people see 480 by 640.
@pytest.mark.parametrize(
    ("filename", "labels", "is_turned"),
    [
        ("a.json", coco_of(480, 640, 20, 10, 30, 60), False),
        ("a.json", coco_of(640, 480, 10, 430, 60, 30), True),
        ("a.zip", voc(480, 640, 21, 11, 50, 70), False),
        ("a.zip", voc(640, 480, 11, 431, 70, 460), True),
    ],
    ids=["coco-seen", "coco-stored", "voc-seen", "voc-stored"],
)
def test_labels_of_the_seen_and_of_the_stored_picture_mean_the_same_place(
    exchange: Exchange, filename: str, labels: bytes, is_turned: bool
) -> None:
    dataset = exchange.dataset([PATH], {PATH: picture(orientation=6)})
    done = exchange.bring(labels, filename)
    assert ("formats.turned_upright" in changes(done)) is is_turned
    document = drawn_on(dataset)[PATH]
    assert (document.width, document.height) == (480, 640)
    assert [each.geometry.bounds for each in document.objects] == [(20, 10, 30, 60)]


@pytest.mark.parametrize("orientation", [1, 3])
def test_sides_that_are_not_exchanged_leave_labels_alone(
    exchange: Exchange, orientation: int
) -> None:
    dataset = exchange.dataset([PATH], {PATH: picture(orientation=orientation)})
    done = exchange.bring(coco_of(640, 480, 10, 430, 60, 30), "a.json")
    assert changes(done) == []
    [each] = drawn_on(dataset)[PATH].objects
    assert each.geometry.bounds == (10, 430, 60, 30)


def test_exports_tell_the_size_and_the_places_that_people_see(exchange: Exchange) -> None:
    exchange.dataset([PATH], {PATH: picture(orientation=8)})
    # A quarter to the left: x is the stored y, y counts back from the stored width.
    exchange.bring(coco_of(640, 480, 10, 430, 60, 30), "a.json")
    [text] = [
        data
        for name, data in exchange.take(dataset="street@v2", format="voc").items()
        if name.endswith(".xml")
    ]
    root = ET.fromstring(text)
    size = [root.findtext(f"size/{name}") for name in ("width", "height")]
    box = [root.findtext(f"object/bndbox/{name}") for name in ("xmin", "ymin", "xmax", "ymax")]
    assert size == ["480", "640"]
    assert box == ["431", "571", "460", "630"]
    files = exchange.take(dataset="street@v2", format="coco")
    [content] = [data for name, data in files.items() if name.endswith(".json")]
    value = json.loads(content)
    assert [(each["width"], each["height"]) for each in value["images"]] == [(480, 640)]
    assert [each["bbox"] for each in value["annotations"]] == [[430, 570, 30, 60]]
