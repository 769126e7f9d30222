"""The second act of the main job: objects are drawn, a detector is trained, labels go out."""

from __future__ import annotations

import json
from typing import Any

import pytest
from pycocotools.coco import COCO

from atom_sdk.client import Client
from demo.street import DATASET, EVALUATION, MODEL, TRAINING
from demo.street_labeling import MISNAMED, TASK, TOO_SMALL
from demo.street_pictures import drawn_objects
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1600),
    pytest.mark.slow,
    pytest.mark.usefixtures("demo_output"),
]
PICTURES = 26


@pytest.fixture
def atom(demo_client: Client) -> Client:
    """The client of the main job's stack."""
    return demo_client


@pytest.fixture
def trained(atom: Client) -> dict[str, Any]:
    """The demo's training of the detector."""
    return atom.runs.get(only(atom.runs.list(q=TRAINING))["id"])


def test_the_auditor_has_sent_one_picture_back_and_corrected_another(
    atom: Client, demo_output: str
) -> None:
    assert "26 pictures drawn, 1 returned by the audit, 1 corrected by the" in demo_output
    task = only([task for task in atom.labelx.list() if task["name"] == TASK])
    assert atom.labelx.get(task["id"])["progress"]["published"] == PICTURES
    rows = atom.http.get(f"labelx/tasks/{task['id']}/items/", limit=100)["results"]
    items = {row["path"]: row["id"] for row in rows}
    sent_back = atom.labelx.revisions(items[MISNAMED])
    assert [row["verdict"] for row in sent_back] == ["accept", "return"]
    [issue] = atom.labelx.issues(items[MISNAMED])
    assert issue["text"] == "This one has pedals."
    corrected, labelers, *none = atom.labelx.revisions(items[TOO_SMALL])
    assert not none
    assert (corrected["user"], labelers["user"]) == ("otto", "lena")
    assert corrected["parent"] == labelers["id"]


def test_the_detector_is_registered_with_its_mistakes_and_its_onnx(
    atom: Client, trained: dict[str, Any]
) -> None:
    log = "".join(atom.runs.log(trained["id"]))
    assert "ONNX differs from PyTorch by at most" in log
    assert trained["datasets"][0]["selector"] == {"split": ["train", "val"]}
    assert 0 <= trained["metrics_summary"]["val_map_50"] <= 1

    page = atom.http.get(f"runs/{trained['id']}/predictions/", limit=100)
    assert {"bike", "car", "nothing"} <= set(page["labels"])
    assert page["results"]
    files = atom.http.get(f"runs/{trained['id']}/files/", limit=200)["results"]
    paths = {one["path"] for one in files}
    assert {"validation.json", "curves.json", "mistakes.json", "model/detector.onnx"} <= paths

    version = only(list(atom.models.versions(MODEL)))
    assert version["run"]["id"] == trained["id"]
    assert version["not_evaluable"] is None
    assert version["signature"]["onnx_max_difference"]["score"] < 1e-4
    assert {"bike", "car"} <= set(version["signature"]["labels"])


def test_the_evaluation_is_recorded_at_the_model(atom: Client) -> None:
    record = only(atom.models.evaluations(MODEL, 1))
    assert record["split"] == "test"
    assert record["n"] == sum(map(sum, record["confusion"]["matrix"]))
    assert record["run"] == only(atom.runs.list(q=EVALUATION))["id"]
    assert 0 <= record["metrics"]["map_50"] <= 1


def test_cocos_own_reader_opens_the_exported_labels(stack_of_two: Stack, atom: Client) -> None:
    [version, *_] = atom.datasets.log(DATASET)
    folder = stack_of_two.home / "demo" / f"{DATASET}-{version['ref']}-coco"
    drawn = drawn_objects()
    pictures: dict[str, list[list[float]]] = {}
    for path in sorted((folder / "annotations").glob("*.json")):
        names = {row["id"]: row["file_name"] for row in json.loads(path.read_text())["images"]}
        read = COCO(str(path))
        for number, name in names.items():
            own = read.loadAnns(read.getAnnIds(imgIds=[number]))
            pictures[name] = [
                row["bbox"] for row in own if read.cats[row["category_id"]]["name"] != "plate"
            ]
    assert pictures == {
        name: [one["box"] for one in objects if "box" in one] for name, objects in drawn.items()
    }


def only(rows: Any) -> dict[str, Any]:
    """Return the only row."""
    [row] = rows
    return dict(row)
