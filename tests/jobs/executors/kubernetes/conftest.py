"""Registered clusters of the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from atom.accounts.models import Project
from atom.jobs import states
from atom.jobs.models import Placement, Run
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import serve


@pytest.fixture
def project() -> Project:
    return make_project("vision")


@pytest.fixture
def world(db: None, settings: Any) -> Iterator[World]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    with StandIn(tls=True) as stand_in:
        stand_in.nodes.add("n1", {"nvidia.com/gpu": "8"})
        yield World(stand_in)


@pytest.fixture(scope="module")
def origin() -> Iterator[str]:
    """Serve Atom to the pods of all tests of a module; give its address."""
    with serve() as origin:
        yield origin


@pytest.fixture
def running_world(transactional_db: None, settings: Any, origin: str) -> Iterator[World]:
    """Return a cluster whose kubelet runs pods, from which they reach Atom."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = origin
    with StandIn(tls=True, kubelet=True) as stand_in:
        stand_in.nodes.add("n1")
        yield World(stand_in)


@pytest.fixture
def kueue_world(db: None, settings: Any) -> Iterator[World]:
    """Return a cluster with Kueue's kinds, in which no Job moves by itself."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    with StandIn(tls=True, definitions=True) as stand_in:
        stand_in.jobs.stop()
        stand_in.nodes.add("n1", {"nvidia.com/gpu": "8"})
        yield World(stand_in)


@pytest.fixture
def run(project: Project, world: World) -> Run:
    """Return a queued run for the cluster, with one attempt."""
    return make_run(
        project, cluster=world.cluster, state=states.QUEUED, command=["true"], max_retries=0
    )


@pytest.fixture
def placement(run: Run, world: World) -> Placement:
    """Return where the run was placed; its Job is made."""
    return world.submit(run)
