"""The content of the portal in its tests: a small project in which everything has happened once."""

from __future__ import annotations

import time
import uuid
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from PIL import Image, ImageDraw

from atom_sdk.client import Client
from atom_sdk.client.push.push import PushOptions
from tests.people import Person, add_people, administrator, client_of
from tests.stack import Stack

DATASET = "shapes"
MODEL = "shapes"
EMPTY_PROJECT = "empty"
WAIT_S = 240.0
_DRAW = {
    "circle": lambda draw, box, ink: draw.ellipse(box, fill=ink),
    "square": lambda draw, box, ink: draw.rectangle(box, fill=ink),
}
# Logs, curves, a model and its evaluation in a second, without torch.
_TRAIN = """
import json, math, sys
from atom_sdk import run
for step in range(1, 61):
    loss = math.exp(-step / 20)
    run.log({"train/loss": loss, "train/accuracy": 1 - loss / 2}, step=step)
    print(f"step {step} loss {loss:.4f}", flush=True)
run.progress(1.0, "epoch 6/6")
print("a warning on stderr", file=sys.stderr)
run.save_model({"weights.bin": bytes(range(256)) * 40}, framework="tests", metrics={"loss": loss})
matrix = [[11, 1], [2, 10]]
evaluation = {"split": "test", "n": 24, "accuracy": 21 / 24, "labels": ["circle", "square"],
              "matrix": matrix}
(run.output_dir() / "evaluation.json").write_text(json.dumps(evaluation))
(run.output_dir() / "notes.txt").write_text("trained on shapes\\n")
"""
_FAIL = "import json\nprint('reading the settings')\njson.loads('{')\n"


@dataclass(frozen=True)
class Seed:
    """Ids and people of the seeded project."""

    admin: Person
    labeler: Person
    trained_run: str
    failed_run: str
    published_task: str
    open_task: str


def seed_project(stack: Stack, folder: Path) -> Seed:
    """Fill the project `demo` through the calls that people make."""
    admin = administrator(stack)
    roles = {"mia": "labeler", "noah": "researcher"}
    labeler, auditor = add_people(stack, roles, {EMPTY_PROJECT: "Empty"})
    with client_of(stack, admin) as client:
        _push_versions(client, folder)
        trained = _start(client, "train shapes", _TRAIN, {"register_model": MODEL})
        failed = _start(client, "broken settings", _FAIL, {})
        with client_of(stack, labeler) as mia, client_of(stack, auditor) as noah:
            published = _published_task(client, mia, noah)
        opened = open_task(client, "Sort the rest", f"{DATASET}@v2")
        _expect(client.runs.wait(trained, WAIT_S), "succeeded")
        _expect(client.runs.wait(failed, WAIT_S), "failed")
        wait_for(lambda: any(m["name"] == MODEL for m in client.models.list()))
        wait_for(lambda: bool(client.models.evaluations(MODEL, 1)))
        client.models.alias(MODEL, "champion", 1)
    return Seed(admin, labeler, trained, failed, published, opened)


def wait_for(is_true: Callable[[], bool]) -> None:
    """Wait until something is so. Raises AssertionError in time."""
    deadline = time.monotonic() + WAIT_S
    while not is_true():
        assert time.monotonic() < deadline, "it did not happen in time"
        time.sleep(0.2)


def start_command(client: Client, name: str, code: str, **body: Any) -> str:
    """Start `python -c code` and return the run's id."""
    return _start(client, name, code, body.pop("parameters", {}), **body)


def open_task(client: Client, name: str, dataset: str) -> str:
    """Make a label task over the unlabelled images, open for work; every label is audited."""
    labels = [
        {"id": 0, "name": "circle", "hotkey": "1", "color": "#1c7ed6"},
        {"id": 1, "name": "square", "hotkey": "2", "color": "#e8590c"},
    ]
    task = client.labelx.create(
        name=name,
        dataset=dataset,
        labels=labels,
        filter={"labelled": False},
        batch_size=8,
        audit_percent=100,
        guideline="Round or with corners?",
    )
    client.labelx.act(task["id"], "start")
    return str(task["id"])


def draw_shapes(folder: Path, count: int) -> None:
    """Write small images: a third each of circles, squares, and both without a label."""
    for number in range(count):
        kind = ("circle", "square")[number % 2]
        target = folder / (kind if number % 3 else "unlabelled") / f"{number:03d}.png"
        target.parent.mkdir(parents=True, exist_ok=True)
        image = Image.new("RGB", (64, 48), (number * 4, 240, 255 - number * 4))
        box = (14, 6, 50, 42)
        _DRAW[kind](ImageDraw.Draw(image), box, (40, 30 + number * 2, 90))
        image.save(target)


def _push_versions(client: Client, folder: Path) -> None:
    draw_shapes(folder, 60)
    split = {"test": 24, "val": 0, "seed": 7, "stratify": True}
    first = PushOptions("first sixty", "folder", ("unlabelled",), split)
    client.datasets.push(folder, DATASET, first)
    (folder / "circle" / "002.png").write_bytes((folder / "circle" / "004.png").read_bytes())
    (folder / "square" / "001.png").unlink()
    (folder / "square" / "005.png").rename(folder / "square" / "renamed.png")
    draw_shapes(folder / "more", 6)
    client.datasets.push(folder, DATASET, PushOptions("a few changes"))


def _published_task(client: Client, mia: Client, noah: Client) -> str:
    task = open_task(client, "Name the shapes", f"{DATASET}@v1")
    while slots := mia.labelx.lease(task, 8):
        mia.labelx.submit(task, [_submission(slot) for slot in slots])
    while client.labelx.get(task)["state"] == "active":
        slots = noah.labelx.audit_lease(task, 20)
        noah.labelx.audit([_acceptance(slot) for slot in slots])
    client.labelx.act(task, "publish")
    wait_for(lambda: client.labelx.get(task)["state"] == "published")
    return task


def _submission(slot: dict[str, Any]) -> dict[str, Any]:
    number = int(Path(slot["path"]).stem)
    return {
        "slot": slot["id"],
        "lease_no": slot["lease_no"],
        "idempotency_key": uuid.uuid4().hex,
        "label_id": number % 2,
        "active_ms": 700,
    }


def _acceptance(slot: dict[str, Any]) -> dict[str, Any]:
    return {
        "slot": slot["slot_id"],
        "lease_no": slot["lease_no"],
        "revision": slot["revision_id"],
        "verdict": "accept",
    }


def _start(client: Client, name: str, code: str, parameters: dict[str, Any], **body: Any) -> str:
    dataset = {"dataset": f"{DATASET}@v1"}
    run = client.runs.create(
        name=name,
        command=["python", "-c", code],
        parameters=parameters,
        **{"datasets": dataset, **body},
    )
    return str(run["id"])


def _expect(run: dict[str, Any], state: str) -> None:
    assert run["state"] == state, run
