"""An API server that answers as a test says, and a person who may register it."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import User
from tests.clusters.answers import Answers, node
from tests.clusters.api_server import ApiServer, api_server


@pytest.fixture
def answers() -> Answers:
    zone = {
        "topology.kubernetes.io/zone": "zone-a",
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
    }
    return Answers(nodes=[node("gpu-1", zone, **{"nvidia.com/gpu": "8"}), node("cpu-1")])


@pytest.fixture
def server(answers: Answers, tmp_path: Path, settings: Any) -> Iterator[ApiServer]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with api_server(answers, tmp_path) as served:
        yield served


@pytest.fixture
def boss() -> User:
    return User.objects.create_user("boss", is_superuser=True)


@pytest.fixture
def api(boss: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(boss)
    return client
