"""A scripted labeler and an auditor, through the calls that the portal makes."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from typing import Any

from atom_sdk.client import Client

TASK = "The unlabelled thousand"
BATCH = 50
# Three labels in a hundred are wrong on purpose; the audit has to find them all.
WRONG_EVERY = 33

Report = Callable[[str, int, int], None]


def label_and_publish(
    researcher: Client,
    team: Callable[[], tuple[Client, Client]],
    dataset: str,
    truth: dict[str, str],
    report: Report,
) -> dict[str, Any]:
    """Run the label task of `dataset` to its published version; one that was cut off goes on.

    Returns the task with `corrected`, the number of items that the audit returned.
    """
    task = _task(researcher, dataset)
    if task["state"] != "published":
        task = _work_through(researcher, team(), task, truth, report)
    people = researcher.labelx.stats(task["id"])
    return {**task, "corrected": sum(person["returned"] for person in people)}


def _task(researcher: Client, dataset: str) -> dict[str, Any]:
    """Return the demo's task, made if it is missing: the oldest one, if people made more."""
    named = [task for task in researcher.labelx.list() if task["name"] == TASK]
    own = [task for task in named if f"{task['dataset']}@{task['dataset_ref']}" == dataset]
    if own:
        return researcher.labelx.get(own[-1]["id"])
    return researcher.labelx.create(
        name=TASK,
        dataset=dataset,
        labels=[{"id": n, "name": str(n), "hotkey": str(n)} for n in range(10)],
        filter={"labelled": False},
        batch_size=BATCH,
        audit_percent=100,
        guideline="Choose the digit that a person meant to write.",
    )


def _work_through(
    researcher: Client,
    team: tuple[Client, Client],
    task: dict[str, Any],
    truth: dict[str, str],
    report: Report,
) -> dict[str, Any]:
    labeler, auditor = team
    if task["state"] in {"draft", "paused"}:
        task = researcher.labelx.act(task["id"], "start")
    ids = {label["name"]: label["id"] for label in task["labels"]}
    _label_all(labeler, task, truth, ids, report)
    _audit_all(auditor, labeler, task, truth, ids, report)
    return publish(researcher, task)


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
        expect_taken(labeler.labelx.submit(task["id"], answers))
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
) -> None:
    """Audit until nothing is left; returned items are corrected by the labeler in between."""
    names = {number: name for name, number in ids.items()}
    total = task["progress"]["total"]
    while (found := auditor.labelx.get(task["id"]))["state"] == "active":
        report("audit", found["progress"]["accepted"], total)
        if slots := auditor.labelx.audit_lease(task["id"], BATCH):
            decisions = [_decision(slot, names[slot["label_id"]], truth) for slot in slots]
            expect_taken(auditor.labelx.audit(decisions))
            continue
        returned = [slot for slot in labeler.labelx.my_work(task["id"]) if slot["returned_comment"]]
        answers = [_submission(slot, ids[truth[slot["path"]]]) for slot in returned]
        expect_taken(labeler.labelx.submit(task["id"], answers))
    report("audit", total, total)


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


def expect_taken(results: list[dict[str, Any]]) -> None:
    """Raise RuntimeError if an answer or a verdict was refused."""
    refused = [result for result in results if not result["ok"]]
    if refused:
        raise RuntimeError(f"LabelX refused {len(refused)} answers, the first with {refused[0]}")


def publish(researcher: Client, task: dict[str, Any]) -> dict[str, Any]:
    """Return the task once it is published. Raises RuntimeError."""
    researcher.labelx.act(task["id"], "publish")
    while (found := researcher.labelx.get(task["id"]))["state"] == "publishing":
        time.sleep(0.3)
    if found["state"] != "published":
        raise RuntimeError(f"publishing failed: {found.get('publish_error')}")
    return found
