"""Training, registration and evaluation, as the wizard of the portal starts them."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import Any

from atom_sdk.client import Client
from atom_sdk.client.runs import TERMINAL

RUN = "digits classifier"
MODEL = "digits"
# Where the workflow leaves its model, and so what the platform registers by itself.
MODEL_PATH = "model"
EVALUATION = "digits evaluation"

Report = Callable[[str, float, str], None]


def run_workflow(
    client: Client, name: str, workflow: str, parameters: dict[str, Any], report: Report
) -> dict[str, Any]:
    """Start a predefined workflow, or take up the run that is there already, to its end."""
    return follow(client, _run(client, name, workflow, parameters), report)


def train(client: Client, dataset: str, report: Report) -> dict[str, Any]:
    """Train the classifier of digits on `dataset`."""
    parameters = {"dataset": dataset, "register_model": MODEL, "seed": 7}
    return run_workflow(client, RUN, "image-classification", parameters, report)


def evaluate(client: Client, dataset: str, number: int, report: Report) -> dict[str, Any]:
    """Measure the model version on the test split, whose labels training has never seen."""
    parameters = {"model_version": f"{MODEL}@v{number}", "dataset": dataset, "split": "test"}
    run = run_workflow(client, EVALUATION, "evaluate-classifier", parameters, report)
    return evaluation_of(client, MODEL, number, run)


def evaluation_of(client: Client, model: str, number: int, run: dict[str, Any]) -> dict[str, Any]:
    """Return the record that the registry has made of an evaluating run."""

    def recorded() -> list[dict[str, Any]]:
        # People evaluate the same version too, on other data.
        return [row for row in client.models.evaluations(model, number) if row["run"] == run["id"]]

    return _wait_for(recorded)[0]


def registered_version(client: Client, model: str, run: dict[str, Any]) -> dict[str, Any]:
    """Return the model version that the platform registered from the run.

    People may have registered more versions from the same run: those have other paths.
    """

    def versions() -> list[dict[str, Any]]:
        models = [row for row in client.models.list() if row["name"] == model]
        rows = list(client.models.versions(model)) if models else []
        return [
            row
            for row in rows
            if row["run"]["id"] == run["id"] and row["artifact_path"] == MODEL_PATH
        ]

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


def _run(client: Client, name: str, workflow: str, parameters: dict[str, Any]) -> dict[str, Any]:
    """Return the run that an earlier demo started, or start it now.

    The oldest that fits is the demo's own: the portal's "clone" makes others of the same name.
    """
    found = None
    for row in client.runs.list(q=name):
        fits = (row["name"], row["workflow"]) == (name, workflow)
        if fits and row["state"] not in {"failed", "cancelled"}:
            run = client.runs.get(row["id"])
            found = run if parameters.items() <= run["parameters"].items() else found
    return found or client.runs.create(workflow=workflow, name=name, parameters=parameters)


def _wait_for(read: Callable[[], list[dict[str, Any]]]) -> list[dict[str, Any]]:
    deadline = time.monotonic() + 60
    while not (rows := read()):
        if time.monotonic() > deadline:
            raise RuntimeError("the registry has not recorded the run within a minute")
        time.sleep(0.5)
    return rows
