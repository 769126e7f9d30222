"""COCO as other tools write it: broken polygons, masks, foreign names, several files."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.importers.effects import effects
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

SIZE = {"width": 64, "height": 48}
CAT = {"image_id": 1, "category_id": 1}
GOOD = [1, 2, 10, 10]
POLYGON = [1.0, 2.0, 11.0, 2.0, 11.0, 12.0]


def coco(*rows: dict[str, Any], name: str = "a.png", **more: Any) -> bytes:
    annotations = [{"id": number, **CAT, **row} for number, row in enumerate(rows, 1)]
    document = {
        "images": [{"id": 1, "file_name": name, **SIZE}],
        "categories": [{"id": 1, "name": "cat"}],
        "annotations": annotations,
    }
    return json.dumps(document | more).encode()


BROKEN = {
    "nothing in it": [[]],
    "one point": [[24.0, 24.0]],
    "two points": [[24.0, 24.0, 30.0, 30.0]],
    "flat": [1, 2, 11, 2, 11, 12, 1, 12],
    "odd": [[1, 2, 11, 2, 11, 12, 1]],
    "text": [["x"] * 6],
}


@pytest.mark.parametrize("shape", BROKEN.values(), ids=BROKEN)
def test_the_box_stays_where_a_polygon_is_useless(shape: Any, tmp_path: Path) -> None:
    files = {"a.json": coco({"bbox": GOOD, "segmentation": shape}), "a.png": PNG}
    found, report = collected(write(tmp_path / "coco", files))
    assert the_object(found) == {"label": "cat", "kind": "box", "box": GOOD}
    assert effects(report) == ["1 polygon left out; its object stays"]


@pytest.mark.parametrize("box", [None, [0, 0, 0, 0], [1, 2], "none"])
def test_a_good_polygon_needs_no_box(box: Any, tmp_path: Path) -> None:
    files = {"a.json": coco({"bbox": box, "segmentation": [POLYGON, []]}), "a.png": PNG}
    found, report = collected(write(tmp_path / "coco", files))
    assert the_object(found) == {"label": "cat", "kind": "polygon", "parts": [[POLYGON]]}
    assert dict(report.shapes) == {"polygon": 1}


def compressed(lengths: list[int]) -> str:
    """`rleToString` of cocoapi's maskApi.c."""
    text = ""
    for number, length in enumerate(lengths):
        value = length - lengths[number - 2] if number > 2 else length
        more = True
        while more:
            bits, value = value & 0x1F, value >> 5
            more = value != (-1 if bits & 0x10 else 0)
            text += chr((bits | 0x20 if more else bits) + 48)
    return text


LENGTHS = [100, 4, 44, 4, 2920]


@pytest.mark.parametrize("counts", [LENGTHS, compressed(LENGTHS)])
@pytest.mark.parametrize("more", [{}, {"bbox": [5, 5, 9, 9]}])
def test_run_lengths_are_masks_and_a_crowd_is_ignored(
    counts: Any, more: dict[str, Any], tmp_path: Path
) -> None:
    row = {"segmentation": {"counts": counts, "size": [48, 64]}, "iscrowd": 1, **more}
    found, report = collected(write(tmp_path / "coco", {"a.json": coco(row), "a.png": PNG}))
    assert the_object(found) == {
        "label": "cat",
        "kind": "mask",
        "rle": {"size": [48, 64], "counts": compressed(LENGTHS)},
        "ignore": True,
    }
    assert not report.shapes


BAD_MASKS: list[dict[str, Any]] = [
    {"counts": [1, 2], "size": [48, 64]},
    {"counts": [3072], "size": [48, 64]},
    {"counts": [-1, 3073], "size": [48, 64]},
    {"counts": "\u00ff", "size": [48, 64]},
    {"counts": "PPPPPPPPPPPPPPPPPPPP", "size": [48, 64]},
    {"counts": [0, 3072], "size": [48, "64"]},
    {"counts": [0, 16], "size": [4, 4]},
]


@pytest.mark.parametrize("mask", BAD_MASKS)
def test_the_box_stays_where_a_mask_is_none(mask: dict[str, Any], tmp_path: Path) -> None:
    rows: list[dict[str, Any]] = [{"segmentation": mask, "bbox": GOOD}, {"segmentation": mask}]
    found, report = collected(write(tmp_path / "coco", {"a.json": coco(*rows), "a.png": PNG}))
    assert the_object(found) == {"label": "cat", "kind": "box", "box": GOOD}
    assert (dict(report.shapes), report.lost_objects) == ({"mask": 1}, 1)


def test_a_polygon_that_crosses_itself_becomes_its_pixels(tmp_path: Path) -> None:
    bow_tie = [[10, 10, 30, 30, 30, 10, 10, 30]]
    files = {"a.json": coco({"segmentation": bow_tie}), "a.png": PNG}
    found, report = collected(write(tmp_path / "coco", files))
    assert the_object(found)["kind"] == "mask"
    assert report.notes == ["Polygons that cross themselves, read as masks: 1"]
    assert not report.skipped


@pytest.mark.parametrize(
    "name",
    [
        "/data/upload/1/a.png",
        "C:\\data\\a.png",
        "..\\..\\data\\a.png",
        "upload%2F1%2Fa.png",
        "http://studio/data/upload/1/a.png",
        "1a2b3c4d-a.png",
    ],
)
def test_pictures_are_found_by_the_end_of_a_foreign_name(name: str, tmp_path: Path) -> None:
    files = {"result.json": coco({"bbox": GOOD}, name=name), "images/a.png": PNG}
    found, report = collected(write(tmp_path / "coco", files))
    assert list(found.blobs) == ["images/a.png"]
    assert report.objects == 1
    (note,) = report.notes
    assert note.startswith("1 picture found ")


def test_a_name_that_may_mean_two_pictures_is_refused(tmp_path: Path, look: Look) -> None:
    document = coco({"bbox": GOOD}, name="/x/a.png")
    report = look(write(tmp_path / "c", {"r.json": document, "1/a.png": PNG, "2/a.png": PNG}))
    assert "several files have the name that the annotation gives" in report.skipped
    assert effects(report)[0] == "1 object lost; the source has no picture for them"


def test_ids_may_be_text_and_a_picture_may_be_listed_twice(tmp_path: Path) -> None:
    images = [{"id": "1", "file_name": "a.png"}, {"id": 2, "file_name": "./a.png"}]
    rows: list[dict[str, Any]] = [{"bbox": GOOD}]
    rows += [{"bbox": [3, 3, 4, 4], "image_id": "2", "category_id": "1"}]
    files = {"a.json": coco(*rows, images=images), "a.png": PNG}
    found, report = collected(write(tmp_path / "coco", files))
    assert classes_in(found, "a.png") == ["cat", "cat"]
    assert report.skipped == {"the file lists the picture twice; its objects are put together": 1}


def test_a_second_file_loses_objects_only_if_it_says_something_else(
    tmp_path: Path, look: Look
) -> None:
    same, other = coco({"bbox": GOOD}), coco({"bbox": [3, 3, 4, 4]}, {"bbox": GOOD})
    report = look(write(tmp_path / "same", {"a.json": same, "b.json": same, "a.png": PNG}))
    assert (report.objects, report.object_tally.whole().lost) == (1, 0)
    report = look(write(tmp_path / "other", {"a.json": same, "b.json": other, "a.png": PNG}))
    assert effects(report) == ["2 objects lost; their pictures stay with their other objects"]


def test_keypoints_are_kept_and_files_of_other_tasks_are_named(tmp_path: Path) -> None:
    person = {"bbox": GOOD, "keypoints": [1, 1, 2, 0, 0, 0]}
    files: Files = {
        "annotations/person_keypoints_val2017.json": coco(person, {"bbox": GOOD}),
        "annotations/captions_val2017.json": coco(),
        "results.json": b'[{"image_id": 1, "category_id": 1, "bbox": [1, 2, 3, 4], "score": 0.5}]',
        "panoptic_val2017.json": b'{"annotations": [{"segments_info": []}], "images": []}',
        "a.png": PNG,
    }
    found, report = collected(write(tmp_path / "coco", files))
    assert (report.importer, report.objects, report.splits) == ("coco", 2, {"val": 1})
    first, second = objects_in(found, "a.png")
    assert first == {
        "label": "cat",
        "kind": "keypoints",
        "points": [1, 1, 2, 0, 0, 0],
        "box": GOOD,
    }
    assert second["kind"] == "box"
    assert effects(report) == []
    reasons = {miss.subject: miss.reason for miss in report.near_misses}
    assert "captions" in reasons["annotations/captions_val2017.json"]
    assert "predictions" in reasons["results.json"]
    assert "panoptic" in reasons["panoptic_val2017.json"]


def test_objects_of_a_class_without_a_name_are_lost_under_its_number(
    tmp_path: Path, look: Look
) -> None:
    files = {"a.json": coco({"bbox": GOOD, "category_id": 7}), "a.png": PNG}
    report = look(write(tmp_path / "coco", files))
    assert report.object_tally.lost == {"category 7": 1}
    assert report.emptied.names == ["a.png"]
