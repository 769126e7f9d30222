"""A run in a cluster reads its data from a volume: real agent, real driver, real runner."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import grpc
import pytest

from atom.accounts.models import Project
from atom.cache.models import NodeAgent, NodeVolume, WarmPlan
from atom.datasets.models import Version
from atom.jobs import states
from atom.jobs.models import Run, RunInput
from tests.agent.kubelet import FakeKubelet, kubelet_folder
from tests.cache.agents.programs import Program
from tests.cache.agents.world import AgentWorld
from tests.factories.datasets import stored_version
from tests.factories.jobs import make_run
from tests.fakes.kubelet.environment import ConfigError
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import log_of, wait_for

pytestmark = [
    pytest.mark.django_db(transaction=True),
    pytest.mark.skipif(os.geteuid() != 0, reason="mounts and sockets of a kubelet need root"),
]

Json = dict[str, Any]
FILES = {f"{number}.txt": f"sample {number}".encode() for number in range(5)}
READ = """
import os
from atom_sdk.run import dataset
data = dataset("digits")
print("read", sorted(bytes(sample.data).decode() for sample in data))
print("volume", sorted(os.listdir("/atom/volumes/input-0/packs")) != [])
partial = os.path.join(os.environ["ATOM_RUN_DIR"], "datasets/digits/partial")
print("streamed", os.path.isdir(partial) and sorted(os.listdir(partial)))
"""


@pytest.fixture
def world(running_world: World) -> World:
    return running_world


@pytest.fixture
def kubelet(world: World) -> Iterator[FakeKubelet]:
    """Return the sockets' side of the stand-in's kubelet, which asks for inline volumes."""
    with kubelet_folder() as kubelet:

        def driver(folder: Path, attributes: Json, pod: Json) -> Path:
            metadata = pod["metadata"]
            names = metadata["namespace"], metadata["name"]
            request = kubelet.request(metadata["uid"], attributes, names)
            try:
                return kubelet.publish(request)
            except grpc.RpcError as error:
                raise ConfigError(f"rpc error: {error.details()}") from error

        world.stand_in.kubelet.drivers["csi.atom.dev"] = driver
        yield kubelet


@pytest.fixture
def agent(world: World, kubelet: FakeKubelet, origin: str, tmp_path: Path) -> Iterator[Program]:
    agents = AgentWorld(world.stand_in, cluster=world.cluster)
    pod = agents.started_pod("n1")
    folder = str(kubelet.folder)
    program = Program(agents, "n1", tmp_path / "n1", origin, pod, ATOM_AGENT_KUBELET=folder)
    try:
        kubelet.register()
        wait_for(lambda: NodeAgent.objects.filter(has_volumes=True, needs_packs=False).exists())
        yield program
    finally:
        program.kill()


@pytest.fixture
def version(transactional_db: None, project: Project) -> Version:
    return stored_version(project, FILES)


def test_a_run_reads_its_packs_from_the_volume_of_its_node(
    agent: Program, kubelet: FakeKubelet, world: World, project: Project, version: Version
) -> None:
    command = [sys.executable, "-c", READ]
    for is_warm in (False, True):
        run = make_run(
            project,
            cluster=world.cluster,
            state=states.QUEUED,
            command=command,
            memory_bytes=1 << 30,
        )
        RunInput.objects.create(run=run, alias="digits", version=version, delivery="stream")
        assert world.submit(run).has_volumes
        _await_end(world, run)
        text = log_of(run)
        assert f"read {sorted(data.decode() for data in FILES.values())}" in text
        row = NodeVolume.objects.latest("created_at")
        assert (row.packs_present == row.packs_total) == is_warm
        if is_warm:
            assert "volume True" in text
            assert "streamed False" in text
        # The plan of the first volume brings what was missing.
        wait_for(lambda: WarmPlan.objects.get().state == "done")
    assert len(agent.packs()) == row.packs_total


def _await_end(world: World, run: Run) -> None:
    """Wait for a command that imports Arrow, which takes long on a busy machine."""
    wait_for(lambda: world.tick(run) == states.SUCCEEDED, 120)
