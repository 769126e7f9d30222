"""Pictures and their boxes: decoded, changed and given to cells of the network's output."""

from __future__ import annotations

import io
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image

from tests.jobs.workflows.detection.conftest import Module
from tests.jobs.workflows.detection.shapes import object_row, write_dataset


def encoded(pixels: Any, kind: str = "png", orientation: int = 1) -> bytes:
    exif = Image.Exif()
    exif[0x0112] = orientation
    file = io.BytesIO()
    Image.fromarray(np.asarray(pixels, np.uint8)).save(file, kind, exif=exif)
    return file.getvalue()


def objects(module: Module, boxes: Any, codes: Any, ignored: Any = None) -> Any:
    boxes = np.array(boxes, float).reshape(-1, 4)
    flags = np.zeros(len(boxes), bool) if ignored is None else np.array(ignored, bool)
    return module("augmentation").Objects(boxes, np.array(codes, np.int64), flags)


@pytest.mark.parametrize("kind", ["png", "jpeg", "tiff"])
def test_a_picture_is_turned_as_its_exif_says(module: Module, kind: str) -> None:
    # Stored 200 wide and 100 high, white at its left; upright it is white at the top.
    pixels = np.zeros((100, 200, 3))
    pixels[:, :50] = 255
    picture = module("images").decode(encoded(pixels, kind, orientation=6), 64)
    assert (picture.width, picture.height) == (100, 200)
    assert picture.scale == (0.32, 0.32)
    assert picture.pixels[:, :14, :30].min() > 200
    assert picture.pixels[:, 20:, :30].max() < 50
    assert (picture.pixels[:, :, 32:] == 114).all(), "filled beside the picture"


def test_a_large_jpeg_is_read_small(module: Module) -> None:
    pixels = np.zeros((3000, 4600, 3), np.uint8)
    pixels[:, 2300:] = 255
    picture = module("images").decode(encoded(pixels, "jpeg"), 96)
    assert (picture.width, picture.height) == (4600, 3000)
    assert picture.pixels[0, 30].tolist()[::94] == [0, 255]


def test_what_cannot_be_read_says_why(module: Module, monkeypatch: pytest.MonkeyPatch) -> None:
    images = module("images")
    whole = encoded(np.zeros((20, 20, 3)))
    for data in (b"", b"text", whole[:60]):
        with pytest.raises(images.UnreadableImageError):
            images.decode(data, 64)
    monkeypatch.setattr(images, "MAX_PIXELS", 399)
    with pytest.raises(images.UnreadableImageError, match="more than 399 pixels"):
        images.decode(whole, 64)


def test_a_mirrored_picture_has_mirrored_boxes(module: Module) -> None:
    augmentation = module("augmentation")
    change = augmentation.Change(True, 1.0, (0.0, 0.0), 1.0, 0.0)
    pixels = np.zeros((3, 64, 64), np.uint8)
    pixels[:, 10:20, 4:12] = 255
    moved = augmentation.change_objects(objects(module, [[4, 10, 12, 20]], [0]), change, 64)
    assert moved.boxes.tolist() == [[52, 10, 60, 20]]
    changed = augmentation.change_pixels(pixels, change)
    assert (changed[:, 10:20, 52:60] == 255).all()
    assert changed.sum() == pixels.sum()


@pytest.mark.parametrize("seed", range(8))
def test_a_box_stays_around_its_object(module: Module, seed: int) -> None:
    augmentation = module("augmentation")
    change = augmentation.draw_change(np.random.default_rng(seed), 96, True)
    pixels = np.full((3, 96, 96), 114, np.uint8)
    pixels[:, 40:56, 30:60] = 255
    changed = augmentation.change_pixels(pixels, change)[0].astype(int)
    box = augmentation.change_objects(objects(module, [[30, 40, 60, 56]], [0]), change, 96).boxes[0]
    background = 114 + change.brightness
    rows, columns = np.nonzero(changed > (background + changed.max()) / 2)
    seen = [columns.min(), rows.min(), columns.max() + 1, rows.max() + 1]
    assert np.abs(box - seen).max() <= 1


def test_slivers_are_ignored_and_what_is_outside_is_left_out(module: Module) -> None:
    cut = module("augmentation").cut_to(
        objects(module, [[-90, 0, 10, 10], [-50, 0, 50, 10], [200, 0, 220, 10]], [0, 1, 2]), 100, 50
    )
    assert cut.boxes.tolist() == [[0, 0, 10, 10], [0, 0, 50, 10]]
    assert cut.ignored.tolist() == [True, False]


def test_each_object_has_a_cell_and_regions_have_no_say(module: Module) -> None:
    targets = module("targets")
    cells = targets.cells_of(96)
    assert len(cells) == 12 * 12 + 6 * 6 + 3 * 3
    boxes = [[8, 8, 40, 40], [50, 50, 51, 51], [0, 0, 96, 96], [60, 0, 96, 30]]
    drawn = objects(module, boxes, [0, 1, 2, 0], [False, False, False, True])
    found = targets.targets_of(cells, drawn.boxes, drawn.codes, drawn.ignored)
    assert set(found.codes.tolist()) == {-2, -1, 0, 1, 2}
    for code in range(3):
        own = found.boxes[found.codes == code]
        assert len(own)
        assert (own == boxes[code]).all()
    inside = (cells.centres >= [60, 0]).all(1) & (cells.centres < [96, 30]).all(1)
    assert set(found.codes[inside].tolist()) <= {-2, 2}


@pytest.mark.parametrize("seed", range(5))
def test_no_object_is_without_a_cell(module: Module, seed: int) -> None:
    targets = module("targets")
    random = np.random.default_rng(seed)
    corner = random.uniform(0, 180, (12, 2))
    boxes = np.hstack([corner, corner + random.uniform(1, 80, (12, 2))])
    codes = np.arange(12)
    found = targets.targets_of(targets.cells_of(192), boxes, codes, np.zeros(12, bool))
    assert set(codes.tolist()) <= set(found.codes.tolist())


def test_the_best_of_overlapping_boxes_stays(module: Module) -> None:
    boxes = np.array([[0, 0, 10, 10], [1, 0, 11, 10], [0, 0, 10, 10], [50, 50, 60, 60]], float)
    scores, codes = np.array([0.5, 0.9, 0.8, 0.1]), np.array([0, 0, 1, 0])
    keep = module("boxes").keep_best
    assert keep(boxes, scores, codes, 0.6, 100).tolist() == [1, 2, 3]
    assert keep(boxes, scores, codes, 0.9, 100).tolist() == [1, 2, 0, 3]
    assert keep(boxes, scores, codes, 0.6, 1).tolist() == [1]


def pictures(count: int) -> dict[str, bytes]:
    return {f"{n:03d}.png": encoded(np.full((8, 8, 3), n)) for n in range(count)}


def opened(folder: Path, monkeypatch: pytest.MonkeyPatch, *written: Any) -> Any:
    from atom_sdk import run

    for name, value in write_dataset(folder, *written).items():
        monkeypatch.setenv(name, value)
    return run.dataset("dataset", split="train")


def test_pictures_that_nobody_looked_at_are_left_out(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows: dict[str, list[dict[str, Any]]] = {
        "000.png": [
            object_row(1, ("car", 1.5, 2, 4, 5)),
            object_row(2, ("bike", 0, 0, 8, 8), ignore=True),
            object_row(3, ("dot", 3, 3, 0, 0), kind="point"),
        ],
        "002.png": [],
        "003.png": [object_row(4, ("ant", 0, 0, 2, 2), kind="polygon")],
    }
    part, classes = module("data").annotated(opened(tmp_path, monkeypatch, pictures(5), rows))
    assert classes == ["ant", "car"], "a class that is only ignored is none"
    assert [part.path(place) for place in range(len(part))] == ["000.png", "002.png", "003.png"]
    assert part.objects[0].boxes.tolist() == [[1.5, 2, 5.5, 7], [0, 0, 8, 8]]
    assert part.objects[0].codes.tolist() == [1, -1]
    assert part.objects[0].ignored.tolist() == [False, True]
    assert [len(one) for one in part.objects] == [2, 0, 1]


@pytest.mark.parametrize("rows", [None, {}, {"000.png": []}])
def test_data_without_objects_is_a_plain_sentence(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, rows: Any
) -> None:
    data = module("data")
    samples = opened(tmp_path, monkeypatch, pictures(3), rows)
    with pytest.raises(data.NoObjectsError, match="None of the 3 pictures has objects") as error:
        data.annotated(samples)
    assert error.value.code == "no_objects"
    assert error.value.params["files"] == 3
    assert error.value.params["looked_at"] == len(rows or {})


def test_a_tenth_of_each_class_is_validated_on(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = module("data")
    names = ["car"] * 30 + ["bike"] * 20 + [""] * 10
    rows = {
        f"{n:03d}.png": [object_row(n, (name, 0, 0, 4, 4))] if name else []
        for n, name in enumerate(names)
    }
    part, _ = data.annotated(opened(tmp_path, monkeypatch, pictures(60), rows))
    training, validation = data.carve_validation(part, 7)
    chosen = [len(one) and int(one.codes[0]) + 1 for one in validation.objects]
    assert sorted(chosen) == [0, 1, 1, 2, 2, 2]
    assert not set(training.numbers) & set(validation.numbers)
    assert len(training) + len(validation) == 60
    assert data.carve_validation(part, 7)[1].numbers.tolist() == validation.numbers.tolist()
    assert data.carve_validation(part, 8)[1].numbers.tolist() != validation.numbers.tolist()


def test_objects_of_unknown_classes_are_left_out_and_regions_stay(
    module: Module, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = {
        "000.png": [
            object_row(1, ("car", 0, 0, 4, 4)),
            object_row(2, ("tram", 0, 0, 4, 4)),
            object_row(3, ("crowd", 0, 0, 8, 8), ignore=True),
        ]
    }
    part = module("data").with_classes(
        opened(tmp_path, monkeypatch, pictures(1), rows), ["bike", "car"]
    )
    assert part.objects[0].codes.tolist() == [1, -1]
