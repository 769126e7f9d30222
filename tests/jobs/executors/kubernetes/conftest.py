"""A registered cluster of the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import pytest

from atom.accounts.models import Project
from tests.factories.accounts import make_project
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World


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


@pytest.fixture
def kueue_world(db: None, settings: Any) -> Iterator[World]:
    """Return a cluster with Kueue's kinds, in which no Job moves by itself."""
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    with StandIn(tls=True, definitions=True) as stand_in:
        stand_in.jobs.stop()
        stand_in.nodes.add("n1", {"nvidia.com/gpu": "8"})
        yield World(stand_in)
