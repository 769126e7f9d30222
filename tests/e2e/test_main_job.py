"""The main job of `make demo`, on real digits, against a stack of the tests' own."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from atom_sdk.client import Client
from tests.e2e.conftest import run_demo
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(1600),
    pytest.mark.slow,
    pytest.mark.usefixtures("demo_output"),
]


@pytest.fixture
def atom(demo_client: Client) -> Client:
    """The client of the main job's stack."""
    return demo_client


def test_the_main_job_runs_and_running_it_again_changes_nothing(
    stack_of_two: Stack, atom: Client, demo_output: str
) -> None:
    assert "published as digits@v3" in demo_output
    versions = list(atom.datasets.log("digits"))
    assert [v["ref"] for v in versions] == ["v3", "v2", "v1"]
    assert versions[1]["changed"] == 50
    evaluation = atom.models.evaluations("digits", 1)[0]
    assert evaluation["n"] == 1000
    assert evaluation["accuracy"] >= 0.95

    runs = [run["id"] for run in atom.runs.list()]
    again = run_demo(stack_of_two)
    assert "nothing was sent" in again
    # Instead of a bar: labels, training, evaluation; frames, objects, detector, evaluation, export.
    assert (again.count("Nothing to do"), "0%" in again) == (8, False)
    assert [v["ref"] for v in atom.datasets.log("digits")] == ["v3", "v2", "v1"]
    assert [run["id"] for run in atom.runs.list()] == runs


def test_the_demo_goes_on_after_people_have_used_the_portal(
    stack_of_two: Stack, atom: Client, tmp_path: Path
) -> None:
    training, evaluation = (
        named(atom, name) for name in ("digits classifier", "digits evaluation")
    )
    other = atom.models.register("digits", training["id"], "model/atom.json", "registered by hand")
    atom.models.alias("digits", "candidate", other["number"])
    clone = atom.http.post(f"runs/{evaluation['id']}/clone/")
    atom.runs.cancel(atom.http.post(f"runs/{training['id']}/clone/")["id"])
    atom.runs.wait(clone["id"])
    (tmp_path / "one.txt").write_text("one")
    atom.datasets.push(tmp_path, "digits")

    again = run_demo(stack_of_two)
    assert "digits has gone on to v4; nothing was sent." in again
    assert "1000 items labelled, 31 returned by the audit" in again
    assert "model digits version 1 " in again
    assert f"run {training['number']} succeeded" in again
    assert [v["ref"] for v in atom.datasets.log("digits")] == ["v4", "v3", "v2", "v1"]


def test_the_model_knows_the_labels_code_and_run_it_came_from(atom: Client) -> None:
    lineage = atom.models.lineage("digits", 1)
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
    runs = [run for run in atom.runs.list() if run["workflow"] == "image-classification"]
    run = runs[-1]
    [seen] = atom.runs.get(run["id"])["datasets"]
    assert seen["selector"] == {"split": ["train", "val"]}
    log = "".join(atom.runs.log(run["id"]))
    assert "4000" in log.replace(",", "")


def named(atom: Client, name: str) -> dict[str, Any]:
    """Return the only run of that name."""
    [run] = [run for run in atom.runs.list(q=name) if run["name"] == name]
    return run
