"""Two clusters train the demo's digits: one dies, and the run goes on in the other."""

from __future__ import annotations

import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from contextlib import ExitStack
from pathlib import Path
from typing import Any

import pytest

from atom.jobs.workflows.actions.workflows import BUILT_IN
from atom_sdk.client import Client
from tests.e2e.clusters import python_of_demo, registered_cluster
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.live import wait_for
from tests.people import administrator, token_of
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(900),
    pytest.mark.slow,
    pytest.mark.usefixtures("demo_output"),
]

EPOCHS = 6


@pytest.fixture
def clusters(stack_of_two: Stack, demo_client: Client) -> Iterator[dict[str, StandIn]]:
    """Two registered clusters, whose image has the environment of the demo's training."""
    with ExitStack() as running:
        made = {
            name: running.enter_context(
                registered_cluster(stack_of_two, demo_client, name, (f"{name}-1",))
            )
            for name in ("east", "west")
        }
        yield made


def train(stack: Stack, atom: Client, folder: Path, cluster: str) -> dict[str, Any]:
    """Start the demo's training with a copy of its code in a cluster."""
    python = python_of_demo(stack, atom)
    code = folder / "code"
    shutil.copytree(BUILT_IN / "image_classification", code)
    parameters = {
        **{"dataset": "digits@v3", "epochs": EPOCHS, "batch_size": 64, "learning_rate": 0.004},
        **{"image_size": 28, "hidden": "small", "seed": 7},
    }
    options = [f"-p{name}={value}" for name, value in parameters.items()]
    environment = {
        **os.environ,
        "ATOM_URL": stack.base_url,
        "ATOM_TOKEN": token_of(stack, administrator(stack), scope="admin"),
        "ATOM_PROJECT": "demo",
        "ATOM_CONFIG": str(folder / "config.json"),
    }
    subprocess.run(
        [
            *(Path(sys.executable).parent / "atom", "run", "--name", "digits in a cluster"),
            *("--cluster", cluster, "--image", "registry.example/team/torch:1"),
            *("--data", "dataset=digits@v3", *options),
            *("--", python, "-u", "train.py"),
        ],
        cwd=code,
        env=environment,
        check=True,
    )
    return next(run for run in atom.runs.list() if run["name"] == "digits in a cluster")


def checkpoints(atom: Client, run: str) -> list[int]:
    """Return the steps of the stored checkpoints."""
    files = atom.http.get(f"runs/{run}/files/", limit=200)["results"]
    return [one["step"] for one in files if one["kind"] == "checkpoint" and one["download_url"]]


def test_a_training_goes_on_in_another_cluster_when_its_own_dies(
    stack_of_two: Stack, demo_client: Client, clusters: dict[str, StandIn], tmp_path: Path
) -> None:
    atom, west = demo_client, clusters["west"]
    run = train(stack_of_two, atom, tmp_path, "east")
    wait_for(lambda: len(checkpoints(atom, run["id"])) >= 2, timeout_s=240)
    # Its API and its processes end together; the test's end stops only those that are left.
    clusters.pop("east").stop()

    atom.runs.move(run["id"], "west")
    ended = atom.runs.wait(run["id"], timeout_s=300)
    assert ended["state"] == "succeeded", ended
    assert ended["cluster"] == "west"
    attempts = atom.http.get(f"runs/{run['id']}/attempts/")["results"]
    assert [(one["cluster"], one["failure_class"]) for one in attempts] == [
        ("east", "MOVED"),
        ("west", None),
    ]
    assert attempts[1]["resumed_from_step"] >= 2
    log = "".join(atom.runs.log(run["id"]))
    assert "Going on after epoch" in log
    address = f"runs/{run['id']}/metrics/series/"
    (curve,) = atom.http.get(address, key="train_loss")["series"]
    assert len(set(curve["steps"])) == EPOCHS, curve
    wait_for(lambda: not west.store.objects("pods."))
    wait_for(lambda: not west.store.objects("jobs.batch"))
