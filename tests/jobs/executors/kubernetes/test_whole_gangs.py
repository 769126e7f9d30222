"""Runs on two nodes from their request to their end, with real runners in two pods."""

from __future__ import annotations

import json
import sys
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.logs.actions import logs
from atom.jobs.models import Run
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

pytestmark = pytest.mark.django_db(transaction=True)

Json = dict[str, Any]

# Each rank writes its lines, a curve and a file; the ranks meet at rank 0's address.
MEET = """
import json, os, socket, sys, time
rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
table = json.load(open(os.environ["ATOM_RANKS"]))
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
assert [one["rank"] for one in table] == [0, 1] and table[0]["host"] == place[0]
assert open(os.environ["ATOM_HOSTFILE"]).read().count("slots=1") == 2
if rank == 0:
    with socket.create_server(place) as server:
        peer, _ = server.accept()
        heard = peer.recv(5).decode()
        peer.close()
else:
    for _ in range(200):
        try:
            peer = socket.create_connection(place)
            break
        except OSError:
            time.sleep(0.1)
    peer.sendall(b"hello")
    peer.close()
    heard = "itself"
print(f"rank {rank} of {world} heard {heard}", flush=True)
with open(os.environ["ATOM_METRICS_FILE"], "a") as file:
    file.write(json.dumps({"step": 1, "ts_ms": 1000, "values": {"loss": 0.5 + rank}}) + "\\n")
with open(os.environ["ATOM_OUTPUT_DIR"] + "/shard.txt", "w") as file:
    file.write(f"shard {rank}")
"""
# Rank 1 fails once rank 0 runs too: until then, it could still be waiting for its turn to start.
FAIL_ON_ONE = """
import os, socket, time
place = (os.environ["MASTER_ADDR"], int(os.environ["MASTER_PORT"]))
if os.environ["RANK"] == "0":
    with socket.create_server(place) as server:
        server.accept()
        time.sleep(60)
for _ in range(300):
    try:
        socket.create_connection(place)
        break
    except OSError:
        time.sleep(0.1)
raise ValueError("only here")
"""


@pytest.fixture
def world(running_world: World) -> World:
    running_world.stand_in.nodes.add("n2")
    return running_world


def queued(project: Project, world: World, source: str, **fields: Any) -> Run:
    command = [sys.executable, "-c", source]
    asked = {"cluster": world.cluster, "state": states.QUEUED, "command": command, **fields}
    return make_run(project, nodes=2, **asked)


def text_of(run: Run, rank: int) -> str:
    found = logs.read(run.attempts.get(), 0, 1 << 20, rank)
    return b"".join(frame.payload for frame in found.frames).decode()


def test_two_ranks_meet_and_each_has_its_log_curves_and_files(
    project: Project, world: World
) -> None:
    run = queued(project, world, MEET)
    world.submit(run)
    world.until(run, states.SUCCEEDED)
    assert "rank 0 of 2 heard hello" in text_of(run, 0)
    assert "rank 1 of 2 heard itself" in text_of(run, 1)
    attempt = run.attempts.get()
    assert attempt.log_complete
    assert set(attempt.ranks.values_list("exit_code", "exit_reason")) == {(0, "exited")}
    curves = set(attempt.series.exclude(kind="system").values_list("key", flat=True))
    assert curves == {"loss", "rank-1/loss"}
    run.refresh_from_db()
    assert run.metrics_summary == {"loss": 0.5}
    assert set(run.artifacts.values_list("path", flat=True)) == {"shard.txt", "rank-1/shard.txt"}

    api = APIClient()
    api.force_authenticate(make_member(project, "researcher"))
    merged = api.get(f"/api/v1/runs/{run.pk}/logs/merged/").json()
    assert {line["rank"] for line in merged["lines"]} == {0, 1}
    times = [line["ts_ns"] for line in merged["lines"]]
    assert times == sorted(times)
    assert merged["eof"] is True
    again = api.get(f"/api/v1/runs/{run.pk}/logs/merged/", {"after": merged["next"]}).json()
    assert (again["lines"], again["eof"]) == ([], True)
    one = api.get(f"/api/v1/runs/{run.pk}/logs/", {"rank": 1}).json()
    assert (one["rank"], one["streams"][0]["stream"]) == (1, "rank-1")
    assert api.get(f"/api/v1/runs/{run.pk}/logs/", {"rank": 2}).status_code == 404


def test_the_first_rank_that_fails_ends_the_others_and_is_named(
    project: Project, world: World
) -> None:
    run = queued(project, world, FAIL_ON_ONE, max_retries=0)
    world.submit(run)
    world.until(run, states.FAILED)
    attempt = run.attempts.get()
    assert (attempt.failure_class, attempt.evidence["rank"]) == ("USER_CODE", 1)
    assert "only here" in json.dumps(attempt.evidence)
    assert attempt.log_complete
    ranks = {one.number: one for one in attempt.ranks.all()}
    assert ranks[1].exit_code == 1
    # Rank 0 was told to stop and has said so: its pod had not to be waited for.
    assert ranks[0].exit_reason in {"cancelled", "preempted"}
    assert "ValueError: only here" in text_of(run, 1)


def test_a_killed_rank_starts_all_ranks_again(project: Project, world: World) -> None:
    run = queued(project, world, "import time; print('begun', flush=True); time.sleep(60)")
    placement = world.submit(run)
    world.until(run, states.RUNNING)
    wait_for(lambda: "begun" in text_of(run, 1))
    kubelet = world.stand_in.kubelet
    kubelet.kill(world.pods(placement)[1])
    wait_for(lambda: world.tick(run) == states.RETRY_WAIT, 60)
    Run.objects.filter(pk=run.pk).update(retry_at=None)
    run.refresh_from_db()
    wait_for(lambda: _is_over(world))
    world.sync()
    world.submit(run)
    world.until(run, states.RUNNING)
    assert [one.ranks.count() for one in run.attempts.order_by("number")] == [2, 2]
    assert run.attempts.filter(failure_class="").count() == 1


def _is_over(world: World) -> bool:
    jobs = world.stand_in.store.objects("jobs.batch")
    ended = [one["type"] for job in jobs for one in job["status"].get("conditions") or ()]
    return "Failed" in ended or not jobs
