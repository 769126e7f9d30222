"""Each format gives back, object by object, all that it says that it holds."""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    PictureGeometry,
    Polygon,
    RotatedBox,
)
from atom_sdk.annotations.naming import NamedDocument, NamedObject
from atom_sdk.annotations.tracks import Geometry
from atom_sdk.label_formats import formats
from atom_sdk.label_formats.ability import Ability
from atom_sdk.label_formats.fitting import Fitter
from atom_sdk.label_formats.interface import LabelledPicture, WriteChoices
from atom_sdk.label_formats.report import LabelReport
from atom_sdk.label_formats.tracing import trace
from atom_sdk.label_formats.values import picture_shape
from atom_sdk.label_formats.yolo_writing import picture_path
from tests.sdk.label_formats.sources import Labels, fill, ontology_of, png, read
from tests.sdk.label_formats.strategies import HEIGHT, LABELS, WIDTH, pictures

TASKS = ("detect", "segment", "obb", "pose")
# A picture with all classes, so that an ontology has them.
ONTOLOGY = NamedDocument(
    8,
    8,
    objects=(
        *(NamedObject("", label, Box(1.0, 1.0, 2.0, 2.0)) for label in LABELS[:3]),
        NamedObject("", LABELS[3], Keypoints(((1.0, 1.0, 2),) * 3)),
    ),
)
# The largest distance, in pixels, of a coordinate from the one that was written.
EXACTNESS = {
    "atom": 0,
    "atom-parquet": 0,
    "coco": 0,
    "cvat": 1e-9,
    "label-studio": 1e-9,
    "voc": 0,
    "yolo": 1e-6,
}


@pytest.mark.parametrize("name", [name for name in formats.NAMES if name != "yolo"])
@given(drawn=pictures())
def test_what_a_format_holds_comes_back(name: str, drawn: list[LabelledPicture]) -> None:
    _check(name, drawn, WriteChoices())


@pytest.mark.parametrize("task", TASKS)
@given(drawn=pictures())
def test_what_a_task_of_yolo_holds_comes_back(task: str, drawn: list[LabelledPicture]) -> None:
    _check("yolo", drawn, WriteChoices(task))


@pytest.mark.parametrize("task", ["detect", "segment", "obb"])
def test_a_sliver_at_the_border_counts_as_outside(task: str) -> None:
    box = Box(0.0, 47.99999999999999, 1.0, 1.0)
    document = NamedDocument(WIDTH, HEIGHT, objects=(NamedObject("0" * 16, "cat", box),))
    drawn = [LabelledPicture("a.png", document)]
    _check("yolo", drawn, WriteChoices(task))
    report = formats.look(drawn, "yolo", ontology_of(drawn, ONTOLOGY), WriteChoices(task))
    assert report.counts["outside_left_out"] == 1


@given(drawn=pictures())
def test_a_look_says_before_what_writing_says_after(drawn: list[LabelledPicture]) -> None:
    for name in formats.NAMES:
        ontology = ontology_of(drawn)
        before = formats.look(drawn, name, ontology)
        with tempfile.TemporaryDirectory() as folder:
            after = formats.write(drawn, name, Path(folder), ontology)

        assert before.as_json() == after.as_json()


@given(drawn=pictures())
def test_each_object_is_written_or_counted(drawn: list[LabelledPicture]) -> None:
    for name in formats.NAMES:
        report = formats.look(drawn, name, ontology_of(drawn))
        alone = [formats.look([each], name, ontology_of(drawn)) for each in _one_by_one(drawn)]

        assert report.before.total() == len(alone)
        assert report.total == sum(each.total for each in alone)
        for picture, each in zip(_one_by_one(drawn), alone, strict=True):
            [one] = picture.document.objects
            # A shape of several parts becomes so many objects; each of them may lie outside.
            parts = _part_count(one.geometry) if each.counts["parts_as_objects"] else 1
            assert each.total + _lost(each) == parts


def _one_by_one(drawn: list[LabelledPicture]) -> list[LabelledPicture]:
    return [
        replace(picture, document=replace(picture.document, objects=(each,), relations=()))
        for picture in drawn
        for each in picture.document.objects
    ]


def _part_count(geometry: Geometry) -> int:
    if isinstance(geometry, Mask):
        return len(trace(rle.decode(geometry.counts, geometry.height, geometry.width)))
    assert isinstance(geometry, Polygon)
    return len(geometry.parts)


def _lost(report: LabelReport) -> int:
    codes = _LOST_OBJECTS | {"outside_left_out"}
    return sum(count for code, count in report.counts.items() if code in codes)


_LOST_OBJECTS = {
    *("boxes_left_out", "rotated_left_out", "polygons_left_out", "polylines_left_out"),
    *("points_left_out", "keypoints_left_out", "masks_left_out", "ignore_left_out"),
}


def _check(name: str, drawn: list[LabelledPicture], choices: WriteChoices) -> None:
    ontology = ontology_of(drawn, ONTOLOGY)
    ability = formats.CODECS[name].ability(ontology, choices)
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        formats.write(drawn, name, folder, ontology, choices)
        places = {
            each.path: picture_path(each.path) if name == "yolo" else each.path for each in drawn
        }
        fill(folder, dict.fromkeys(places.values(), png(WIDTH, HEIGHT)))
        labels = read(folder, name, None)
        assert labels.report.lost() == []
        assert labels.pictures.keys() == set(places.values())
        for picture in drawn:
            fitted = Fitter(ability, LabelReport(name)).fit(picture.document, picture.path)
            _compare(labels, places[picture.path], picture, fitted, ability)


def _compare(
    labels: Labels, path: str, picture: LabelledPicture, fitted: NamedDocument, ability: Ability
) -> None:
    back = labels.pictures[path]
    assert back.split == picture.split
    assert (back.document.width, back.document.height) == (WIDTH, HEIGHT)
    assert set(back.document.labels) == set(fitted.labels)
    assert dict(back.document.attributes) == dict(fitted.attributes)
    assert back.document.relations == fitted.relations
    assert len(back.document.objects) == len(fitted.objects)
    for mine, other in zip(fitted.objects, back.document.objects, strict=True):
        _compare_objects(mine, other, labels.format, ability)


def _compare_objects(mine: NamedObject, other: NamedObject, name: str, ability: Ability) -> None:
    if ability.ids:
        assert other.id == mine.id
    assert (other.label, other.ignore) == (mine.label, mine.ignore)
    assert (other.text, other.track) == (mine.text, mine.track)
    assert dict(other.attributes) == _as_held(mine, name, ability)
    assert type(other.geometry) is type(mine.geometry)
    mine_numbers, others = list(_numbers(picture_shape(mine))), list(_numbers(picture_shape(other)))
    assert others == pytest.approx(mine_numbers, abs=EXACTNESS[name], rel=0)
    assert _rest(picture_shape(other)) == _rest(picture_shape(mine))


def _as_held(each: NamedObject, name: str, ability: Ability) -> dict[str, Any]:
    """VOC's marks are 0 or 1: false is the same as no mark."""
    held = dict(each.attributes)
    if not ability.lists:
        held = {k: ",".join(v) if isinstance(v, tuple) else v for k, v in held.items()}
    if name == "voc" and held.get("occluded") is False:
        del held["occluded"]
    return held


def _numbers(shape: PictureGeometry) -> Iterator[float]:
    """Coordinates in pixels; a rotated box by its centre and a corner."""
    if isinstance(shape, RotatedBox):
        yield from (shape.cx, shape.cy, shape.width, shape.height, *shape.corners)
    elif shape.kind == "polygon":
        yield from (number for part in shape.parts for ring in part for number in ring)  # type: ignore[union-attr]
    elif isinstance(shape, Keypoints):
        yield from (number for point in shape.points for number in point)
        yield from shape.box.bounds if shape.box else ()
    elif shape.kind == "polyline":
        yield from shape.points  # type: ignore[union-attr,misc]
    else:
        yield from shape.bounds


def _rest(shape: PictureGeometry) -> Any:
    """Whatever is not a coordinate: pixels of a mask, numbers of rings, whether there is a box."""
    if shape.kind == "mask":
        return shape
    if shape.kind == "polygon":
        return [[len(ring) for ring in part] for part in shape.parts]  # type: ignore[union-attr]
    return isinstance(shape, Keypoints) and shape.box is None


def test_ids_of_a_source_without_ids_are_the_same_at_every_reading(tmp_path: Path) -> None:
    document = NamedDocument(
        8, 8, objects=(NamedObject("0" * 15 + "1", "a", Box(1.0, 1.0, 2.0, 2.0)),)
    )
    drawn = [LabelledPicture("a.png", document)]
    formats.write(drawn, "cvat", tmp_path, ontology_of(drawn))

    first, second = read(tmp_path), read(tmp_path)

    assert first.objects("a.png") == second.objects("a.png")
