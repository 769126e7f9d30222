"""YOLO as other tools write it: tasks, lists and folders of splits, rounding."""

from __future__ import annotations

from pathlib import Path

import pytest

from atom_sdk.importers.effects import coverage, effects
from atom_sdk.importers.errors import AnnotationsUnreadableError, YoloTaskUnknownError
from atom_sdk.importers.read_options import ReadOptions
from tests.sdk.importers.conftest import (
    PNG,
    Files,
    Look,
    collected,
    objects_in,
    the_object,
    write,
)

BOX = b"0 0.5 0.5 0.2 0.2\n"
CORNERS = b"0 0.4 0.5 0.5 0.4 0.6 0.5 0.5 0.6\n"
POSE = b"0 0.5 0.5 0.2 0.2 0.45 0.45 0.55 0.45 0.5 0.55\n"


def yolo(labels: bytes, data: str = "names: [hand]", **more: bytes) -> Files:
    files = {"images/train/a.png": PNG, "labels/train/a.txt": labels, "data.yaml": data.encode()}
    return files | more


@pytest.mark.parametrize(
    ("labels", "shape", "points"),
    [
        (POSE, "[3, 2]", [28.8, 21.6, 2, 35.2, 21.6, 2, 32, 26.4, 2]),
        (b"0 0.5 0.5 0.2 0.2 0.45 0.45 2 0.5 0.55 1\n", "[2, 3]", [28.8, 21.6, 2, 32, 26.4, 1]),
        (b"0 0.5 0.5 0.2 0.2 0.45 0.45 0.5 0.55\n", "[2, 2]", [28.8, 21.6, 2, 32, 26.4, 2]),
        (b"0 .5 .5 .2 .2 .45 .45 .5 .55 .9\n", "\n- 2\n- 2", [28.8, 21.6, 2, 32, 26.4, 2]),
    ],
)
def test_pose_keeps_the_keypoints_and_their_box(
    labels: bytes, shape: str, points: list[float], tmp_path: Path
) -> None:
    files = yolo(labels, f"kpt_shape: {shape}\nnames: [hand]\n")
    found, report = collected(write(tmp_path / "yolo", files))
    kept = the_object(found)
    assert kept["points"] == pytest.approx(points)
    assert kept["box"] == pytest.approx([25.6, 19.2, 12.8, 9.6])
    assert effects(report) == []


def test_points_that_nobody_marked_are_no_loss_and_wrong_numbers_are(
    tmp_path: Path, look: Look
) -> None:
    labels = b"0 0.5 0.5 0.2 0.2 0 0 0 0.0\n0 0.5 0.5 0.2 0.2 0.1 0.1 0.1\n"
    report = look(write(tmp_path / "yolo", yolo(labels, "kpt_shape: [2, 2]\nnames: [hand]\n")))
    assert (report.objects, dict(report.shapes)) == (1, {})
    assert report.skipped == {"it has not as many numbers as kpt_shape says": 1}


@pytest.mark.parametrize("labels", [CORNERS, POSE, b"0 0.5 0.5 0.2 0.2 0.4 0.4 2\n"])
def test_lines_of_several_meanings_are_refused_with_the_option(
    labels: bytes, tmp_path: Path, look: Look
) -> None:
    with pytest.raises(YoloTaskUnknownError, match="may be") as refused:
        look(write(tmp_path / "yolo", yolo(labels)))
    assert "--yolo-task" in refused.value.hint


@pytest.mark.parametrize(
    ("task", "result"),
    [
        ("obb", "rotated_box"),
        ("segment", "polygon"),
        ("pose", "keypoints"),
    ],
)
def test_the_task_says_what_nine_numbers_are(task: str, result: str, tmp_path: Path) -> None:
    data = "names: [hand]\nkpt_shape: [2, 2]\n" if task == "pose" else "names: [hand]"
    source = write(tmp_path / "yolo", yolo(CORNERS, data))
    found, report = collected(source, reading=ReadOptions(yolo_task=task))
    assert (the_object(found)["label"], the_object(found)["kind"]) == ("hand", result)
    named = write(tmp_path / "named", yolo(CORNERS, f"task: {task}\n{data}\n"))
    assert dict(collected(named)[0].documents) == dict(found.documents)
    assert not report.shapes
    with pytest.raises(AnnotationsUnreadableError, match="classify"):
        collected(write(tmp_path / "no", yolo(CORNERS, "task: classify\nnames: [a]\n")))


def test_poses_without_the_number_of_points_are_refused(tmp_path: Path, look: Look) -> None:
    with pytest.raises(YoloTaskUnknownError, match="kpt_shape"):
        look(write(tmp_path / "yolo", yolo(POSE, "task: pose\nnames: [hand]\n")))


def test_a_name_may_say_the_task_and_lines_of_several_lengths_are_polygons(
    tmp_path: Path,
) -> None:
    found, report = collected(write(tmp_path / "dota8-obb", yolo(CORNERS)))
    assert the_object(found)["kind"] == "rotated_box"
    for number, more in enumerate((b"0 0.1 0.1 0.5 0.1 0.5 0.5\n", BOX)):
        found, report = collected(write(tmp_path / f"{number}", yolo(CORNERS + more)))
        assert objects_in(found, "images/train/a.png")[0]["kind"] == "polygon"
        assert not report.skipped


CVAT: Files = {
    "obj.names": b"cat\n",
    "obj.data": b"classes = 1\ntrain = data/train.txt\nvalid = data/valid.txt\nnames = x\n",
    "obj_train_data/a.png": PNG,
    "obj_train_data/a.txt": BOX,
    "obj_valid_data/e.png": PNG,
    "obj_valid_data/e.txt": BOX,
    "train.txt": b"data/obj_train_data/a.png\n",
    "valid.txt": b"\xef\xbb\xbfdata/obj_valid_data/e.png\r\ndata/obj_valid_data/gone.png\r\n",
}
FOLDERS: Files = {
    f"images/{folder}/{name}.png": PNG for folder, name in (("main", "a"), ("holdout", "c"))
} | {"labels/main/a.txt": BOX, "labels/holdout/c.txt": b""}
FLAT: Files = {"images/a.png": PNG, "images/c.png": PNG, "labels/a.txt": BOX, "labels/c.txt": BOX}
ROBOFLOW: Files = {
    "train/images/a.png": PNG,
    "train/labels/a.txt": BOX,
    "valid/images/c.png": PNG,
    "valid/labels/c.txt": BOX,
}
SPLITS: dict[str, tuple[Files, dict[str, str]]] = {
    "cvat": (CVAT, {"a": "train", "e": "val"}),
    "cvat without obj.data": (
        {path: data for path, data in CVAT.items() if path != "obj.data"},
        {"a": "train", "e": "val"},
    ),
    "lists": (
        FLAT
        | {"data.yaml": b"train: train.txt\nval: val.txt\nnames: [cat]\n"}
        | {"train.txt": b"./images/a.png\n", "val.txt": b"./images/c.png\n"},
        {"a": "train", "c": "val"},
    ),
    "folders": (
        FOLDERS | {"data.yaml": b"train: images/main\nval: images/holdout\nnames: {0: cat}\n"},
        {"a": "train", "c": "val"},
    ),
    "an absolute path": (
        FOLDERS
        | {"data.yaml": b"path: /data/set\ntrain: [images/main]\nval: images/holdout/\nnc: 1\n"},
        {"a": "train", "c": "val"},
    ),
    "a relative path": (
        {f"set/{path}": data for path, data in FOLDERS.items()}
        | {"data.yaml": b"path: ./set\ntrain: images/main\nval: images/holdout\nnames: [cat]\n"},
        {"a": "train", "c": "val"},
    ),
    "roboflow": (
        ROBOFLOW | {"data.yaml": b"train: ../train/images\nval: ../valid/images\nnames: ['1']\n"},
        {"a": "train", "c": "val"},
    ),
}


@pytest.mark.parametrize(("files", "splits"), SPLITS.values(), ids=SPLITS)
def test_lists_and_folders_say_the_split(
    files: Files, splits: dict[str, str], tmp_path: Path
) -> None:
    found, report = collected(write(tmp_path / "yolo", files))
    assert report.importer == "yolo"
    named = {path.rpartition("/")[2][:-4]: split for path, split in found.splits.items()}
    assert named == splits
    assert report.unlisted.count == 0
    assert report.missing.count == ("cvat" in str(files.keys()) or "valid.txt" in files)


def test_what_no_list_names_and_lists_of_nothing_are_told(tmp_path: Path, look: Look) -> None:
    data = b"train: images/main\nval: images/main\ntest: images/gone\nnames: [cat]\n"
    report = look(write(tmp_path / "yolo", FOLDERS | {"data.yaml": data}))
    assert report.skipped == {"train and val name the same folder, so it says no split": 1}
    assert report.missing.names == ["data.yaml: images/gone"]
    files = FLAT | {"data.yaml": b"val: val.txt\nnames: [cat]\n", "val.txt": b"images/c.png\n"}
    report = look(write(tmp_path / "flat", files))
    assert coverage(report) == [
        "1 file in no list of a split, so without a split: images/a.png",
    ]


def test_rounding_and_a_byte_order_mark_lose_nothing(tmp_path: Path) -> None:
    labels = (
        b"\xef\xbb\xbf0 0.5 0.5 0.2 0.2\n0 0.5 0.5 1.000012 0.2 0.87\n0 0.05 0.5 0.1000002 0.2\n"
    )
    found, report = collected(write(tmp_path / "yolo", yolo(labels)))
    boxes = [one["box"] for one in objects_in(found, "images/train/a.png")]
    assert [pytest.approx(box, abs=1e-3) for box in boxes] == [
        [25.6, 19.2, 12.8, 9.6],
        [0, 19.2, 64, 9.6],
        [0, 19.2, 6.4, 9.6],
    ]
    assert not report.skipped


def test_lost_lines_are_counted_by_class_and_labels_need_a_picture(
    tmp_path: Path, look: Look
) -> None:
    files = yolo(b"0 0.5 1.5 0.2 0.2\n7 0.5 0.5 0.2 0.2\n") | {
        "labels/train/gone.txt": BOX + BOX,
        "images/train/bare.png": PNG,
        "images/train/torn.png": PNG,
        "labels/train/torn.txt": b"0 0.5\xff\n",
    }
    report = look(write(tmp_path / "yolo", files))
    assert report.object_tally.lost == {"hand": 3, "class 7": 1, "": 1}
    assert effects(report)[:2] == [
        "3 objects lost; 2 pictures stay as pictures without objects: "
        "images/train/a.png, images/train/torn.png",
        "2 objects lost; the source has no picture for them",
    ]
    assert report.unlabelled.names == ["images/train/bare.png"]


def test_captions_beside_pictures_are_no_labels(tmp_path: Path, look: Look) -> None:
    files = {"a.png": PNG, "a.txt": b"a cat on a mat", "compose.yaml": b"services: {}\n"}
    assert look(write(tmp_path / "x", files)).importer == "folder"
