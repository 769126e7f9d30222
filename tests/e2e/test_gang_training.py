"""PyTorch trains on two nodes with gloo; one rank is killed, and all go on from the checkpoint."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from atom_sdk.client import Client
from atom_sdk.client.code.snapshot import send_snapshot, take_snapshot
from tests.e2e.clusters import python_of_demo, registered_cluster
from tests.jobs.live import wait_for
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.timeout(900),
    pytest.mark.slow,
    pytest.mark.usefixtures("demo_output"),
]

CODE = Path(__file__).parent / "gang_training"
STEPS = 60
NAME = "line on two nodes"


def train(stack: Stack, atom: Client, cluster: str) -> dict[str, Any]:
    """Start the training on two nodes of a cluster."""
    return atom.runs.create(
        name=NAME,
        command=[python_of_demo(stack, atom), "-u", "train.py"],
        code_snapshot=send_snapshot(atom.http, "demo", take_snapshot(CODE)),
        cluster=cluster,
        nodes=2,
        launcher="torchrun",
        resources={"cpus": 1, "memory_bytes": 2 << 30},
        # Pods of the stand-in share this machine's network.
        env={"GLOO_SOCKET_IFNAME": "lo"},
    )


def stored_steps(atom: Client, run: str) -> list[int]:
    files = atom.http.get(f"runs/{run}/files/", limit=200)["results"]
    return [one["step"] for one in files if one["kind"] == "checkpoint" and one["download_url"]]


def log_of(atom: Client, run: str, rank: int, attempt: int) -> str:
    address = f"runs/{run}/logs/"
    found = atom.http.get(address, rank=rank, attempt=attempt, limit_bytes=1 << 20)
    return "".join(frame["text"] for frame in found["frames"])


def test_a_training_on_two_nodes_goes_on_when_a_rank_is_killed(
    stack_of_two: Stack, demo_client: Client
) -> None:
    atom = demo_client
    with registered_cluster(stack_of_two, atom, "gangs", ("g-1", "g-2")) as stand_in:
        run = train(stack_of_two, atom, "gangs")["id"]
        wait_for(lambda: stored_steps(atom, run), timeout_s=240)
        pods = stand_in.store.objects("pods.")
        index = "batch.kubernetes.io/job-completion-index"
        (second,) = (pod for pod in pods if pod["metadata"]["annotations"][index] == "1")
        assert len({pod["spec"]["nodeName"] for pod in pods}) == 2
        stand_in.kubelet.kill(second)

        ended = atom.runs.wait(run, timeout_s=300)
        assert ended["state"] == "succeeded", ended
        first, *_, last = atom.http.get(f"runs/{run}/attempts/")["results"]
        assert first["failure_class"]
        assert last["resumed_from_step"] >= 5
        assert [rank["exit_reason"] for rank in last["ranks"]] == ["exited", "exited"]
        weights = []
        for rank in (0, 1):
            said = log_of(atom, run, rank, last["number"])
            assert f"rank {rank} of 2 starts at step {last['resumed_from_step']}" in said
            weights.append(json.loads(said.split(f"rank {rank} ends with ")[1].splitlines()[0]))
        assert weights[0] == weights[1] == pytest.approx([3.0, 1.0], abs=0.2)
        for key in ("loss", "rank-1/loss"):
            (curve,) = atom.http.get(f"runs/{run}/metrics/series/", key=key)["series"]
            assert max(curve["steps"]) == STEPS
        files = atom.http.get(f"runs/{run}/files/", limit=200)["results"]
        assert {"weight.json", "rank-1/weight.json"} <= {one["path"] for one in files}
