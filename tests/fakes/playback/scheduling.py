"""Trials of a real scheduler: many pods of one form, and the node that each got."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from typing import Any

from tests.fakes.contract.transcripts import FOLDER
from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.pods import set_condition
from tests.fakes.playback.recording import lines_of, scenarios

Json = dict[str, Any]

_REFUSED = "unschedulable: "


@dataclass(frozen=True)
class Trial:
    """One recorded trial; `tally` has how many pods each node got."""

    scenario: str
    body: Json
    nodes: tuple[str, ...]

    @property
    def count(self) -> int:
        """Return how many pods there were."""
        return len(self.nodes)

    @property
    def tally(self) -> Counter[str]:
        """Return how many pods each node got; pods without a node are left out."""
        return Counter(node for node in self.nodes if not node.startswith(_REFUSED))

    @property
    def refusals(self) -> list[str]:
        """Return the scheduler's words about the pods that got no node."""
        found = [node for node in self.nodes if node.startswith(_REFUSED)]
        return [node.removeprefix(_REFUSED) for node in found]

    def play(self, cluster: Cluster, namespace: str) -> None:
        """Create the pods in a new namespace and bind each to its node."""
        cluster.create("namespaces.", {"metadata": {"name": namespace}})
        for number, node in enumerate(self.nodes):
            metadata = {"name": f"{self.scenario}-{number}"}
            cluster.create("pods.", self.body | {"metadata": metadata}, namespace)
            if node.startswith(_REFUSED):
                self._refuse(cluster, (namespace, metadata["name"]), node.removeprefix(_REFUSED))
            else:
                cluster.pods.bind(namespace, metadata["name"], node)

    def _refuse(self, cluster: Cluster, place: tuple[str, str], message: str) -> None:
        """Write the scheduler's verdict about a pod that no node takes."""
        pod = cluster.store.get("pods.", *place)
        assert pod is not None
        verdict = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        status = set_condition(pod["status"], verdict, cluster.store.now())
        cluster.machinery.update_status(cluster.machinery.kind("pods."), *place, status)


def trials() -> list[Trial]:
    """Return the recorded trials that have one form of pod and the nodes that were chosen."""
    if not FOLDER.is_dir():
        return []
    found = []
    for scenario in scenarios("scheduling"):
        for line in lines_of("scheduling", scenario):
            body = (line.get("request") or {}).get("body") or {}
            if body.get("kind") == "Pod" and "tally" in line:
                found.append(Trial(scenario, body, _nodes(line)))
    return found


def _nodes(line: Json) -> tuple[str, ...]:
    """Return the nodes in their order, or the refusal of a pod that got none."""
    ordered = line.get("nodes_in_order")
    if ordered is None:
        ordered = [name for name, count in line["tally"].items() for _ in range(count)]
    return tuple(map(str, ordered))
