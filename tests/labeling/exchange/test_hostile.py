"""Hostile sources of labels: each is refused by name or counted, and no version is made."""

from __future__ import annotations

import json
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.datasets.models import Version
from tests.labeling.exchange.transferring import Exchange, box, coco, drawn_on, zipped

pytestmark = pytest.mark.usefixtures("committing_db")


ENTITY = b"<!DOCTYPE a [<!ENTITY b 'c'>]><annotations>&b;</annotations>"


@pytest.fixture
def exchange(project: Project) -> Exchange:
    return Exchange(project)


@pytest.mark.parametrize(
    ("data", "filename", "word", "code"),
    [
        (coco(box(1))[:-40], "a.json", "a.json is not JSON", "not_json"),
        (b"\x89PNG\r\n\x1a\n" + bytes(100), "a.png", "kind", "source_kind"),
        (b" ", "a.json", "a.json", "no_known_format"),
        (zipped({"instances_a.json": coco(box(1))})[:200], "a.zip", "a.zip", "not_zip"),
        (ENTITY, "a.xml", "a.xml is refused", "xml_refused"),
        (zipped({"../../etc/passwd": "x", "notes.txt": "y"}), "a.zip", "", "no_known_format"),
        (coco(box(1), names=("gone/x.png",)), "a.json", "no picture", "no_picture_matched"),
        (b"[", "../../etc/\u202epasswd.json", "labels.json", "not_json"),
        (b"[", "C:\\labels\\street.json", "street.json", "not_json"),
    ],
)  # fmt: skip
def test_a_source_that_cannot_be_read_is_refused(
    exchange: Exchange, data: bytes, filename: str, word: str, code: str
) -> None:
    dataset = exchange.dataset()
    done = exchange.bring(data, filename)
    assert (done["state"], done["error"]["code"]) == ("failed", "labels_unreadable")
    assert word in done["error"]["detail"]
    assert done["error"]["action"]
    # Clients say it in another language by its code and parameters.
    said = {"code": done["error"]["detail_code"], "params": done["error"]["detail_params"]}
    if said["code"] == "labeling.problem_and_step":
        assert said["params"]["step"]["code"].startswith("labeling.")
        said = said["params"]["problem"]
    assert said["code"] == f"formats.{code}"
    assert Version.objects.filter(dataset=dataset).count() == 1


def test_a_bomb_is_refused_before_it_unpacks(exchange: Exchange) -> None:
    exchange.dataset()
    bomb = zipped({"instances_train.json": b"[" + b" " * (300 << 20)})
    done = exchange.bring(bomb, "bomb.zip")
    assert (done["state"], done["error"]["code"]) == ("failed", "labels_unreadable")
    assert "unpacks to more" in done["error"]["detail"]
    problem, step = (done["error"]["detail_params"][name] for name in ("problem", "step"))
    assert problem == {
        "code": "formats.archive_ratio",
        "params": {"name": "bomb.zip", "limit": 200},
    }
    assert step["code"] == "labeling.split_archive"


@pytest.mark.parametrize(
    "wrong",
    [
        {"bbox": [float("nan"), 1, 2, 3]},
        {"bbox": [1, 1, -5, 3]},
        {"bbox": "all of it"},
        {"bbox": [5000, 1, 2, 3]},
        {"category_id": 12},
    ],
)
def test_a_wrong_object_is_counted_and_the_others_are_taken(
    exchange: Exchange, wrong: dict[str, Any]
) -> None:
    dataset = exchange.dataset()
    done = exchange.bring(coco(box(1), box(2, **wrong)), "a.json")
    assert done["state"] == "done"
    [lost] = done["report"]["read"]["lost"]
    assert (lost["count"], bool(lost["text"])) == (1, True)
    assert len(drawn_on(dataset)["train/a.png"].objects) == 1


def test_an_outline_of_a_hundred_thousand_points_is_taken(exchange: Exchange) -> None:
    dataset = exchange.dataset()
    # Along the top to the right and back along a lower line.
    there = [value for n in range(50_000) for value in (n / 100, 10.0)]
    back = [value for n in reversed(range(50_000)) for value in (n / 100, 20.0)]
    done = exchange.bring(coco(box(1, segmentation=[there + back])), "a.json")
    assert done["state"] == "done", done["error"]
    [each] = drawn_on(dataset)["train/a.png"].objects
    assert each.geometry.as_json()["parts"] == [[there + back]]


def test_names_that_leave_their_folder_find_only_known_pictures(exchange: Exchange) -> None:
    dataset = exchange.dataset()
    names = ("../../train/a.png", "/etc/passwd", "C:\\pictures\\train\\b.png")
    exchange.bring(coco(box(1), box(2, 1), box(3, 2), names=names), "a.json")
    assert set(drawn_on(dataset)) == {"train/a.png", "train/b.png"}


@pytest.mark.parametrize(
    ("change", "field"),
    [
        ({"format": "pdf"}, "format"),
        ({"existing": "perhaps"}, "existing"),
        ({"upload": "0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b90"}, "upload"),
        ({"dataset": "nowhere"}, "dataset"),
        ({"filename": ""}, "filename"),
        ({"yolo_task": "guess"}, "yolo_task"),
        ({"voc_origin": 7}, "voc_origin"),
    ],
)
def test_a_wrong_request_names_the_field(
    exchange: Exchange, change: dict[str, Any], field: str
) -> None:
    exchange.dataset()
    body = {"dataset": "street", "upload": exchange.upload(coco()), "filename": "a.json", **change}
    answer = exchange.api("POST", f"projects/{exchange.project.slug}/labelx/imports/", body)
    assert answer.status_code in {400, 422}, answer.content
    assert list(answer.json()["errors"]) == [field]


def test_a_branch_that_is_not_there_is_said(exchange: Exchange) -> None:
    exchange.dataset()
    body = {"dataset": "street", "upload": exchange.upload(coco()), "filename": "a.json"}
    path = f"projects/{exchange.project.slug}/labelx/imports/"
    answer = exchange.api("POST", path, {**body, "branch": "next"})
    assert (answer.status_code, answer.json()["code"]) == (404, "ref_not_found")


def test_layers_with_numbers_that_are_none_are_refused_object_by_object(
    exchange: Exchange,
) -> None:
    dataset = exchange.dataset()
    head = {"format": "atom-labels", "version": 1, "ontology": {"labels": [], "schema": {}}}
    wild = {"id": "a" * 16, "label": "car", "kind": "box", "box": [1, 1, 1e308, 1e308]}
    document = {"width": 640, "height": 480, "objects": [wild]}
    rows = [head, {"path": "train/a.png", "document": document}, {"end": 1}]
    lines = "".join(f"{json.dumps(row)}\n" for row in rows)
    done = exchange.bring(lines.encode(), "labels.jsonl")
    assert done["state"] in {"done", "failed"}
    assert all(not document.objects for document in drawn_on(dataset).values())
