"""The main job of `make demo`, on real digits, against a stack of the tests' own."""

from __future__ import annotations

import subprocess
import sys

import pytest

from atom.settings.environment import BASE_DIR
from atom_sdk.client import Client
from tests.stack import Stack

pytestmark = [pytest.mark.timeout(900), pytest.mark.slow]


def run_demo(stack: Stack) -> str:
    done = subprocess.run(
        [sys.executable, "-m", "demo"],
        cwd=BASE_DIR,
        env=stack.environment,
        capture_output=True,
        text=True,
        timeout=840,
        check=False,
    )
    assert done.returncode == 0, done.stdout[-6000:] + done.stderr[-3000:]
    return done.stdout


def test_the_main_job_runs_and_running_it_again_changes_nothing(stack: Stack, atom: Client) -> None:
    first = run_demo(stack)
    assert "published as digits@v3" in first
    versions = list(atom.datasets.log("digits"))
    assert [v["ref"] for v in versions] == ["v3", "v2", "v1"]
    assert versions[1]["changed"] == 50
    evaluation = atom.models.evaluations("digits", "candidate")[0]
    assert evaluation["n"] == 1000
    assert evaluation["accuracy"] >= 0.95

    runs = [run["id"] for run in atom.runs.list()]
    again = run_demo(stack)
    assert "nothing was sent" in again
    assert [v["ref"] for v in atom.datasets.log("digits")] == ["v3", "v2", "v1"]
    assert [run["id"] for run in atom.runs.list()] == runs


def test_the_model_knows_the_labels_code_and_run_it_came_from(atom: Client) -> None:
    lineage = atom.models.lineage("digits", "candidate")
    kinds = {node["kind"] for node in lineage["nodes"]}
    assert kinds >= {
        "label_task",
        "dataset_version",
        "run",
        "runtime",
        "model_version",
        "evaluation",
    }
    ids = {node["id"] for node in lineage["nodes"]}
    assert all(edge["from"] in ids and edge["to"] in ids for edge in lineage["edges"])


def test_training_never_saw_a_label_of_the_test_split(atom: Client) -> None:
    stats = atom.datasets.stats("digits@v3")
    assert stats["splits"]["test"] == 1000
    run = next(run for run in atom.runs.list() if run["workflow"] == "image-classification")
    [seen] = atom.runs.get(run["id"])["datasets"]
    assert seen["selector"] == {"split": ["train", "val"]}
    log = "".join(atom.runs.log(run["id"]))
    assert "4000" in log.replace(",", "")
