"""Objects are drawn, audited and published, through the calls that the portal makes.

The labeler makes two mistakes on purpose: the auditor sends one back and corrects the other.
"""

from __future__ import annotations

import copy
from collections.abc import Callable
from typing import Any, Final

from atom_sdk.client import Client
from demo.labeling import Report, expect_taken, publish
from demo.people import Installation, client_of, labeling_team
from demo.street_pictures import document_of

TASK: Final = "Cars and bikes of a street"
BATCH: Final = 8
# Here a bike is called a car, and comes back with a remark on it.
MISNAMED: Final = "bikes.mp4/t000008640.jpg"
# Here a box is too small, and the auditor draws it again.
TOO_SMALL: Final = "photographs/motorcycle_left.png"
GUIDELINE: Final = (
    "Draw a box around each car and bike that you can tell apart, with colour and type. "
    "Cover what nobody can count with *ignore*. A picture without vehicles is an answer, too."
)


def draw_and_publish(
    researcher: Client, team: Callable[[], tuple[Client, Client]], dataset: str, report: Report
) -> dict[str, Any]:
    """Run the object task of `dataset` to its published version; one that was cut off goes on."""
    task = _task(researcher, dataset)
    if task["state"] == "published":
        return task
    labeler, auditor = team()
    if task["state"] in {"draft", "paused"}:
        task = researcher.labelx.act(task["id"], "start")
    _draw_all(labeler, task, report)
    _audit_all(auditor, labeler, task, report)
    return publish(researcher, task)


def _task(researcher: Client, dataset: str) -> dict[str, Any]:
    """Return the demo's task, made if it is missing: the oldest one, if people made more."""
    own = [
        task
        for task in researcher.labelx.list()
        if (task["name"], f"{task['dataset']}@{task['dataset_ref']}") == (TASK, dataset)
    ]
    if own:
        return researcher.labelx.get(own[-1]["id"])
    return researcher.labelx.create(
        name=TASK,
        dataset=dataset,
        template="car-bike",
        filter={"labelled": None},
        batch_size=BATCH,
        audit_percent=100,
        guideline=GUIDELINE,
    )


def _draw_all(labeler: Client, task: dict[str, Any], report: Report) -> None:
    total = task["progress"]["total"]
    while task["state"] == "active" and (slots := labeler.labelx.lease(task["id"], BATCH)):
        for slot in slots:
            document = _with_mistake(slot["path"], _right(slot, task), task)
            labeler.labelx.submit_document(slot, document, active_ms=5000)
        progress = labeler.labelx.get(task["id"])["progress"]
        report("draw", total - progress["ready"] - progress["labeling"], total)


def _right(slot: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    return document_of(slot["path"], (slot["width"], slot["height"]), task)


def _with_mistake(path: str, document: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    """Return the document as a labeler in a hurry draws it."""
    mistaken = copy.deepcopy(document)
    if path == MISNAMED:
        car = next(label for label in task["labels"] if label["name"] == "car")
        required = [one for one in car["attributes"] if one["required"]]
        values = {str(one["id"]): one["choices"][-1]["id"] for one in required}
        mistaken["objects"][0] |= {"label": car["id"], "attributes": values}
    if path == TOO_SMALL:
        left, top, width, height = mistaken["objects"][0]["box"]
        mistaken["objects"][0]["box"] = [left, top, width / 2, height]
    return mistaken


def _audit_all(auditor: Client, labeler: Client, task: dict[str, Any], report: Report) -> None:
    """Audit until nothing is left; the labeler draws again what comes back."""
    total = task["progress"]["total"]
    while (now := auditor.labelx.get(task["id"]))["state"] == "active":
        report("audit", now["progress"]["accepted"], total)
        if slots := auditor.labelx.audit_lease(task["id"], BATCH):
            expect_taken(auditor.labelx.audit([_decision(slot, task) for slot in slots]))
            continue
        for slot in labeler.labelx.my_work(task["id"]):
            labeler.labelx.submit_document(slot, _right(slot, task), active_ms=3000)
    report("audit", total, total)


def _decision(slot: dict[str, Any], task: dict[str, Any]) -> dict[str, Any]:
    decision = {
        "slot": slot["slot_id"],
        "lease_no": slot["lease_no"],
        "revision": slot["revision_id"],
    }
    right = _right(slot, task)
    drawn = {key: slot["document"].get(key) for key in ("objects", "relations")}
    if drawn == {key: right.get(key) for key in drawn}:
        return {**decision, "verdict": "accept"}
    if slot["path"] == TOO_SMALL:
        return {**decision, "verdict": "accept", "document": right}
    return _returned(slot)


def _returned(slot: dict[str, Any]) -> dict[str, Any]:
    remark = {"object": slot["document"]["objects"][0]["id"], "text": "This one has pedals."}
    return {
        "slot": slot["slot_id"],
        "lease_no": slot["lease_no"],
        "revision": slot["revision_id"],
        "verdict": "return",
        "error_code": "wrong_label",
        "comment": "A bike is no car.",
        "issues": [remark],
    }


def task_in_the_middle(installation: Installation) -> str:
    """Make a task for pictures of the manual, and return its id.

    One image waits for its auditor, one came back, and the others have objects to begin with.
    """
    researcher = client_of(installation, installation.admin, installation.password)
    labeler, auditor = labeling_team(installation)
    published = next(row for row in researcher.labelx.list() if row["name"] == TASK)
    task = researcher.labelx.create(
        name="Cars and bikes, once more",
        dataset=f"{published['dataset']}@{published['output_version']['ref']}",
        template="car-bike",
        filter={"labelled": None},
        batch_size=BATCH,
        audit_percent=100,
        guideline=GUIDELINE,
    )
    researcher.labelx.act(task["id"], "start")
    first, second, *_ = labeler.labelx.lease(task["id"], BATCH)
    for slot in (first, second):
        labeler.labelx.submit_document(slot, _right(slot, task), active_ms=5000)
    slot = auditor.labelx.audit_lease(task["id"], 1)[0]
    expect_taken(auditor.labelx.audit([_returned(slot)]))
    return str(task["id"])
