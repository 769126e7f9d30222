"""VOC as other tools write it: subfolders, names of other machines, lists, shapes."""

from __future__ import annotations

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
    the_object,
    write,
)

BOX = "<bndbox><xmin>1</xmin><ymin>2</ymin><xmax>30</xmax><ymax>40</ymax></bndbox>"


def xml(filename: str, *objects: str) -> bytes:
    inner = "".join(f"<object><name>cat</name>{one}</object>" for one in objects or (BOX,))
    return f"<annotation><filename>{filename}</filename>{inner}</annotation>".encode()


SUBFOLDERS: Files = {
    "V/JPEGImages/sub/a.png": PNG,
    "V/JPEGImages/c.png": PNG,
    "V/Annotations/sub/a.xml": xml("sub/a.png"),
    "V/Annotations/c.xml": xml("c.png"),
}


@pytest.mark.parametrize(
    "lines",
    [
        b"sub/a\nc\n",
        b"\xef\xbb\xbfsub/a.png\r\nc.png\r\n",
        b"sub/a  1\nc -1\n",
        b'"/home/me/V/JPEGImages/sub/a.png"\nC:\\V\\JPEGImages\\c.png\n',
    ],
)
def test_lists_name_pictures_in_subfolders(lines: bytes, tmp_path: Path) -> None:
    files = {**SUBFOLDERS, "V/ImageSets/Main/val.txt": lines + b"gone\n"}
    found, report = collected(write(tmp_path / "voc", files))
    assert found.splits == {"V/JPEGImages/sub/a.png": "val", "V/JPEGImages/c.png": "val"}
    assert (report.missing.count, report.unlisted.count) == (1, 0)
    assert report.missing.names == ["V/ImageSets/Main/val.txt: gone"]


def test_pictures_in_no_list_are_counted_and_conflicts_are_held_out(tmp_path: Path) -> None:
    files = {f"V/JPEGImages/{name}.png": PNG for name in "abcd"}
    files |= {f"V/Annotations/{name}.xml": xml(f"{name}.png") for name in "abcd"}
    lists = {"train": b"a\nb\n", "val": b"b\n", "trainval": b"a\nb\nc\n"}
    files |= {f"V/ImageSets/Main/{name}.txt": text for name, text in lists.items()}
    found, report = collected(write(tmp_path / "voc", files))
    names = {path[13:14]: split for path, split in found.splits.items()}
    assert names == {"a": "train", "b": "val", "c": "train"}
    assert report.unlisted.names == ["V/JPEGImages/d.png"]
    assert report.skipped == {"lists put it into train and into val; val counts": 1}


def test_lists_of_single_classes_say_the_split(tmp_path: Path) -> None:
    files = {**SUBFOLDERS, "V/ImageSets/Main/cat_val.txt": b"sub/a -1\n"}
    found, report = collected(write(tmp_path / "voc", files))
    assert found.splits == {"V/JPEGImages/sub/a.png": "val"}
    assert report.unlisted.names == ["V/JPEGImages/c.png"]


@pytest.mark.parametrize(
    "name",
    ["/home/me/x/c.png", "C:\\imgs\\c.png", '"c.png"', "c", "c.jpg", "", "other.png", "..\\c.png"],
)
def test_the_name_of_a_picture_may_be_of_another_machine(name: str, tmp_path: Path) -> None:
    files = {"V/JPEGImages/c.png": PNG, "V/Annotations/c.xml": xml(name)}
    found, report = collected(write(tmp_path / "voc", files))
    assert classes_in(found, "V/JPEGImages/c.png") == ["cat"]
    assert not report.skipped


def test_a_name_means_the_picture_of_its_own_folder(tmp_path: Path) -> None:
    files = {"JPEGImages/a.png": PNG, "JPEGImages/sub/a.png": PNG, "JPEGImages/d.png": PNG}
    files |= {"Annotations/a.xml": xml("a.png"), "Annotations/sub/a.xml": xml("a.png", BOX, BOX)}
    files |= {"Annotations/d.xml": xml("a.png", BOX, BOX, BOX)}  # copied, and not renamed
    found, _ = collected(write(tmp_path / "voc", files))
    counts = {path: len(classes_in(found, path)) for path in found.documents}
    assert counts == {"JPEGImages/a.png": 1, "JPEGImages/sub/a.png": 2, "JPEGImages/d.png": 3}


POINTS = "<pt><x>1</x><y>2</y></pt><pt><x>5</x><y>2</y></pt><pt><x>5</x><y>8</y></pt>"
BOXED = {"kind": "box", "box": [0, 1, 30, 39]}
POLYGON = {"kind": "polygon", "parts": [[[1, 2, 5, 2, 5, 8]]]}
TURN = "<attributes><attribute><name>rotation</name><value>30</value></attribute></attributes>"
SHAPES: dict[str, tuple[dict[str, Any], dict[str, int]]] = {
    f"<polygon>{POINTS}</polygon>": (POLYGON, {}),
    "<polygon><x1>1</x1><y1>2</y1><x2>5</x2><y2>2</y2><x3>5</x3><y3>8</y3></polygon>": (
        POLYGON,
        {},
    ),
    f"{BOX}<polygon><pt><x>1</x><y>2</y></pt></polygon>": (BOXED, {"polygon": 1}),
    f"{BOX}<part><name>head</name>{BOX}</part>": (BOXED, {"part": 1}),
    "<robndbox><cx>10</cx><cy>20</cy><w>4</w><h>8</h><angle>0.5</angle></robndbox>": (
        {"kind": "rotated_box", "box": [10, 20, 4, 8], "angle": pytest.approx(28.64788975654116)},
        {},
    ),
    f"{BOX}{TURN}": ({"kind": "rotated_box", "box": [15, 20.5, 30, 39], "angle": 30}, {}),
    BOX.replace("1<", "1.5<"): ({"kind": "box", "box": [0.5, 1, 29.5, 39]}, {}),
    BOX.replace(">1<", ">30<", 1).replace("<xmax>30", "<xmax>1"): (BOXED, {}),
    # A file with a coordinate 0 counts from 0, and its numbers are edges.
    BOX.replace(">1<", ">0<", 1): ({"kind": "box", "box": [0, 2, 30, 38]}, {}),
}


@pytest.mark.parametrize("shape", SHAPES)
def test_shapes_are_kept_and_what_is_left_out_is_named(shape: str, tmp_path: Path) -> None:
    files = {"JPEGImages/c.png": PNG, "Annotations/c.xml": xml("c.png", shape)}
    found, report = collected(write(tmp_path / "voc", files))
    result, left_out = SHAPES[shape]
    assert the_object(found) == {"label": "cat", **result}
    assert dict(report.shapes) == left_out
    assert not report.object_tally.lost


def test_attributes_of_objects_are_kept(tmp_path: Path) -> None:
    more = "<attributes><attribute><name>age</name><value>3</value></attribute></attributes>"
    shape = f"{BOX}<truncated>1</truncated><difficult>1</difficult>{more}"
    files = {"JPEGImages/c.png": PNG, "Annotations/c.xml": xml("c.png", shape)}
    found, report = collected(write(tmp_path / "voc", files))
    assert the_object(found)["attributes"] == {"truncated": True, "age": 3}
    assert the_object(found)["ignore"] is True
    assert not report.skipped


def test_masks_are_counted_and_lost_objects_are_told_by_their_effect(
    tmp_path: Path, look: Look
) -> None:
    files = {
        "JPEGImages/a.png": PNG,
        "JPEGImages/b.png": PNG,
        "SegmentationClass/a.png": PNG,
        "SegmentationObject/a.png": PNG,
        "Annotations/a.xml": xml("a.png", ""),
        "Annotations/b.xml": b"<annotation><object><name>cat</name></object><object>",
        "Annotations/gone.xml": xml("gone.png", BOX, BOX, BOX),
    }
    report = look(write(tmp_path / "voc", files))
    assert effects(report) == [
        "1 object lost; 1 picture stays as a picture without objects: JPEGImages/a.png",
        "3 objects lost; the source has no picture for them",
        "1 picture left out with its 2 objects",
        "2 masks left out; their objects stay",
    ]
    assert (report.objects, report.object_tally.whole().source) == (0, 6)
