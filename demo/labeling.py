"""A scripted labeler and an auditor, through the calls that the portal makes."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from atom_sdk.client import Client

TASK = "The unlabelled thousand"
BATCH = 50
# Of a hundred labels three are wrong on purpose; the audit has to find them all.
WRONG_EVERY = 33

Report = Callable[[str, int, int], None]


def label_and_publish(
    researcher: Client, team: tuple[Client, Client], truth: dict[str, str], report: Report
) -> dict[str, Any]:
    """Run the label task to its published version; one that was cut off goes on.

    Returns the task with `corrected`, the number of items that the audit returned.
    """
    labeler, auditor = team
    task = _task(researcher)
    if task["state"] == "published":
        return {**task, "corrected": 0}
    if task["state"] == "draft":
        task = researcher.labelx.act(task["id"], "start")
    ids = {label["name"]: label["id"] for label in task["labels"]}
    _label_all(labeler, task, truth, ids, report)
    corrected = _audit_all(auditor, labeler, task, truth, ids, report)
    return {**_publish(researcher, task), "corrected": corrected}


def _task(researcher: Client) -> dict[str, Any]:
    for task in researcher.labelx.list():
        if task["name"] == TASK:
            return researcher.labelx.get(task["id"])
    return researcher.labelx.create(
        name=TASK,
        dataset="digits@v2",
        labels=[{"id": n, "name": str(n), "hotkey": str(n)} for n in range(10)],
        filter={"labelled": False},
        batch_size=BATCH,
        audit_percent=100,
        guideline="Choose the digit that a person meant to write.",
    )


def _label_all(
    labeler: Client,
    task: dict[str, Any],
    truth: dict[str, str],
    ids: dict[str, int],
    report: Report,
) -> None:
    total = task["progress"]["total"]
    if task["state"] == "completed":
        return
    while slots := labeler.labelx.lease(task["id"], BATCH):
        answers = [_submission(slot, ids[_answer(slot["path"], truth)]) for slot in slots]
        _expect_taken(labeler.labelx.submit(task["id"], answers))
        progress = labeler.labelx.get(task["id"])["progress"]
        report("label", total - progress["ready"] - progress["labeling"], total)


def _answer(path: str, truth: dict[str, str]) -> str:
    """Return the true label, or a wrong one for every 33rd image."""
    digit = int(truth[path])
    wrong = int(path.rsplit("/", 1)[1].split(".")[0]) // 5 % WRONG_EVERY == 0
    return str((digit + 1) % 10 if wrong else digit)


def _submission(slot: dict[str, Any], label_id: int) -> dict[str, Any]:
    return {
        "slot": slot["id"],
        "lease_no": slot["lease_no"],
        "idempotency_key": uuid.uuid4().hex,
        "label_id": label_id,
        "active_ms": 400,
    }


def _audit_all(
    auditor: Client,
    labeler: Client,
    task: dict[str, Any],
    truth: dict[str, str],
    ids: dict[str, int],
    report: Report,
) -> int:
    """Audit until nothing is left; returned items are corrected by the labeler in between."""
    names = {number: name for name, number in ids.items()}
    total, corrected = task["progress"]["total"], 0
    while (found := auditor.labelx.get(task["id"]))["state"] == "active":
        report("audit", found["progress"]["accepted"], total)
        if slots := auditor.labelx.audit_lease(task["id"], BATCH):
            decisions = [_decision(slot, names[slot["label_id"]], truth) for slot in slots]
            _expect_taken(auditor.labelx.audit(decisions))
            continue
        returned = [slot for slot in labeler.labelx.my_work(task["id"]) if slot["returned_comment"]]
        answers = [_submission(slot, ids[truth[slot["path"]]]) for slot in returned]
        _expect_taken(labeler.labelx.submit(task["id"], answers))
        corrected += len(returned)
    report("audit", total, total)
    return corrected


def _decision(slot: dict[str, Any], label: str, truth: dict[str, str]) -> dict[str, Any]:
    right = truth[slot["path"]] == label
    return {
        "slot": slot["slot_id"],
        "lease_no": slot["lease_no"],
        "revision": slot["revision_id"],
        "verdict": "accept" if right else "return",
        "error_code": "" if right else "wrong_label",
        "comment": "" if right else f"This is not a {label}.",
    }


def _expect_taken(results: list[dict[str, Any]]) -> None:
    refused = [result for result in results if not result["ok"]]
    if refused:
        raise RuntimeError(f"LabelX refused {len(refused)} answers, the first with {refused[0]}")


def _publish(researcher: Client, task: dict[str, Any]) -> dict[str, Any]:
    researcher.labelx.act(task["id"], "publish")
    while (found := researcher.labelx.get(task["id"]))["state"] == "publishing":
        time.sleep(0.3)
    if found["state"] != "published":
        raise RuntimeError(f"publishing failed: {found.get('publish_error')}")
    return found
