"""Files as other tools write them: each test names the tool and the variant."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from atom_sdk.annotations import rle
from atom_sdk.annotations.geometry import (
    Box,
    Keypoints,
    Mask,
    Point,
    Polygon,
    Polyline,
    RotatedBox,
)
from atom_sdk.importers.errors import YoloTaskUnknownError
from atom_sdk.label_formats.interface import MODEL, ReadChoices
from tests.sdk.label_formats.sources import fill, png, read

PICTURES: dict[str, str | bytes] = {"images/a.png": png(), "images/b.png": png()}


def coco(**lists: Any) -> str:
    whole: dict[str, Any] = {
        "info": {"year": 2017},
        "licenses": [],
        "images": [{"id": 139, "file_name": "a.png", "width": 64, "height": 48}],
        "categories": [{"id": 90, "name": "toothbrush", "supercategory": "indoor"}],
        "annotations": [],
    }
    return json.dumps(whole | lists)


def annotation(**fields: Any) -> dict[str, Any]:
    return {"id": 7, "image_id": 139, "category_id": 90, "iscrowd": 0, **fields}


class TestCoco:
    def test_instances_of_2017_have_category_ids_that_do_not_begin_at_1(
        self, tmp_path: Path
    ) -> None:
        rows = [annotation(bbox=[1.5, 2, 3, 4], segmentation=[[1, 2, 9, 2, 9, 8.25]], area=1)]
        text = coco(annotations=rows)
        labels = read(fill(tmp_path, {**PICTURES, "annotations/instances_train2017.json": text}))

        (mine,) = labels.objects("images/a.png")
        assert (labels.format, mine.label) == ("coco", "toothbrush")
        assert mine.geometry == Polygon((((1, 2, 9, 2, 9, 8.25),),))
        assert mine.id == f"{7:016x}"
        assert labels.pictures["images/a.png"].split == "train"

    def test_crowds_have_run_lengths_and_are_ignore_regions(self, tmp_path: Path) -> None:
        pixels = np.zeros((48, 64), bool)
        pixels[3:9, 5:7] = True
        counts = rle.runs_of_mask(pixels).tolist()
        rows = [
            annotation(id=1, iscrowd=1, segmentation={"size": [48, 64], "counts": counts}),
            annotation(id=2, segmentation={"size": [48, 64], "counts": rle.encode(pixels)}),
        ]
        labels = read(fill(tmp_path, {**PICTURES, "c.json": coco(annotations=rows)}))

        crowd, plain = labels.objects("images/a.png")
        assert crowd.geometry == plain.geometry == Mask(48, 64, rle.encode(pixels))
        assert (crowd.ignore, plain.ignore) == (True, False)

    def test_instances_and_person_keypoints_speak_of_the_same_picture(self, tmp_path: Path) -> None:
        person = {"id": 1, "name": "person", "keypoints": ["nose", "eye"], "skeleton": [[1, 2]]}
        shared = {"bbox": [0, 0, 9, 9], "category_id": 1}
        outline = annotation(**{**shared, "segmentation": [[0, 0, 9, 0, 9, 9]]})
        points = annotation(**{**shared, "keypoints": [1, 2, 2, 5, 5, 0], "num_keypoints": 1})
        files = {
            "annotations/instances_val2017.json": coco(
                categories=[{"id": 1, "name": "person"}], annotations=[outline]
            ),
            "annotations/person_keypoints_val2017.json": coco(
                categories=[person], annotations=[points]
            ),
        }
        labels = read(fill(tmp_path, {**PICTURES, **files}))

        first, second = labels.objects("images/a.png")
        assert {first.geometry.kind, second.geometry.kind} == {"polygon", "keypoints"}
        assert first.id != second.id
        skeleton = labels.ontology.label_named["person"].skeleton
        assert skeleton is not None
        assert (skeleton.points, skeleton.edges) == (("nose", "eye"), ((0, 1),))
        (shape,) = [e.geometry for e in (first, second) if isinstance(e.geometry, Keypoints)]
        assert shape == Keypoints(((1, 2, 2), (0, 0, 0)), Box(0, 0, 9, 9))

    def test_annotations_may_stand_before_their_images(self, tmp_path: Path) -> None:
        whole = json.loads(coco(annotations=[annotation(bbox=[1, 1, 2, 2])]))
        text = json.dumps({name: whole[name] for name in ("annotations", "categories", "images")})
        labels = read(fill(tmp_path, {**PICTURES, "c.json": text}))

        assert [each.geometry for each in labels.objects("images/a.png")] == [Box(1, 1, 2, 2)]

    def test_a_picture_without_annotations_is_empty_and_not_skipped(self, tmp_path: Path) -> None:
        labels = read(fill(tmp_path, {**PICTURES, "c.json": coco()}))

        assert labels.objects("images/a.png") == ()
        assert labels.report.empty == 1

    def test_attributes_as_cvat_exports_them(self, tmp_path: Path) -> None:
        rows = [annotation(bbox=[1, 1, 2, 2], attributes={"occluded": False, "color": "red"})]
        labels = read(fill(tmp_path, {**PICTURES, "c.json": coco(annotations=rows)}))

        (mine,) = labels.objects("images/a.png")
        assert mine.attributes == {"occluded": False, "color": "red"}

    def test_a_polygon_that_crosses_itself_is_read_as_its_pixels(self, tmp_path: Path) -> None:
        rows = [annotation(segmentation=[[0, 0, 20, 20, 20, 0, 0, 20]])]
        labels = read(fill(tmp_path, {**PICTURES, "c.json": coco(annotations=rows)}))

        assert labels.objects("images/a.png")[0].geometry.kind == "mask"
        assert labels.report.counts == {"crossing_polygons": 1}


class TestYolo:
    def yolo(self, folder: Path, lines: str, config: str = "names: [cat, dog]\n") -> Path:
        return fill(folder, {**PICTURES, "data.yaml": config, "labels/a.txt": lines})

    def test_detect_of_ultralytics(self, tmp_path: Path) -> None:
        labels = read(self.yolo(tmp_path, "1 0.5 0.5 0.25 0.5\n"))

        (mine,) = labels.objects("images/a.png")
        assert (labels.format, mine.label) == ("yolo", "dog")
        assert mine.geometry == Box(24, 12, 16, 24)
        assert labels.report.counts == {"not_labelled": 1}

    def test_an_empty_file_is_an_empty_picture(self, tmp_path: Path) -> None:
        folder = self.yolo(tmp_path, "0 0.5 0.5 0.25 0.5\n")
        labels = read(fill(folder, {"labels/b.txt": ""}))

        assert labels.objects("images/b.png") == ()
        assert labels.report.empty == 1

    def test_nine_words_are_what_the_task_says(self, tmp_path: Path) -> None:
        line = "0 0.25 0.25 0.5 0.25 0.5 0.5 0.25 0.5\n"
        kinds = {
            "task: obb": RotatedBox(24, 18, 16, 12, 0),
            "task: segment": Polygon((((16, 12, 32, 12, 32, 24, 16, 24),),)),
            "kpt_shape: [2, 2]": Keypoints(((32, 24, 2), (16, 24, 2)), Box(0, 6, 32, 12)),
        }
        for words, shape in kinds.items():
            folder = self.yolo(tmp_path / words, line, f"names: [cat]\n{words}\n")
            assert read(folder).objects("images/a.png")[0].geometry == shape

    def test_nine_words_without_a_task_are_no_guess(self, tmp_path: Path) -> None:
        folder = self.yolo(tmp_path, "0 0.25 0.25 0.5 0.25 0.5 0.5 0.25 0.5\n")

        with pytest.raises(YoloTaskUnknownError, match="9 numbers"):
            read(folder)
        labels = read(folder, choices=ReadChoices("segment"))
        assert labels.objects("images/a.png")[0].geometry.kind == "polygon"

    def test_corners_of_dota_that_are_no_rectangle_are_counted(self, tmp_path: Path) -> None:
        folder = self.yolo(
            tmp_path, "0 0.25 0.25 0.5 0.26 0.5 0.5 0.25 0.6\n", "names: [a]\ntask: obb\n"
        )
        labels = read(folder)

        assert labels.objects("images/a.png")[0].geometry.kind == "rotated_box"
        assert labels.report.counts["corners_as_rotated"] == 1

    def test_splits_of_roboflow_lie_in_folders(self, tmp_path: Path) -> None:
        files: dict[str, str | bytes] = {
            "train/images/a.png": png(),
            "valid/images/b.png": png(),
            "train/labels/a.txt": "0 0.5 0.5 0.5 0.5\n",
            "valid/labels/b.txt": "0 0.5 0.5 0.5 0.5\n",
            "data.yaml": "train: ../train/images\nval: ../valid/images\nnc: 1\nnames: ['cat']\n",
        }
        labels = read(fill(tmp_path, files))

        splits = {path: picture.split for path, picture in labels.pictures.items()}
        assert splits == {"train/images/a.png": "train", "valid/images/b.png": "val"}


VOC = """<annotation><filename>a.png</filename>
<size><width>64</width><height>48</height><depth>3</depth></size>{objects}</annotation>"""


def voc_object(left: Any, top: Any, right: Any, bottom: Any, more: str = "") -> str:
    return (
        f"<object><name>dog</name>{more}<bndbox><xmin>{left}</xmin><ymin>{top}</ymin>"
        f"<xmax>{right}</xmax><ymax>{bottom}</ymax></bndbox></object>"
    )


class TestVoc:
    def voc(self, folder: Path, objects: str) -> Path:
        text = VOC.format(objects=objects)
        return fill(folder, {**PICTURES, "Annotations/a.xml": text})

    def test_boxes_of_2007_count_from_1_and_include_their_ends(self, tmp_path: Path) -> None:
        labels = read(self.voc(tmp_path, voc_object(1, 1, 64, 48, "<difficult>1</difficult>")))

        (mine,) = labels.objects("images/a.png")
        assert mine.geometry == Box(0, 0, 64, 48)
        assert mine.ignore

    def test_a_file_with_0_counts_from_0(self, tmp_path: Path) -> None:
        objects = voc_object(0, 3, 10, 13) + voc_object(5, 5, 10, 10)
        labels = read(self.voc(tmp_path, objects))

        shapes = [each.geometry for each in labels.objects("images/a.png")]
        assert shapes == [Box(0, 3, 10, 10), Box(5, 5, 5, 5)]
        assert labels.report.counts == {"read_as_zero_based": 1}

    def test_a_person_may_say_that_a_tool_counts_from_0(self, tmp_path: Path) -> None:
        folder = self.voc(tmp_path, voc_object(5.25, 5, 10, 10))
        labels = read(folder, choices=ReadChoices(voc_origin=0))

        assert labels.objects("images/a.png")[0].geometry == Box(5.25, 5, 4.75, 5)

    def test_rotated_boxes_of_rolabelimg_are_in_radians(self, tmp_path: Path) -> None:
        inner = "<cx>20</cx><cy>20</cy><w>10</w><h>4</h><angle>1.5707963267948966</angle>"
        text = f"<object><name>dog</name><robndbox>{inner}</robndbox></object>"
        labels = read(self.voc(tmp_path, text))

        (mine,) = labels.objects("images/a.png")
        assert mine.geometry == RotatedBox(20, 20, 10, 4, 90.0)


CVAT = """<?xml version="1.0" encoding="utf-8"?>
<annotations><version>1.1</version><meta><task><labels>
<label><name>car</name><color>#FF0000</color><type>any</type><attributes>
<attribute><name>make</name><mutable>False</mutable><input_type>select</input_type>
<default_value></default_value><values>vw
bmw</values></attribute>
<attribute><name>plate</name><mutable>False</mutable><input_type>text</input_type>
<default_value></default_value><values></values></attribute>
<attribute><name>parked</name><mutable>True</mutable><input_type>checkbox</input_type>
<default_value>false</default_value><values>false</values></attribute></attributes></label>
<label><name>person</name><type>skeleton</type><attributes></attributes><svg></svg></label>
<label><name>nose</name><type>points</type><attributes></attributes><parent>person</parent></label>
<label><name>eye</name><type>points</type><attributes></attributes><parent>person</parent></label>
</labels></task></meta>
<image id="0" name="a.png" subset="Train" width="64" height="48">{shapes}</image>
<image id="1" name="b.png" width="64" height="48"></image></annotations>"""


class TestCvat:
    def cvat(self, folder: Path, shapes: str) -> Path:
        text = CVAT.replace("{shapes}", shapes)
        return fill(folder, {**PICTURES, "annotations.xml": text})

    def test_boxes_with_rotation_and_typed_attributes(self, tmp_path: Path) -> None:
        shapes = (
            '<box label="car" source="manual" occluded="1" xtl="10.00" ytl="20.00" xbr="30.00" '
            'ybr="30.00" rotation="350.50" z_order="0"><attribute name="make">bmw</attribute>'
            '<attribute name="plate">123</attribute><attribute name="parked">false</attribute>'
            "</box>"
        )
        labels = read(self.cvat(tmp_path, shapes))

        (mine,) = labels.objects("images/a.png")
        assert mine.geometry == RotatedBox(20, 25, 20, 10, 350.5)
        assert mine.attributes == {
            "occluded": True,
            "make": "bmw",
            "plate": "123",
            "parked": False,
        }
        assert labels.pictures["images/a.png"].split == "train"
        assert labels.objects("images/b.png") == ()
        kinds = {a.name: a.kind for a in labels.ontology.label_named["car"].attributes}
        assert kinds["make"] == "choice"
        assert (kinds["plate"], kinds["parked"]) == ("text", "flag")

    def test_keypoints_keep_the_order_of_the_task(self, tmp_path: Path) -> None:
        shapes = (
            '<skeleton label="person" z_order="0">'
            '<points label="eye" outside="0" occluded="1" points="5.00,6.00"></points>'
            '<points label="nose" outside="1" occluded="0" points="1.00,2.00"></points></skeleton>'
        )
        labels = read(self.cvat(tmp_path, shapes))

        assert labels.objects("images/a.png")[0].geometry == Keypoints(((0, 0, 0), (5, 6, 1)))

    def test_shapes_lie_in_z_order(self, tmp_path: Path) -> None:
        shapes = (
            '<polyline label="car" points="1.0,1.0;2.0,2.0" z_order="5"></polyline>'
            '<points label="car" points="1.0,1.0;3.0,4.0" z_order="1"></points>'
            '<polygon label="car" points="1.0,1.0;9.0,1.0;9.0,9.0" z_order="0"></polygon>'
        )
        labels = read(self.cvat(tmp_path, shapes))

        shown = [each.geometry for each in labels.objects("images/a.png")]
        assert shown == [
            Polygon((((1, 1, 9, 1, 9, 9),),)),
            Point(1, 1),
            Point(3, 4),
            Polyline((1, 1, 2, 2)),
        ]
        assert labels.report.counts == {"points_as_objects": 1}

    def test_masks_count_rows_inside_of_their_box(self, tmp_path: Path) -> None:
        shapes = (
            '<mask label="car" rle="1, 2, 1, 1" left="4" top="2" width="3" height="2" '
            'z_order="0"></mask>'
        )
        labels = read(self.cvat(tmp_path, shapes))

        pixels = np.zeros((48, 64), bool)
        pixels[2, 5:7] = pixels[3, 5] = True
        assert labels.objects("images/a.png")[0].geometry == Mask(48, 64, rle.encode(pixels))

    def test_tags_are_classes_of_the_picture(self, tmp_path: Path) -> None:
        labels = read(self.cvat(tmp_path, '<tag label="car" source="manual"></tag>'))

        assert labels.document("images/a.png").labels == ("car",)


def task(results: list[Any], **more: Any) -> dict[str, Any]:
    image = "/data/upload/3/0a1b2c3d-a.png"
    return {"id": 1, "data": {"image": image}, "annotations": [{"result": results}], **more}


def result(kind: str, value: dict[str, Any], **more: Any) -> dict[str, Any]:
    sizes = {"original_width": 64, "original_height": 48, "image_rotation": 0}
    return {
        "id": "x1",
        "from_name": "label",
        "to_name": "image",
        "type": kind,
        "value": value,
        **sizes,
        **more,
    }


class TestLabelStudio:
    def studio(self, folder: Path, *tasks: Any) -> Path:
        return fill(folder, {**PICTURES, "project-1.json": json.dumps(tasks)})

    def test_a_box_turns_around_its_corner(self, tmp_path: Path) -> None:
        value = {"x": 50, "y": 25, "width": 25, "height": 25, "rotation": 90}
        row = result("rectanglelabels", {**value, "rectanglelabels": ["car"]})
        labels = read(self.studio(tmp_path, task([row])))

        (mine,) = labels.objects("images/a.png")
        assert (labels.format, mine.label) == ("label-studio", "car")
        assert isinstance(mine.geometry, RotatedBox)
        five = (mine.geometry.cx, mine.geometry.cy, mine.geometry.width, mine.geometry.height)
        assert five == pytest.approx((26, 20, 16, 12))
        assert mine.geometry.angle == 90

    def test_results_of_one_id_are_one_object(self, tmp_path: Path) -> None:
        box = {"x": 0, "y": 0, "width": 50, "height": 50, "rotation": 0}
        rows = [
            result("rectangle", box, from_name="bbox"),
            result("labels", {**box, "labels": ["Text"]}),
            result("textarea", {**box, "text": ["AB-123"]}, from_name="transcription"),
            result("choices", {**box, "choices": ["new"]}, from_name="state"),
            result("choices", {"choices": ["street"]}, from_name="scene", id="y"),
        ]
        labels = read(self.studio(tmp_path, task(rows)))

        (mine,) = labels.objects("images/a.png")
        assert (mine.label, mine.text, mine.attributes) == ("Text", "AB-123", {"state": "new"})
        assert labels.document("images/a.png").labels == ("street",)

    def test_a_prediction_counts_where_no_person_annotated(self, tmp_path: Path) -> None:
        box = {"x": 0, "y": 0, "width": 50, "height": 50, "rectanglelabels": ["car"]}
        prediction = {"model_version": "yolo-7", "result": [result("rectanglelabels", box)]}
        first = task([], annotations=[], predictions=[prediction])
        second = task([], predictions=[prediction])
        second["data"] = {"image": "images/b.png"}
        labels = read(self.studio(tmp_path, first, second))

        mine = labels.pictures["images/a.png"]
        assert (mine.source, mine.source_model) == (MODEL, "yolo-7")
        assert len(mine.document.objects) == 1
        assert labels.objects("images/b.png") == ()
        assert labels.report.counts == {"predictions_left_out": 1}

    def test_a_task_that_nobody_annotated_is_not_empty_but_left_out(self, tmp_path: Path) -> None:
        labels = read(self.studio(tmp_path, task([], annotations=[], predictions=[])))

        assert labels.pictures == {}
        assert labels.report.counts == {"not_labelled": 1}

    def test_relations_join_regions(self, tmp_path: Path) -> None:
        box = {"x": 0, "y": 0, "width": 50, "height": 50, "rectanglelabels": ["car"]}
        rows = [
            result("rectanglelabels", box, id="a"),
            result("rectanglelabels", box, id="b"),
            {"type": "relation", "from_id": "a", "to_id": "b", "direction": "left"},
            {"type": "relation", "from_id": "a", "to_id": "gone", "direction": "right"},
        ]
        labels = read(self.studio(tmp_path, task(rows)))

        first, second = labels.objects("images/a.png")
        (relation,) = labels.document("images/a.png").relations
        assert (relation.subject, relation.object) == (second.id, first.id)
        assert labels.report.counts == {"relation_wrong": 1}
