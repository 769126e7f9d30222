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
    ImportFailedError,
)
from atom_sdk.importers.limits import ArchiveLimits
from atom_sdk.importers.report import Report
from atom_sdk.importers.text_options import TextOptions
from atom_sdk.importers.zips import zip_tree
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.interface import LabelledPicture
from atom_sdk.label_formats.json_stream import CHUNK_BYTES
from atom_sdk.sentences import Sentence
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


HEAD = '{"format": "atom-labels", "version": 1, "ontology": {"labels": []}}\n'
DEEP = "<a>" * 70 + "</a>" * 70


@pytest.mark.parametrize(
    ("name", "text", "code", "reason"),
    [
        ("c.json", '{"images": [1, 2], "x":\n [ }', "not_json", ("Expecting value", 2, 4)),
        ("c.json", '{"images": [],\n"annotations": []', "not_json", ("json_ends_early", 2, 18)),
        ("c.json", '{"images": [], "annotations": [] []', "not_json", ("json_missing", 1, 34)),
        ("c.json", '{"images": [], "annotations": []}\n7', "not_json", ("json_goes_on", 2, 1)),
        ("c.json", '{"images": [' + "[" * 99_999, "not_json", ("json_too_deep", 1, 13)),
        ("c.json", '{"images": [' + "7" * 5000, "not_json", ("json_number_long", 1, 13)),
        ("c.json", b'{"images": [], "annotations": ["\xff"]}', "not_json", ("text_not_utf8", 1, 1)),
        ("a.xml", "<annotations>\n<image></annotations>", "not_xml", ("mismatched tag", 2, 10)),
        ("a.xml", "<annotations><image>", "not_xml", ("no element found", 1, 21)),
        ("a.xml", f"<annotations>{DEEP}</annotations>", "xml_refused", "xml_too_deep"),
        ("l.jsonl", HEAD + "{\n", "line_not_json", "at_column"),
        ("l.jsonl", HEAD + '{"end": 0}\n{}\n', "lines_follow", None),
        ("l.jsonl", HEAD.replace("1,", "7,"), "lines_version", None),
        ("l.jsonl", HEAD.replace("ontology", "x"), "ontology_missing", None),
        ("l.jsonl", HEAD.replace("[]", "[{}]"), "ontology_wrong", None),
    ],
)  # fmt: skip
def test_an_error_has_a_code_and_says_where_it_is(
    name: str, text: str | bytes, code: str, reason: object, tmp_path: Path
) -> None:
    folder = fill(tmp_path, {**PICTURES, name: text})
    with pytest.raises(AnnotationsUnreadableError) as raised:
        read(folder, name={"c.json": "coco", "a.xml": "cvat"}.get(name, "auto"))
    sentence = str(raised.value)
    assert isinstance(sentence, Sentence)
    said = sentence.as_code()
    assert said["code"] == f"formats.{code}"
    assert said["params"]["path"] == name
    match reason:
        case (problem, line, column):
            place = said["params"]["reason"]["params"]
            assert (place["line"], place["column"]) == (line, column)
            found = place["problem"]
            assert (
                found if isinstance(found, str) else found["code"][len("formats.") :]
            ) == problem
        case str():
            assert said["params"]["reason"]["code"] == f"formats.{reason}"


def test_the_line_of_a_large_file_counts_from_its_beginning(tmp_path: Path) -> None:
    rows = ["{}"] * (CHUNK_BYTES // 2)
    rows[-7] = "{} {}"
    text = '{"images": [\n' + ",\n".join(rows) + "\n]}"
    with pytest.raises(AnnotationsUnreadableError, match=rf"line {len(rows) - 5} column 4\."):
        read(fill(tmp_path, {**PICTURES, "c.json": text}), name="coco")


def test_errors_of_yolo_have_codes(tmp_path: Path) -> None:
    def code(lines: str, config: str) -> tuple[str, str]:
        files = {**PICTURES, "labels/a.txt": lines, "data.yaml": config}
        with pytest.raises(ImportFailedError) as raised:
            read(fill(tmp_path, files), name="yolo")
        sentence = str(raised.value)
        assert isinstance(sentence, Sentence)
        return sentence.code, sentence

    nine = "0 .1 .1 .2 .1 .2 .2 .1 .2\n"
    name, text = code(nine, "names: [a]")
    assert (name, text.partition(", ")[2]) == (
        "formats.yolo_numbers",
        "which may be the corners of a rotated box or a polygon of 4 points "
        "or a box with keypoints (4 numbers).",
    )
    assert code(nine, "names: [a]\ntask: pose")[0] == "formats.yolo_pose_shape"
    assert code(nine, "names: [a]\ntask: guess")[0] == "formats.yolo_task_wrong"
    assert code(nine, "names: [a]\nkpt_shape: [2, 9]")[0] == "formats.yolo_shape_wrong"
    assert code(nine, "nc: 0")[0] == "formats.yolo_no_names"
    name, text = code(nine, "names: [a]\n  b: c: d")
    assert name == "formats.not_yaml"
    assert "\n" not in text
    assert "line 2 column" in text


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
