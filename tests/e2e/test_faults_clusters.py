"""Ten processes are killed while runs stream in a cluster: nothing is started twice or lost.

The seed is printed; `ATOM_KILLS_SEED` repeats its order.
"""

from __future__ import annotations

import os
import random
import time
import uuid
from collections.abc import Iterator

import pytest

from atom_sdk.client import Client
from tests.e2e import breaking
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.kills.cluster_kills import ClusterKiller, order_of
from tests.kills.cluster_record import ClusterRecord
from tests.kills.patience import PATIENCE_S
from tests.kills.presence import Presence
from tests.kills.streamed_runs import Judgement, StreamedRun
from tests.people import administrator, token_of
from tests.stack import Stack

pytestmark = [
    pytest.mark.e2e,
    pytest.mark.slow,
    pytest.mark.xdist_group("faults"),
    pytest.mark.timeout(900),
]

# Before the kill of this number a run begins, and after that of the other one it may end.
RUNS = ((0, 4), (2, 7), (5, 10))
# Before these kills the API server of the cluster crashes too.
CRASHES = (3, 8)


@pytest.fixture
def admin(whole_stack: Stack) -> Iterator[Client]:
    """A client that may register clusters."""
    secret = token_of(whole_stack, administrator(whole_stack), "kills", "admin")
    with Client(whole_stack.base_url, secret, "demo") as client:
        yield client


@pytest.fixture
def stand_in(admin: Client) -> Iterator[StandIn]:
    """A registered cluster with two nodes that run pods."""
    with StandIn(tls=True, kubelet=True) as cluster:
        for name in ("n1", "n2"):
            cluster.nodes.add(name)
        admin.clusters.register("killed", kubeconfig=cluster.kubeconfig())
        yield cluster
        admin.clusters.remove("killed")


def test_ten_kills_lose_and_double_nothing(
    whole_stack: Stack, admin: Client, stand_in: StandIn
) -> None:
    seed = int(os.environ.get("ATOM_KILLS_SEED") or random.SystemRandom().randrange(1_000_000))
    say(f"ATOM_KILLS_SEED={seed}")
    rng = random.Random(seed)
    record, tag = ClusterRecord(stand_in), uuid.uuid4().hex[:8]
    with Presence() as presence:
        killer = ClusterKiller(whole_stack, stand_in, presence, rng)
        runs = [
            StreamedRun(f"{tag} {number}", admin, "killed", presence) for number in range(len(RUNS))
        ]
        for kill, victim in enumerate([*order_of(rng), ""]):
            start_and_finish(kill, runs, presence)
            if not victim:
                break
            if kill in CRASHES:
                say(killer.crash_api_server())
            killer.pause()
            say(killer.strike(victim))
        breaking.await_all(whole_stack)
        for run in runs:
            run.join(PATIENCE_S)
            say(f"{run.name}: {run.state}, {len(presence.lives_of(run.run_id))} commands")
        complaints = [*presence.complaints, *record.complaints(whole_stack)]
        for run in runs:
            complaints += Judgement(whole_stack, run).complaints()
    assert complaints == [], f"ATOM_KILLS_SEED={seed}"


def start_and_finish(kill: int, runs: list[StreamedRun], presence: Presence) -> None:
    """Begin and end the runs whose turn it is before a kill."""
    for run, (first, last) in zip(runs, RUNS, strict=True):
        if kill == first:
            run.start()
            if kill == 0:
                run.await_lines(10)
        if kill == last:
            run.await_lines(10)
            say(f"{run.name} ends after {presence.finish(run.run_id)} lines")


def say(text: str) -> None:
    """Print what happens, with the time."""
    print(f"{time.strftime('%H:%M:%S')} {text}", flush=True)
