"""Exports are opened by datumaro, object by object, to within its rounding."""

from __future__ import annotations

from pathlib import Path
from typing import Any, Final

import numpy as np
import pytest

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import Box, Mask, PictureGeometry, Point, Polygon, Polyline
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.interface import LabelledPicture, WriteChoices
from tests.sdk.label_formats.oracles import Oracle
from tests.sdk.label_formats.sources import ontology_of, png

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]

WIDTH, HEIGHT = 64, 48
READERS: Final = {
    "coco": "coco_instances", "cvat": "cvat", "voc": "voc_detection", "yolo": "yolo",
}  # fmt: skip
# datumaro keeps two decimals; VOC has whole pixels, YOLO's boxes are centres and sides.
ROUNDING: Final = {"coco": 0.011, "yolo": 0.02, "voc": 1.0, "cvat": 0.011}
READ = """
import json, sys
import numpy as np
from datumaro.components.dataset import Dataset
dataset = Dataset.import_from(sys.argv[1], sys.argv[2])
names = [label.name for label in dataset.categories()[next(iter(dataset.categories()))]]
rows = {}
for item in dataset:
    drawn = []
    for one in item.annotations:
        kind = one.type.name
        row = {"kind": kind, "label": names[one.label]}
        if kind == "mask":
            row["mask"] = np.argwhere(one.image).tolist()
        elif kind == "bbox":
            row["box"] = list(one.get_bbox())
        elif hasattr(one, "points"):
            row["points"] = list(one.points)
        drawn.append(row)
    rows[f"{item.subset}/{item.id}"] = drawn
print(json.dumps(rows, default=float))
"""


def _mask() -> np.ndarray[Any, np.dtype[np.bool_]]:
    mask = np.zeros((HEIGHT, WIDTH), bool)
    mask[3:9, 5:20] = True
    mask[20:22, 30:31] = True
    return mask


BOX = Box(3.25, 4.5, 20.125, 10.75)
RING = (10.5, 10.25, 30.0, 12.0, 22.125, 30.0)
POINTS: Final = {
    "polygon": RING, "polyline": (1.5, 2.5, 30.25, 40.0), "point": (7.5, 8.25),
}  # fmt: skip
# VOC counts from 1 and ends with the last pixel; datumaro takes its numbers as they are.
VOC_BOX: Final = (BOX.x + 1, BOX.y + 1, BOX.width - 1, BOX.height - 1)
SHAPES: Final[dict[str, PictureGeometry]] = {
    "box": BOX,
    "polygon": Polygon(((RING,),)),
    "mask": Mask(HEIGHT, WIDTH, rle.encode(_mask())),
    "polyline": Polyline(POINTS["polyline"]),
    "point": Point(7.5, 8.25),
}


def exported(folder: Path, name: str, kinds: tuple[str, ...]) -> Path:
    """Write a picture with the shapes, one with a box and one that is empty."""
    objects = tuple(
        NamedObject(f"{place:016x}", "bike" if kind == "polygon" else "car", SHAPES[kind])
        for place, kind in enumerate(kinds, 1)
    )
    # datumaro skips pictures of CVAT whose subset is not the name of the file.
    train, val = (None, None) if name == "cvat" else ("train", "val")
    pictures = [
        LabelledPicture("one.png", NamedDocument(WIDTH, HEIGHT, objects=objects), train),
        LabelledPicture("three.png", NamedDocument(WIDTH, HEIGHT, objects=objects[:1]), val),
        LabelledPicture("two.png", NamedDocument(WIDTH, HEIGHT), train),
    ]
    out = folder / name
    formats.write(
        pictures, name, out, ontology_of(pictures), WriteChoices("detect" if name == "yolo" else "")
    )
    for path in ("one.png", "two.png", "three.png"):
        for images in ("images", "JPEGImages"):
            place = out / images / path
            place.parent.mkdir(exist_ok=True)
            place.write_bytes(png(WIDTH, HEIGHT))
    return out


@pytest.mark.parametrize(
    ("name", "kinds"),
    [
        ("coco", ("box", "polygon", "mask")),
        ("cvat", ("box", "polygon", "mask", "polyline", "point")),
        ("voc", ("box",)),
        ("yolo", ("box",)),
    ],
)
def test_datumaro_reads_each_object(
    oracle: Oracle, tmp_path: Path, name: str, kinds: tuple[str, ...]
) -> None:
    out = exported(tmp_path, name, kinds)
    read = oracle.ask(READ, str(out), READERS[name])
    pictures = {key.partition("/")[2]: rows for key, rows in read.items()}
    assert set(pictures) == {"one", "two", "three"}
    assert pictures["two"] == []
    assert [row["kind"] for row in pictures["three"]] == ["bbox"]
    rows = pictures["one"]
    # datumaro makes a box of its own beside each shape of COCO that is none.
    made = len(kinds) - 1 if name == "coco" else 0
    assert len(rows) == len(kinds) + made
    for kind in kinds:
        assert [row for row in rows if is_read(row, kind, name)], f"{kind} in {rows}"


def is_read(row: dict[str, Any], kind: str, name: str) -> bool:
    """Whether what datumaro has read is what was drawn."""
    if row["label"] != ("bike" if kind == "polygon" else "car"):
        return False
    if kind == "mask":
        return bool(row.get("mask") == np.argwhere(_mask()).tolist())
    key, drawn = "points", POINTS.get(kind)
    if kind == "box":
        key, drawn = "box", VOC_BOX if name == "voc" else (BOX.x, BOX.y, BOX.width, BOX.height)
    return bool(key in row and row[key] == pytest.approx(drawn, abs=ROUNDING[name]))
