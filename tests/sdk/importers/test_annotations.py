"""Annotation formats: what is read, and what is left out with a reason."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.client.progress import Silent
from atom_sdk.client.push.importing import Import, ImportOptions
from atom_sdk.importers.errors import AnnotationsUnreadableError, ImportProblemsError
from atom_sdk.importers.items import read_whole
from tests.sdk.importers.conftest import (
    PNG,
    Files,
    Look,
    classes_in,
    collected,
    objects_in,
    the_object,
    write,
)


def coco(**more: Any) -> bytes:
    document = {
        "images": [
            {"id": 1, "file_name": "1.png", "width": 10, "height": 8},
            {"id": 2, "file_name": "2.png"},
        ],
        "categories": [{"id": 3, "name": "cat"}, {"id": 4, "name": "dog"}],
        "annotations": [
            {"id": 1, "image_id": 1, "category_id": 3, "bbox": [1, 2, 3.128, 4]},
            {"id": 2, "image_id": 1, "category_id": 4, "segmentation": [[0, 0, 4, 0, 4, 2]]},
        ],
    }
    return json.dumps(document | more).encode()


COCO: Files = {
    "annotations/instances_train2017.json": coco(),
    "annotations/captions_train2017.json": b"{}",
    "train2017/1.png": PNG + b"1",
    "train2017/2.png": PNG + b"2",
}


def test_coco_gives_boxes_polygons_counts_and_splits(tmp_path: Path) -> None:
    found, report = collected(write(tmp_path / "coco", COCO))
    assert (report.importer, report.files, report.objects) == ("coco", 2, 2)
    assert not report.skipped
    assert set(found.splits.values()) == {"train"}
    assert objects_in(found, "train2017/1.png") == [
        {"label": "cat", "kind": "box", "box": [1, 2, 3.128, 4]},
        {"label": "dog", "kind": "polygon", "parts": [[[0, 0, 4, 0, 4, 2]]]},
    ]
    document = json.loads(found.documents["train2017/1.png"])
    assert (document["width"], document["height"]) == (10, 8)
    assert [one["id"] for one in document["objects"]] == [f"{1:016x}", f"{2:016x}"]
    # The size that the file does not say is that of the picture; nothing is on it.
    assert json.loads(found.documents["train2017/2.png"]) == {
        "version": 2,
        "width": 64,
        "height": 48,
    }
    assert not found.attributes
    assert list(report.annotations) == ["annotations/instances_train2017.json"]
    assert report.provenance()["import"]["counts"]["objects"] == 2


def test_coco_reads_the_same_from_a_zip_and_from_its_json(tmp_path: Path) -> None:
    folder = write(tmp_path / "coco", COCO)
    with zipfile.ZipFile(tmp_path / "coco.zip", "w") as archive:
        for path, data in COCO.items():
            archive.writestr(f"coco/{path}", data)
    from_zip, _ = collected(tmp_path / "coco.zip")
    from_json, _ = collected(folder / "annotations" / "instances_train2017.json")
    assert dict(from_json.documents) == dict(collected(folder)[0].documents)
    assert dict(from_zip.documents) == {f"coco/{k}": v for k, v in from_json.documents.items()}


BAD_COCO: dict[str, dict[str, Any]] = {
    "its category is not in the file": {"image_id": 1, "category_id": 9, "bbox": [1, 1, 1, 1]},
    "its image is not in the file": {"image_id": 9, "category_id": 3, "bbox": [1, 1, 1, 1]},
    "a box has no area": {"image_id": 1, "category_id": 3, "bbox": [1, 1, 0, 1]},
    "a box has not four numbers": {"image_id": 1, "category_id": 3, "bbox": [1, 1]},
    "a coordinate is no number": {"image_id": 1, "category_id": 3, "bbox": [1, 1, "x", 1]},
    "it has neither a box nor polygons": {"image_id": 1, "category_id": 3},
}


def test_bad_annotations_are_left_out_one_by_one(tmp_path: Path, look: Look) -> None:
    rows = [{"id": 1, **row} for row in BAD_COCO.values()]
    images = [
        {"id": 1, "file_name": "1.png"},
        {"id": 2, "file_name": "gone.png"},
        {"id": 3, "file_name": "../../nowhere.png"},
    ]
    files = {"a.json": coco(annotations=rows, images=images), "1.png": PNG, "other.png": PNG}
    source = write(tmp_path / "coco", files)
    report = look(source)
    assert set(BAD_COCO) < set(report.skipped)
    assert report.skipped["there is no such picture, and no coco_url"] == 2
    assert report.skipped["no annotation names it"] == 1
    assert (report.files, report.objects) == (1, 0)


@pytest.mark.parametrize(
    "data", [b"{", b"[]", b'{"images": 3}', b'{"images": [[]]}', b'{"images": [{"id": []}]}']
)
def test_annotations_that_are_none_are_an_error(data: bytes, tmp_path: Path, look: Look) -> None:
    source = write(tmp_path / "coco", {"instances_train.json": data, "1.png": PNG})
    with pytest.raises(AnnotationsUnreadableError, match=r"instances_train\.json"):
        look(source)


def test_odd_rows_of_coco_stop_nothing_and_are_named(tmp_path: Path, look: Look) -> None:
    shapes: list[Any] = [[5], ["abcdefgh"], [{"x": 1}]]
    odd: Any = [{"image_id": 1, "category_id": 3, "segmentation": shape} for shape in shapes]
    odd += [{"category_id": 3, "bbox": [1, 1, 2, 2]}]
    odd += [{"image_id": 1, "category_id": 5, "bbox": [1, 1, 2, 2]}]
    odd += [{"image_id": 2, "category_id": 3, "bbox": [1, 1, 2, 2]}]
    images = [
        {"id": 1, "file_name": "1.png", "width": 10**50, "height": True},
        {"file_name": "2.png"},
        {"id": 1, "file_name": "3.png"},
    ]
    categories = [{"id": 3, "name": "cat"}, {"id": 5, "name": "\ud800"}]
    document = coco(images=images, categories=categories, annotations=odd)
    files = {"instances_val.json": document} | {f"{n}.png": PNG for n in (1, 2, 3)}

    found, report = collected(write(tmp_path / "coco", files))

    assert set(found.blobs) == {"1.png", "2.png"}
    document = json.loads(found.documents["2.png"])
    assert (document["width"], document["height"]) == (64, 48)
    assert "1.png" not in found.documents
    assert {reason: count for reason, count in report.skipped.items() if count} == {
        "a polygon is no list of numbers": 3,
        "its image is not in the file": 2,
        "the name of its class is no text of 1 to 255 bytes": 1,
        "another image has the same id; the first counts": 1,
        "no annotation names it": 1,
    }


def test_long_polygons_are_kept_to_the_last_digit(tmp_path: Path) -> None:
    """Attributes had no room for more than 16 KiB."""
    ring = [number / 7 for n in range(1500) for number in (n, 0)]
    ring += [number / 7 for n in reversed(range(1500)) for number in (n, 3)]
    rows = [{"id": 1, "image_id": 1, "category_id": 3, "segmentation": [ring]}]
    images = [{"id": 1, "file_name": "1.png", "width": 300, "height": 100}]
    files = {"a.json": coco(annotations=rows, images=images), "1.png": PNG}
    found, report = collected(write(tmp_path / "coco", files))
    assert the_object(found)["parts"] == [[ring]]
    assert not report.skipped


YOLO: Files = {
    "data.yaml": b"train: images/train\nnc: 2\nnames:\n  0: cat\n  1: dog\n",
    "images/train/1.jpg": PNG + b"1",
    "images/val/2.jpg": PNG + b"2",
    "labels/train/1.txt": b"0 0.5 0.5 0.2 0.4\n1 0 0 1 0 1 1 0 0.5\n",
    "labels/val/2.txt": b"7 0.5 0.5 0.2 0.2\n0 0.5 1.5 0.2 0.2\n0 x 0 0 0\n\n",
}


def test_yolo_gives_shapes_in_pixels_and_names_bad_lines(tmp_path: Path) -> None:
    found, report = collected(write(tmp_path / "yolo", YOLO))
    assert (report.importer, report.objects) == ("yolo", 2)
    assert found.splits == {"images/train/1.jpg": "train", "images/val/2.jpg": "val"}
    box, polygon = objects_in(found, "images/train/1.jpg")
    assert (box["label"], box["box"]) == ("cat", pytest.approx([25.6, 14.4, 12.8, 19.2]))
    assert polygon == {
        "label": "dog",
        "kind": "polygon",
        "parts": [[[0, 0, 64, 0, 64, 48, 0, 24]]],
    }
    # All of its lines are lost, which is not the same as a picture with nothing on it.
    assert list(found.documents) == ["images/train/1.jpg"]
    assert [problem.subject for problem in report.problems] == [
        f"labels/val/2.txt, line {number}" for number in (1, 2, 3)
    ]


def yolo(data_yaml: str, lines: str = "0 .5 .5 .2 .2\n1 .5 .5 .2 .2\n") -> Files:
    return {"data.yaml": data_yaml.encode(), "a.png": PNG, "a.txt": lines.encode()}


def test_names_of_classes_are_text_whatever_yaml_makes_of_them(tmp_path: Path) -> None:
    files = yolo("day: 2020-13-45\nnames: {0: no, 1: 2020-01-01}\n")
    found, _ = collected(write(tmp_path / "yolo", files))
    assert classes_in(found, "a.png") == ["no", "2020-01-01"]


def test_a_class_without_a_name_is_named_in_the_report(tmp_path: Path, look: Look) -> None:
    report = look(write(tmp_path / "yolo", yolo("names:\n  0: cat\n  1:\n")))
    assert (report.objects, report.skipped) == (1, {"its class has no name": 1})


@pytest.mark.parametrize("names", ["[[a]]", "{a: b}", "{0: {b: c}}", "cat", '["\\UFFFFFFFF"]'])
def test_names_that_are_none_are_an_error(names: str, tmp_path: Path, look: Look) -> None:
    with pytest.raises(AnnotationsUnreadableError, match=r"data\.yaml"):
        look(write(tmp_path / "yolo", yolo(f"names: {names}\n")))


def test_names_that_unfold_without_end_are_an_error(tmp_path: Path, look: Look) -> None:
    lines = ["l0: &l0 [x, x, x, x, x, x, x, x, x, x]"]
    lines += [f"l{n}: &l{n} [{', '.join([f'*l{n - 1}'] * 10)}]" for n in range(1, 12)]
    with pytest.raises(AnnotationsUnreadableError, match="no list of class names"):
        look(write(tmp_path / "yolo", yolo("\n".join([*lines, "names: [*l11]\n"]))))


def test_yolo_with_its_names_in_a_text_file(tmp_path: Path) -> None:
    files = {"classes.txt": b"cat\ndog\n", "1.jpg": PNG, "1.txt": b"1 0.5 0.5 0.2 0.4\n"}
    found, _ = collected(write(tmp_path / "yolo", files))
    assert classes_in(found, "1.jpg") == ["dog"]


def voc(body: str = "", name: str = "1.jpg") -> bytes:
    return f"<annotation><filename>{name}</filename>{body}</annotation>".encode()


BOX = (
    "<object><name>cat</name><difficult>1</difficult><bndbox><xmin>1</xmin><ymin>2</ymin>"
    "<xmax>4</xmax><ymax>6</ymax></bndbox></object>"
)
LAUGHS = (
    b'<?xml version="1.0"?><!DOCTYPE a [<!ENTITY a "lol"><!ENTITY b "&a;&a;&a;&a;">]>'
    b"<annotation><filename>&b;</filename></annotation>"
)


def test_voc_gives_boxes_flags_and_splits(tmp_path: Path) -> None:
    files = {
        "VOC/Annotations/1.xml": voc(BOX + "<size><width>9</width><height>8</height></size>"),
        "VOC/Annotations/2.xml": voc("<object><name>dog</name></object>", "2.jpg"),
        "VOC/Annotations/bomb.xml": LAUGHS,
        "VOC/Annotations/gone.xml": voc(name="gone.jpg"),
        "VOC/Annotations/torn.xml": b"<annotation>",
        "VOC/ImageSets/Main/val.txt": b"1 -1\n",
        "VOC/JPEGImages/1.jpg": PNG + b"1",
        "VOC/JPEGImages/2.jpg": PNG + b"2",
    }
    found, report = collected(write(tmp_path / "voc", files))
    assert (report.importer, report.files, report.objects) == ("voc", 2, 1)
    assert found.splits == {"VOC/JPEGImages/1.jpg": "val"}
    # VOC counts from 1 and includes the ends; what is difficult is ignored, as VOC's measure does.
    assert objects_in(found, "VOC/JPEGImages/1.jpg") == [
        {"label": "cat", "kind": "box", "box": [0, 1, 4, 5], "ignore": True}
    ]
    document = json.loads(found.documents["VOC/JPEGImages/1.jpg"])
    assert (document["width"], document["height"]) == (9, 8)
    reasons = {problem.subject.rpartition("/")[2]: problem.reason for problem in report.problems}
    assert "document type" in reasons["bomb.xml"]
    assert "no picture" in reasons["gone.xml"]
    assert "not XML" in reasons["torn.xml"]
    assert "no name or no box" in reasons["2.xml, object 1"]


@pytest.mark.parametrize("encoding", ["utf-7", "shift_jis", "nonsense"])
def test_xml_in_an_encoding_that_is_not_read_is_left_out(
    encoding: str, tmp_path: Path, look: Look
) -> None:
    odd = f'<?xml version="1.0" encoding="{encoding}"?>'.encode() + voc(name="2.jpg")
    files = {"a/1.xml": voc(), "a/2.xml": odd, "1.jpg": PNG, "2.jpg": PNG}
    report = look(write(tmp_path / "voc", files), "voc")
    assert report.files == 1
    assert any(reason.startswith("it is not XML") for reason in report.skipped)


def test_class_folders_give_labels_and_splits(tmp_path: Path, look: Look) -> None:
    files = {"train/cat/1.png": PNG, "train/dog/2.png": PNG, "valid/cat/3.png": PNG}
    source = write(tmp_path / "pets", {**files, "README.md": b"pets"})
    report = look(source)
    assert report.importer == "imagefolder"
    assert (dict(report.labels), dict(report.splits)) == (
        {"cat": 2, "dog": 1},
        {"train": 2, "val": 1},
    )
    assert report.skipped == {"it is not a picture": 1}
    with pytest.raises(ImportProblemsError, match=r"README\.md"):
        Import(source, ImportOptions(is_strict=True), Silent())._check(report)


def parquet(path: Path, rows: list[dict[str, Any]], **features: Any) -> None:
    image = pa.struct([("bytes", pa.binary()), ("path", pa.string())])
    schema = pa.schema([("image", image), ("label", pa.int64()), ("width", pa.int64())])
    metadata = {b"huggingface": json.dumps({"info": {"features": features}}).encode()}
    table = pa.Table.from_pylist(rows, schema.with_metadata(metadata))
    path.parent.mkdir(parents=True, exist_ok=True)
    pq.write_table(table, path, row_group_size=2)


def test_parquet_gives_pictures_class_names_and_splits(tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [
        {"image": {"bytes": PNG + bytes([n]), "path": None}, "label": n % 2, "width": n}
        for n in range(5)
    ]
    rows[3]["image"]["bytes"] = None
    rows[4]["label"] = 9
    label = {"_type": "ClassLabel", "names": ["zero", "one"]}
    parquet(tmp_path / "hf" / "train-00000-of-00002.parquet", rows, label=label)
    parquet(tmp_path / "hf" / "test-00000-of-00001.parquet", rows[:1], label=label)
    found, report = collected(tmp_path / "hf")
    assert found.labels == {
        "test/00000-00000000.png": "zero",
        "train/00000-00000000.png": "zero",
        "train/00000-00000001.png": "one",
        "train/00000-00000002.png": "zero",
    }
    assert found.splits["train/00000-00000004.png"] == "train"
    assert found.attributes["train/00000-00000002.png"] == {"width": 2}
    reasons = {problem.subject: problem.reason for problem in report.problems}
    assert "no bytes" in reasons["train-00000-of-00002.parquet, row 3"]
    assert "no name" in reasons["train/00000-00000004.png"]


def test_rows_of_parquet_are_read_again_where_they_lie(tmp_path: Path) -> None:
    rows = [{"image": {"bytes": PNG + bytes([n]), "path": None}} for n in range(5)]
    path = tmp_path / "data.parquet"
    parquet(path, rows)
    with zipfile.ZipFile(tmp_path / "hf.zip", "w") as archive:
        archive.write(path, "hf/data.parquet")
    for source in (path, tmp_path / "hf.zip"):
        with Import(source, ImportOptions("parquet"), Silent())._collected() as (found, _):
            data = [read_whole(blob) for blob in reversed(found.blobs.values())]
        assert data == [PNG + bytes([n]) for n in (4, 3, 2, 1, 0)]


def test_parquet_that_is_torn_is_an_error(tmp_path: Path, look: Look) -> None:
    path = tmp_path / "data.parquet"
    path.write_bytes(b"PAR1" + bytes(100))
    with pytest.raises(AnnotationsUnreadableError, match=r"data\.parquet"):
        look(path)
