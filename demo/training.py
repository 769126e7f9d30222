"""Training, registration and evaluation, as the wizard of the portal starts them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from atom_sdk.client import Client
from atom_sdk.client.runs import TERMINAL

RUN = "digits classifier"
MODEL = "digits"
EVALUATION = "digits evaluation"

Report = Callable[[str, float, str], None]


def train(client: Client, dataset: str, report: Report) -> dict[str, Any]:
    """Start the predefined workflow on `dataset`, or take up the run that is there already."""
    found = _existing(client, RUN)
    if found is None:
        parameters = {"dataset": dataset, "register_model": MODEL, "seed": 7}
        found = client.runs.create(workflow="image-classification", name=RUN, parameters=parameters)
    return follow(client, found, report)


def evaluate(client: Client, dataset: str, number: int, report: Report) -> dict[str, Any]:
    """Measure the model version on the test split, whose labels training has never seen."""
    found = _existing(client, EVALUATION)
    if found is None:
        parameters = {"model_version": f"{MODEL}@v{number}", "dataset": dataset, "split": "test"}
        found = client.runs.create(
            workflow="evaluate-classifier", name=EVALUATION, parameters=parameters
        )
    follow(client, found, report)
    return _wait_for(lambda: client.models.evaluations(MODEL, number))[0]


def registered_version(client: Client, run: dict[str, Any]) -> dict[str, Any]:
    """Return the model version that the run registered."""

    def versions() -> list[dict[str, Any]]:
        models = [model for model in client.models.list() if model["name"] == MODEL]
        rows = list(client.models.versions(MODEL)) if models else []
        return [row for row in rows if _run_of(row) == run["id"]]

    return _wait_for(versions)[0]


def follow(client: Client, run: dict[str, Any], report: Report) -> dict[str, Any]:
    """Return the run once it has succeeded, telling its progress. Raises RuntimeError."""
    while True:
        found = client.runs.get(run["id"])
        report(found["state"], found["progress"], found["progress_text"])
        if found["state"] in TERMINAL:
            break
        time.sleep(0.5)
    if found["state"] != "succeeded":
        tail = "".join(client.runs.log(run["id"]))[-2000:]
        raise RuntimeError(
            f"{found['name']} {found['state']}: {found['failure_class']} "
            f"{found['failure_reason']}\n{tail}"
        )
    return found


def _existing(client: Client, name: str) -> dict[str, Any] | None:
    """Return the newest run of that name that has not failed."""
    for run in client.runs.list(q=name):
        if run["name"] == name and run["state"] not in {"failed", "cancelled"}:
            return run
    return None


def _run_of(version: dict[str, Any]) -> str:
    run = version["run"]
    return str(run["id"] if isinstance(run, dict) else run)


def _wait_for(read: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 60
    while not (rows := read()):
        if time.monotonic() > deadline:
            raise RuntimeError("the registry has not recorded the run within a minute")
        time.sleep(0.5)
    return rows
