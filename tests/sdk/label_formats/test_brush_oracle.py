"""Brushes are those of Label Studio: its SDK reads ours, and we read what it writes."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import Mask
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.bit_runs import read_brush
from atom_sdk.label_formats.interface import LabelledPicture
from tests.sdk.label_formats.oracles import Oracle
from tests.sdk.label_formats.sources import fill, ontology_of, read

pytestmark = [pytest.mark.deep, pytest.mark.timeout(1800)]

# The module alone: the package around it wants a client's dependencies.
MODULE = """
import importlib.util, json, sys, sysconfig
import numpy as np
place = sysconfig.get_path("purelib") + "/label_studio_sdk/converter/brush.py"
spec = importlib.util.spec_from_file_location("brush", place)
brush = importlib.util.module_from_spec(spec)
spec.loader.exec_module(brush)
sent = json.load(sys.stdin)
"""
READ = """
flat = [{"type": row["type"], "original_width": row["original_width"], **row["value"],
         "original_height": row["original_height"]} for row in sent]
layers = brush.decode_from_annotation("tag", flat)
print(json.dumps({name: np.argwhere(layer > 127).tolist() for name, layer in layers.items()}))
"""
WRITE = """
masks = [np.array(rows, np.uint8) * 255 for rows in sent]
print(json.dumps([brush.mask2rle(mask) for mask in masks]))
"""


def masks() -> list[NDArray[np.bool_]]:
    """Masks with runs of each length of the format, up to more than 16 bits hold."""
    random = np.random.default_rng(4)
    speckled = random.random((31, 45)) < 0.3
    half = np.zeros((300, 200), bool)
    half[:, 100:] = True
    one = np.zeros((260, 260), bool)
    one[259, 259] = True
    return [speckled, half, one, ~one]


def test_label_studio_reads_the_brushes_of_an_export(oracle: Oracle, tmp_path: Path) -> None:
    pictures = [_picture(f"{place}.png", mask) for place, mask in enumerate(masks())]
    formats.write(pictures, "label-studio", tmp_path / "out", ontology_of(pictures))
    tasks = json.loads((tmp_path / "out" / "tasks.json").read_text())
    assert len(tasks) == len(pictures)
    for task, mask in zip(tasks, masks(), strict=True):
        [layer] = oracle.ask(MODULE + READ, sent=task["annotations"][0]["result"]).values()
        assert layer == np.argwhere(mask).tolist()


def test_brushes_that_label_studio_has_written_are_read(oracle: Oracle, tmp_path: Path) -> None:
    written = oracle.ask(MODULE + WRITE, sent=[mask.astype(int).tolist() for mask in masks()])
    for data, mask in zip(written, masks(), strict=True):
        assert np.array_equal(read_brush(data, mask.shape[1], mask.shape[0]), mask)
    file = json.dumps([_task(place, mask, data) for place, (data, mask) in
                       enumerate(zip(written, masks(), strict=True))])  # fmt: skip
    labels = read(fill(tmp_path / "in", {"export.json": file}), "label-studio")
    for place, mask in enumerate(masks()):
        [drawn] = labels.objects(f"{place}.png")
        assert isinstance(drawn.geometry, Mask)
        assert drawn.geometry.counts == rle.encode(mask)


def _picture(path: str, mask: NDArray[np.bool_]) -> LabelledPicture:
    height, width = mask.shape
    shape = Mask(height, width, rle.encode(mask))
    drawn = NamedObject("60303ae22b998861", "car", shape)
    return LabelledPicture(path, NamedDocument(width, height, objects=(drawn,)))


def _task(place: int, mask: NDArray[np.bool_], data: list[int]) -> dict[str, Any]:
    """A task as Label Studio exports it."""
    result = {
        "id": f"r{place}",
        "type": "brushlabels",
        "from_name": "tag",
        "to_name": "image",
        "original_width": mask.shape[1],
        "original_height": mask.shape[0],
        "image_rotation": 0,
        "value": {"format": "rle", "rle": data, "brushlabels": ["car"]},
    }
    image = f"/data/upload/1/{place}.png"
    return {"id": place, "data": {"image": image}, "annotations": [{"id": 1, "result": [result]}]}
