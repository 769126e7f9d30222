"""Objects of a layer become arrays beside the pixels that they lie on."""

from __future__ import annotations

import io
import pickle
import sys
from pathlib import Path

import numpy as np
import pyarrow as pa
import pytest
from PIL import Image

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    PictureGeometry,
    Polygon,
    Polyline,
    RotatedBox,
)
from atom_sdk.annotations.layer import PictureRow, rows_table
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.errors import NotAnnotatedError, PictureSizeError
from atom_sdk.readers import LocalDataset
from atom_sdk.readers.objects import ObjectDecoder, ObjectTargets
from tests.sdk.mount.conftest import dataset_of

HEIGHT, WIDTH = 20, 30
SIDEWAYS = 6


def picture(width: int, height: int, orientation: int = 1) -> bytes:
    """A black picture with a white pixel in its top-left corner as it is stored."""
    image = Image.new("RGB", (width, height))
    image.putpixel((0, 0), (255, 255, 255))
    exif = Image.Exif()
    exif[0x0112] = orientation
    out = io.BytesIO()
    image.save(out, "png", exif=exif)
    return out.getvalue()


def named(*shapes: tuple[str, PictureGeometry], ignore: bool = False) -> NamedDocument:
    objects = tuple(
        NamedObject(f"{n:016x}", label, shape, ignore=ignore)
        for n, (label, shape) in enumerate(shapes)
    )
    return NamedDocument(WIDTH, HEIGHT, objects=objects)


def targets_of(dataset: LocalDataset, documents: dict[str, NamedDocument]) -> ObjectTargets:
    return ObjectTargets(table_of(dataset, documents))


def table_of(dataset: LocalDataset, documents: dict[str, NamedDocument]) -> pa.Table:
    index = dataset.index
    return rows_table(
        PictureRow(path, index.digest_of(index.row_of(path)), document)
        for path, document in documents.items()
    )


@pytest.fixture
def dataset(tmp_path: Path) -> LocalDataset:
    files = {f"{n}.png": picture(WIDTH, HEIGHT) for n in range(3)}
    return dataset_of(tmp_path, files | {"turned.png": picture(HEIGHT, WIDTH, SIDEWAYS)})


SKELETON = Keypoints(((1.0, 2.0, 2.0), (0.0, 0.0, 0.0), (3.5, 4.0, 1.0)))
MASK = np.zeros((HEIGHT, WIDTH), bool)
MASK[3:9, 4:7] = True
SHAPES: dict[str, PictureGeometry] = {
    "box": Box(2, 3, 10, 5),
    "rotated": RotatedBox(15, 10, 8, 4, 90),
    "polygon": Polygon((((0, 0, 20, 0, 20, 10, 0, 10), (5, 2, 9, 2, 9, 6, 5, 6)),)),
    "mask": Mask(HEIGHT, WIDTH, rle.encode(MASK)),
    "line": Polyline((0, 0, 5, 9)),
    "person": SKELETON,
}


def test_arrays_have_their_shapes_and_units(dataset: LocalDataset) -> None:
    targets = targets_of(dataset, {"0.png": named(*SHAPES.items())})
    assert targets.classes == sorted(SHAPES)
    target = targets.target("0.png", masks=True)
    assert [targets.classes[code] for code in target["labels"]] == list(SHAPES)
    assert target["boxes"].tolist() == [
        [2, 3, 12, 8],
        [13, 6, 17, 14],
        [0, 0, 20, 10],
        [4, 3, 7, 9],
        [0, 0, 5, 9],
        [1, 2, 3.5, 4],
    ]
    assert target["area"].tolist() == [50, 32, 184, 18, 0, 5]
    assert target["keypoints"].shape == (6, 3, 3)
    assert target["keypoints"][5].tolist() == [list(point) for point in SKELETON.points]
    assert not target["keypoints"][:5].any()
    assert target["size"].tolist() == [HEIGHT, WIDTH]
    assert (target["boxes"].dtype, target["labels"].dtype) == (np.float64, np.int64)


def test_masks_cover_the_pixels_of_their_shapes(dataset: LocalDataset) -> None:
    masks = targets_of(dataset, {"0.png": named(*SHAPES.items())}).target("0.png", masks=True)
    box, rotated, polygon, mask, line, person = masks["masks"]
    assert box[3:8, 2:12].all()
    assert box.sum() == 50
    assert rotated.sum() == 32
    assert polygon[:2, :20].all()
    assert not polygon[3:5, 6:8].any()
    assert (mask == MASK).all()
    assert not line.any()
    assert not person.any()


def test_a_decoder_gives_pixels_and_objects_in_one_orientation(dataset: LocalDataset) -> None:
    corner = named(("corner", Box(WIDTH - 1, 0, 1, 1)))
    decode = ObjectDecoder(targets_of(dataset, {"turned.png": corner}), masks=True)
    pixels, target = decode(dataset[dataset.index.row_of("turned.png")])
    assert pixels.shape == (3, HEIGHT, WIDTH)
    # The white pixel of the stored corner lies top right when the picture is upright.
    x1, y1, x2, y2 = target["boxes"][0].astype(int)
    assert pixels[:, y1:y2, x1:x2].min() == 255
    assert (pixels[0] == 255).sum() == 1
    assert (target["masks"][0] == (pixels[0] == 255)).all()


def test_a_size_scales_the_picture_and_its_objects(dataset: LocalDataset) -> None:
    documents = {"0.png": named(("box", Box(3, 4, 6, 8)), ("person", SKELETON))}
    decode = ObjectDecoder(targets_of(dataset, documents), size=(10, 60), masks=True)
    pixels, target = decode(dataset[0])
    assert pixels.shape == (3, 10, 60)
    assert target["boxes"][0].tolist() == [6, 2, 18, 6]
    assert target["area"][0] == 48
    assert target["keypoints"][1, 2].tolist() == [7, 2, 1]
    assert target["masks"].shape == (2, 10, 60)
    assert target["masks"][0].sum() == 48


def test_empty_is_not_missing(dataset: LocalDataset) -> None:
    targets = targets_of(dataset, {"0.png": named()})
    target = targets.target("0.png", masks=True)
    assert target["boxes"].shape == (0, 4)
    assert target["masks"].shape == (0, HEIGHT, WIDTH)
    assert target["keypoints"].shape == (0, 0, 3)
    assert ("0.png" in targets, "1.png" in targets, len(targets)) == (True, False, 1)
    with pytest.raises(NotAnnotatedError):
        targets.target("1.png")
    assert targets.rows_in(dataset.index).tolist() == [0]


def test_annotations_of_other_bytes_do_not_count(dataset: LocalDataset) -> None:
    table = rows_table([PictureRow("0.png", bytes(32), named(("box", Box(1, 1, 2, 2))))])
    targets = ObjectTargets(table)
    assert targets.rows_in(dataset.index).tolist() == []
    with pytest.raises(NotAnnotatedError):
        ObjectDecoder(targets)(dataset[0])


def test_a_picture_of_another_size_is_refused_unless_scaled(dataset: LocalDataset) -> None:
    other = NamedDocument(WIDTH + 1, HEIGHT, objects=named(("box", Box(1, 1, 2, 2))).objects)
    targets = targets_of(dataset, {"0.png": other})
    with pytest.raises(PictureSizeError, match=r"30 × 20 pixels; annotated were 31 × 20"):
        ObjectDecoder(targets)(dataset[0])
    assert ObjectDecoder(targets, size=(4, 4))(dataset[0])[0].shape == (3, 4, 4)


def test_chosen_classes_leave_the_others_out(dataset: LocalDataset) -> None:
    table = table_of(dataset, {"0.png": named(*SHAPES.items())})
    target = ObjectTargets(table, classes=["polygon", "box"]).target("0.png", masks=True)
    assert target["labels"].tolist() == [1, 0]
    assert len(target["masks"]) == 2


def test_ignore_regions_are_marked(dataset: LocalDataset) -> None:
    targets = targets_of(dataset, {"0.png": named(("box", Box(1, 1, 2, 2)), ignore=True)})
    assert targets.target("0.png")["ignore"].tolist() == [True]


def test_a_decoder_can_be_pickled(dataset: LocalDataset) -> None:
    decode = ObjectDecoder(targets_of(dataset, {"0.png": named(*SHAPES.items())}))
    again = pickle.loads(pickle.dumps(decode))
    for first, second in zip(
        decode(dataset[0])[1].values(), again(dataset[0])[1].values(), strict=True
    ):
        assert (first == second).all()


def test_tensors_have_the_types_that_networks_take(dataset: LocalDataset) -> None:
    torch = pytest.importorskip("torch")
    targets = targets_of(dataset, {"0.png": named(*SHAPES.items())})
    pixels, target = ObjectDecoder(targets, tensor=True, masks=True)(dataset[0])
    assert pixels.dtype == torch.uint8
    assert (target["boxes"].dtype, target["labels"].dtype) == (torch.float32, torch.int64)
    assert (target["masks"].dtype, target["ignore"].dtype) == (torch.bool, torch.bool)
    assert "torch" in sys.modules
