"""Annotations here and pictures there."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from atom_sdk.importers.errors import AnnotationsMissingError
from atom_sdk.importers.items import read_whole
from tests.sdk.importers.conftest import PNG, Files, classes_in, collected, write
from tests.sdk.importers.test_archives import tar_of, zip_of

COCO = json.dumps(
    {
        "images": [{"id": 1, "file_name": "a.png"}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": [{"id": 1, "image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4]}],
    }
).encode()
VOC = (
    b"<annotation><filename>a.png</filename><object><name>cat</name><bndbox><xmin>1</xmin>"
    b"<ymin>2</ymin><xmax>4</xmax><ymax>6</ymax></bndbox></object></annotation>"
)
ANNOTATIONS: dict[str, Files] = {
    "coco": {"instances_train.json": COCO},
    "voc": {"a.xml": VOC},
    "yolo": {"data.yaml": b"names: [cat]\n", "labels/train/a.txt": b"0 .5 .5 .2 .2\n"},
    "csv": {"boxes.csv": b"image,x,y,w,h,label\na.png,1,2,3,4,cat\n"},
    "huggingface": {
        "metadata.jsonl": b'{"file_name": "a.png", "objects": '
        b'{"bbox": [[1, 2, 3, 4]], "category": ["cat"]}}'
    },
}
PICTURES = {"train/a.png": PNG + b"there", "other.json": COCO, "train/notes.csv": b"path\nz\n"}


@pytest.mark.parametrize("kind", ["folder", "zip", "tar"])
@pytest.mark.parametrize("name", ANNOTATIONS)
def test_objects_go_to_pictures_of_another_folder_or_archive(
    name: str, kind: str, tmp_path: Path
) -> None:
    beside = {"train/a.png": PNG + b"here"}
    source = write(tmp_path / "annotations", ANNOTATIONS[name] | beside)
    images = tmp_path / f"pictures.{kind}"
    if kind == "folder":
        write(images, PICTURES)
    else:
        images.write_bytes({"zip": zip_of, "tar": tar_of}[kind](PICTURES))
    found, report = collected(source, images=images)
    (path,) = (path for path in found.blobs if path.endswith("a.png"))
    assert (report.importer, path.removeprefix("images/")) == (name, "train/a.png")
    assert read_whole(found.blobs[path]) == PNG + b"there" if kind == "folder" else True
    assert classes_in(found, path) == ["cat"]
    assert "1 picture beside the annotations is not read" in report.notes
    assert not report.near_misses


@pytest.mark.parametrize("name", ["coco", "csv", "huggingface"])
def test_one_file_of_annotations_is_enough(name: str, tmp_path: Path) -> None:
    ((file, data),) = ANNOTATIONS[name].items()
    source = write(tmp_path / "x", {file: data, "other.csv": b"path\na.png\n"}) / file
    found, report = collected(source, images=write(tmp_path / "y", PICTURES))
    assert report.objects == 1
    assert classes_in(found, "train/a.png") == ["cat"]


def test_no_annotations_are_an_error_that_says_why(tmp_path: Path) -> None:
    source = write(tmp_path / "x", {"l.csv": b"size,label\n3,cat\n"})
    with pytest.raises(AnnotationsMissingError, match=r"l\.csv: .* names no column of files"):
        collected(source, images=write(tmp_path / "y", {"cat/a.png": PNG, "dog/b.png": PNG}))
