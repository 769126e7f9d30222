"""Files that are cut off, wrong or made to harm: nothing breaks, all that is lost is counted."""

from __future__ import annotations

import json
import zipfile
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from atom_sdk.annotations.geometry import Box
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.importers.errors import (
    AnnotationsUnreadableError,
    ArchiveTooLargeError,
    FormatUnknownError,
)
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.report import Report
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.zips import zip_tree
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.interface import LabelledPicture
from tests.sdk.label_formats.sources import fill, ontology_of, png, read
from tests.sdk.label_formats.test_variants import CVAT, PICTURES, annotation, coco, result, task

BOMB = '<!DOCTYPE a [<!ENTITY a "aaaa"><!ENTITY b "&a;&a;">]>'
SECRET = '<!DOCTYPE a [<!ENTITY a SYSTEM "file:///etc/passwd">]>'


def test_files_that_are_cut_off_are_named(tmp_path: Path) -> None:
    whole = {
        "c/instances_a.json": coco(annotations=[annotation(bbox=[1, 1, 2, 2])]),
        "s/tasks.json": json.dumps([task([result("rectanglelabels", {})])]),
        "v/annotations.xml": CVAT,
    }
    for name, text in whole.items():
        folder = fill(tmp_path / name[0], {"a.png": png(), name: text[: len(text) - 20]})
        with pytest.raises(AnnotationsUnreadableError, match=name):
            read(folder)


def test_labels_of_atom_that_are_cut_off_between_two_lines_are_named(tmp_path: Path) -> None:
    head = '{"format": "atom-labels", "version": 1, "ontology": {"labels": []}}\n'
    row = '{"path": "a.png", "document": {"version": 2, "width": 4, "height": 4}}\n'
    folder = fill(tmp_path, {"a.png": png(), "labels.jsonl": head + row})

    with pytest.raises(AnnotationsUnreadableError, match="cut off after 1 "):
        read(folder)
    fill(tmp_path, {"labels.jsonl": head + row + '{"end": 1}\n'})
    assert list(read(folder).pictures) == ["a.png"]


@pytest.mark.parametrize("document_type", [BOMB, SECRET])
def test_entities_are_refused(document_type: str, tmp_path: Path) -> None:
    cvat = CVAT.replace("<annotations>", f"{document_type}<annotations>")
    with pytest.raises(AnnotationsUnreadableError, match="document type"):
        read(fill(tmp_path / "cvat", {**PICTURES, "a.xml": cvat}))

    voc = f"{document_type}<annotation><filename>a.png</filename></annotation>"
    labels = read(fill(tmp_path / "voc", {**PICTURES, "a.xml": voc}))
    assert labels.report.counts == {"record_wrong": 1}


@pytest.mark.parametrize(
    ("fields", "code"),
    [
        ({"bbox": [1, 1, float("nan"), 2]}, "number_wrong"),
        ({"bbox": [1, 1, float("inf"), 2]}, "number_wrong"),
        ({"bbox": [1, 1, 10**400, 2]}, "number_wrong"),
        ({"bbox": [1, 1, True, 2]}, "number_wrong"),
        ({"bbox": [1, 1, 0, 2]}, "shape_wrong"),
        ({"bbox": {"x": 1}}, "shape_wrong"),
        ({"bbox": [1000, 1, 2, 2]}, "outside_left_out"),
        ({"category_id": 4, "bbox": [1, 1, 2, 2]}, "class_unknown"),
        ({"segmentation": [[1, 2, 3]]}, "shape_wrong"),
        ({"segmentation": {"size": [48, 64], "counts": "@@"}}, "shape_wrong"),
        ({"segmentation": {"size": [48, 64], "counts": [5, -2]}}, "shape_wrong"),
        ({"segmentation": {"size": [10**9, 10**9], "counts": [10**18]}}, "shape_wrong"),
        ({"keypoints": [1, 2, 9]}, "shape_wrong"),
        ({"image_id": 5, "bbox": [1, 1, 2, 2]}, "picture_missing"),
    ],
)
def test_an_annotation_that_is_wrong_is_counted(
    fields: dict[str, object], code: str, tmp_path: Path
) -> None:
    rows = [annotation(**fields), annotation(id=8, bbox=[1, 1, 2, 2])]
    labels = read(fill(tmp_path, {**PICTURES, "c.json": coco(annotations=rows)}))

    assert len(labels.objects("images/a.png")) == 1
    assert labels.report.counts == {code: 1}


@pytest.mark.parametrize("row", [3, "text", None, [], {"id": 1}, {"id": [], "image_id": {}}])
def test_records_of_other_types_are_counted(row: object, tmp_path: Path) -> None:
    text = coco(annotations=[row], categories=[row])
    labels = read(fill(tmp_path, {**PICTURES, "instances.json": text}))

    assert labels.objects("images/a.png") == ()
    assert sum(labels.report.counts.values()) == 2


def test_names_of_pictures_cannot_leave_their_folder(tmp_path: Path) -> None:
    names = ["/etc/passwd", "../../a.png", "C:\\a.png", "a\0.png"]
    images = [
        {"id": number, "file_name": name, "width": 4, "height": 4}
        for number, name in enumerate(names)
    ]
    labels = read(fill(tmp_path, {"instances.json": coco(images=images)}))

    assert labels.pictures == {}
    assert labels.report.counts == {"name_refused": len(names)}


def test_a_name_that_two_pictures_have_is_no_guess(tmp_path: Path) -> None:
    files: dict[str, str | bytes] = {"x/a.png": png(), "y/a.png": png(), "c.json": coco()}
    labels = read(fill(tmp_path, files))

    assert labels.pictures == {}
    assert labels.report.counts == {"picture_ambiguous": 1}


def test_a_zip_bomb_is_not_unpacked(tmp_path: Path) -> None:
    path = tmp_path / "labels.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("instances.json", b" " * (200 << 20))

    with pytest.raises(ArchiveTooLargeError):
        zip_tree(path, ArchiveLimits(), Report("labels.zip"), TextOptions())


def test_labels_are_read_out_of_a_zip(tmp_path: Path) -> None:
    path = tmp_path / "labels.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("images/a.png", png())
        archive.writestr("c.json", coco(annotations=[annotation(bbox=[1, 1, 2, 2])]))
    tree = zip_tree(path, ArchiveLimits(), Report("labels.zip"), TextOptions())

    source = formats.LabelSource(tree)
    assert [len(each.document.objects) for each in source.pictures()] == [1]
    tree.close()


def test_a_brush_of_another_size_is_counted(tmp_path: Path) -> None:
    value = {"format": "rle", "rle": [0, 0, 0, 255] * 4, "brushlabels": ["a"]}
    rows = [result("brushlabels", value), result("brushlabels", {**value, "rle": ["x"]}, id="y")]
    labels = read(fill(tmp_path, {**PICTURES, "t.json": json.dumps([task(rows)])}))

    assert labels.objects("images/a.png") == ()
    assert labels.report.counts == {"shape_wrong": 2}


def test_a_folder_without_labels_names_the_formats(tmp_path: Path) -> None:
    with pytest.raises(FormatUnknownError, match="coco"):
        read(fill(tmp_path, PICTURES))


def test_a_damaged_row_of_a_parquet_file_is_known(tmp_path: Path) -> None:
    document = NamedDocument(64, 48, objects=(NamedObject("0" * 16, "a", Box(1, 1, 2, 2)),))
    drawn = [LabelledPicture("images/a.png", document)]
    formats.write(drawn, "atom-parquet", tmp_path, ontology_of(drawn))
    fill(tmp_path, PICTURES)
    assert read(tmp_path).pictures == {"images/a.png": drawn[0]}

    path = tmp_path / "labels.parquet"
    table = pq.read_table(path)
    place = table.schema.get_field_index("labels")
    changed = pa.array([["b"]], table.schema.field(place).type)
    pq.write_table(table.set_column(place, table.schema.field(place), changed), path)
    with pytest.raises(AnnotationsUnreadableError, match="digest"):
        read(tmp_path)
