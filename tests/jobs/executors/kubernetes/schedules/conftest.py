"""A simulated installation: the stand-ins' network, the broker and the clock are the tests' own."""

from __future__ import annotations

from collections import deque
from collections.abc import Callable, Iterator
from typing import Any

import pytest

from atom.clusters.kubernetes import connection as cluster_connection
from atom.core import background
from tests.factories.accounts import make_project, make_user
from tests.jobs.executors.kubernetes.schedules.faults import Dice, Fault
from tests.jobs.executors.kubernetes.schedules.in_process import InProcess
from tests.jobs.executors.kubernetes.schedules.invariants import Invariants
from tests.jobs.executors.kubernetes.schedules.simulated_time import (
    Clock,
    forgotten,
    simulated_time,
)
from tests.jobs.executors.kubernetes.schedules.simulation import Simulation

Play = Callable[..., Simulation]


@pytest.fixture
def clock(committing_db: None) -> Iterator[Clock]:
    with simulated_time() as clock:
        yield clock


@pytest.fixture
def play(clock: Clock, settings: Any, monkeypatch: pytest.MonkeyPatch) -> Play:
    """Return what plays the schedule of a seed, with some faults often, and checks invariants."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    # A schedule may take away one machine after the other, and its pods store no checkpoint.
    settings.ATOM_MAX_LOST_MACHINES = 1_000
    tasks: deque[Any] = deque()
    monkeypatch.setattr(background, "_send", lambda task, args, **_: tasks.append((task, args)))
    actor = make_user("root", is_superuser=True)

    def play_seed(seed: int, *often: Fault) -> Simulation:
        network = InProcess()
        monkeypatch.setattr(cluster_connection, "_PinnedPool", network.pool)
        tasks.clear()
        simulation = Simulation(Dice(seed, frozenset(often)), clock, network, tasks)
        with forgotten(clock), simulation.world(actor, make_project(f"p{seed}")):
            invariants = Invariants(simulation)
            simulation.watch = invariants.check_now
            simulation.play()
            invariants.check_end()
        return simulation

    return play_seed
