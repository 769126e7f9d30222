"""Clusters of the stand-in for whole stacks, whose pods find the environment of the demo."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager

from atom_sdk.client import Client
from tests.fakes.kubelet.process import can_isolate
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.stack import Stack

# The pods' own /tmp would hide the folder of this machine.
ENVIRONMENTS = "/opt/environments"


@contextmanager
def registered_cluster(
    stack: Stack, atom: Client, name: str, nodes: Sequence[str]
) -> Iterator[StandIn]:
    """Run a cluster with these nodes, and register it."""
    stand_in = StandIn(tls=True, kubelet=True).start()
    try:
        assert stand_in.kubelet is not None
        stand_in.kubelet.image_paths = ((str(stack.runtimes), ENVIRONMENTS),)
        for node in nodes:
            stand_in.nodes.add(node)
        atom.clusters.register(name, kubeconfig=stand_in.kubeconfig())
        yield stand_in
    finally:
        stand_in.stop()


def python_of_demo(stack: Stack, atom: Client) -> str:
    """Return the Python of the demo's training, as pods find it."""
    # The newest first: tests of the main job may have trained once more.
    training = [run for run in atom.runs.list() if run["name"] == "digits classifier"][-1]
    digest = atom.runs.get(training["id"])["runtime"]["digest"]
    # Without namespaces, pods see the folders of this machine.
    environments = ENVIRONMENTS if can_isolate() else str(stack.runtimes)
    return f"{environments}/{digest[:32]}/bin/python"
