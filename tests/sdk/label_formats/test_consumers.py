"""Exports are opened by the libraries that they are for."""

from __future__ import annotations

import contextlib
import io
import tempfile
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from pycocotools.coco import COCO

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import Mask, Polygon
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.fitting import Fitter
from atom_sdk.label_formats.interface import LabelledPicture, WriteChoices
from atom_sdk.label_formats.report import LabelReport
from tests.sdk.label_formats.sources import ontology_of
from tests.sdk.label_formats.strategies import HEIGHT, WIDTH, pictures


# pycocotools of today asks numpy 2 as numpy 1 was asked.
@pytest.mark.filterwarnings("ignore:__array__ implementation:DeprecationWarning")
@given(drawn=pictures())
def test_pycocotools_opens_a_coco_file_and_draws_the_same_pixels(
    drawn: list[LabelledPicture],
) -> None:
    ontology = ontology_of(drawn)
    fitter = Fitter(formats.CODECS["coco"].ability(ontology, WriteChoices()), LabelReport("coco"))
    with tempfile.TemporaryDirectory() as folder:
        formats.write(drawn, "coco", Path(folder), ontology)
        files = sorted(Path(folder, "annotations").iterdir())
        with contextlib.redirect_stdout(io.StringIO()):
            opened = [COCO(str(file)) for file in files]
    rows = {
        (coco.imgs[row["image_id"]]["file_name"], row["atom_id"]): (coco, row)
        for coco in opened
        for row in coco.anns.values()
    }
    for coco in opened:
        assert len(coco.anns) == len(coco.dataset["annotations"])

    for picture in drawn:
        for each in fitter.fit(picture.document, picture.path).objects:
            coco, row = rows[picture.path, each.id]
            assert coco.cats[row["category_id"]]["name"] == each.label
            if isinstance(each.geometry, Polygon | Mask):
                pixels = coco.annToMask(row).astype(bool)
                assert np.array_equal(pixels, _pixels(each.geometry))


def _pixels(shape: Polygon | Mask) -> np.ndarray:  # type: ignore[type-arg]
    counts = (
        shape.counts if isinstance(shape, Mask) else rle.from_polygon(shape.parts, HEIGHT, WIDTH)
    )
    return rle.decode(counts, HEIGHT, WIDTH)
