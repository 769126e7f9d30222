"""Clusters of the stand-in for stacks of browser tests, and real node agents in them."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from uuid import UUID

import yaml

from atom.clusters.models import Cluster
from atom_sdk.client import Client
from tests.browser.seed import wait_for
from tests.cache.agents.programs import Program
from tests.cache.agents.world import AgentWorld
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.stack import Stack

GPU = "nvidia.com/gpu"


class StackAgents(AgentWorld):
    """Agents of a cluster that a stack knows; they take their audience from the stack's YAML."""

    def __init__(self, atom: Client, stand_in: StandIn, name: str) -> None:
        row = atom.clusters.get(name)
        # Never saved: the stack has the row.
        cluster = Cluster(pk=UUID(row["id"]), name=name, namespace=row["namespace"])
        super().__init__(stand_in, cluster=cluster)
        self._audience = _audience_in(atom.clusters.agent_manifest(name))

    def audience(self) -> str:
        """Return the audience of the stack's agents."""
        return self._audience


def _audience_in(manifest: str) -> str:
    objects = yaml.safe_load_all(manifest)
    (pod,) = (one["spec"]["template"]["spec"] for one in objects if one["kind"] == "DaemonSet")
    (token,) = (volume for volume in pod["volumes"] if "projected" in volume)
    (source,) = token["projected"]["sources"]
    return str(source["serviceAccountToken"]["audience"])


@contextmanager
def cluster_of(
    atom: Client, name: str, nodes: Mapping[str, int], *, kubelet: bool = False, **options: Any
) -> Iterator[StandIn]:
    """Run and register a cluster with GPUs by node; `options` are its prices and stores."""
    with StandIn(tls=True, kubelet=kubelet) as stand_in:
        for node, gpus in nodes.items():
            stand_in.nodes.add(node, {GPU: str(gpus)})
        row = atom.clusters.register(name, kubeconfig=stand_in.kubeconfig(), **options)
        assert row["state"] == "ready", row["findings"]
        try:
            yield stand_in
        finally:
            atom.clusters.remove(name)


@contextmanager
def agent_on(
    stack: Stack, atom: Client, stand_in: StandIn, cluster: str, node: str, folder: Path
) -> Iterator[None]:
    """Run the agent's program for a node until the end; it has joined and reported."""
    agents = StackAgents(atom, stand_in, cluster)
    pod = agents.started_pod(node) if hasattr(stand_in, "kubelet") else agents.pod(node)
    program = Program(agents, node, folder / node, stack.base_url, pod)
    try:
        wait_for(lambda: _reports(atom, cluster, node))
        yield
    finally:
        program.kill()


def _reports(atom: Client, cluster: str, node: str) -> bool:
    agents = atom.http.get(f"clusters/{cluster}/agents/")
    return any(agent["node"] == node and agent["is_reporting"] for agent in agents)


def warm(atom: Client, dataset: str, ref: str, cluster: str, **options: Any) -> None:
    """Bring a version to a cluster and wait for the end of the plan."""
    base = f"projects/{atom.project}/datasets/{dataset}/versions/{ref}/"
    plan = atom.datasets.warm_plans.start(base, cluster, **options)
    wait_for(lambda: atom.datasets.warm_plans.get(plan["id"])["state"] != "running")
    ended = atom.datasets.warm_plans.get(plan["id"])
    assert ended["state"] == "done", ended
