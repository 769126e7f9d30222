"""Faults of nodes and of queues: a lost node, an eviction, a preemption by suspension."""

from __future__ import annotations

from typing import Any

from .deletion import Deletion
from .errors import ApiError
from .machinery import Machinery
from .patches import merge_patch
from .pods import set_condition

Json = dict[str, Any]

_UNREACHABLE = {"key": "node.kubernetes.io/unreachable", "effect": "NoExecute"}
_EVICTED = {
    "type": "DisruptionTarget",
    "status": "True",
    "reason": "DeletionByTaintManager",
    "message": "Taint manager: deleting due to NoExecute taint",
}


def set_node_condition(status: Json, condition: Json, now: str) -> Json:
    """Return a node's status with a condition; it names the last sign of the node's kubelet."""
    known = {item["type"]: item for item in status.get("conditions") or ()}
    before = known.get(condition["type"], {}).get("lastHeartbeatTime", now)
    heard = before if condition["status"] == "Unknown" else now
    changed = set_condition(status, condition | {"lastHeartbeatTime": heard}, now)
    for item in changed["conditions"]:
        item.pop("lastProbeTime", None)
    return changed


class Nodes:
    """The nodes, and faults of them."""

    def __init__(self, machinery: Machinery, deletion: Deletion) -> None:
        self.machinery = machinery
        self.deletion = deletion
        self.store = machinery.store

    def add(self, name: str, capacity: Json | None = None, labels: Json | None = None) -> Json:
        """Add a node that is ready."""
        amounts = {"cpu": "32", "memory": "256Gi", "pods": "110"} | (capacity or {})
        resource = self.machinery.kind("nodes.")
        metadata = {"name": name, "labels": {"kubernetes.io/hostname": name} | (labels or {})}
        self.machinery.create(resource, "", {"metadata": metadata})
        status = {"capacity": amounts, "allocatable": amounts}
        ready = {"type": "Ready", "status": "True", "reason": "KubeletReady"}
        status = set_node_condition(status, ready, self.store.now())
        stored: Json = self.machinery.update_status(resource, "", name, status)
        return stored

    def lose(self, name: str, *, evict: bool = True) -> None:
        """Let a node fall silent: its pods are not ready, then marked, and stay as they are."""
        unknown = {
            "type": "Ready",
            "status": "Unknown",
            "reason": "NodeStatusUnknown",
            "message": "Kubelet stopped posting node status.",
        }
        self._change(name, unknown, [_UNREACHABLE | {"timeAdded": self.store.now()}])
        for pod in self._pods(name):
            self._set(pod, {"type": "Ready", "status": "False"})
            if evict:
                self._set(pod, _EVICTED)
                self._delete(pod)

    def bring_back(self, name: str) -> None:
        """Let a lost node report again; its kubelet then ends the pods that are marked."""
        self._change(name, {"type": "Ready", "status": "True", "reason": "KubeletReady"}, [])

    def suspend(self, namespace: str, job: str, *, suspended: bool = True) -> None:
        """Suspend or resume a Job, as a queue does that preempts it."""
        resource = self.machinery.kind("jobs.batch")

        def change(old: Json) -> Json:
            return dict(merge_patch(old, {"spec": {"suspend": suspended}}))

        self.machinery.replace(resource, (namespace, job), change)

    def _change(self, name: str, condition: Json, taints: list[Json]) -> None:
        resource = self.machinery.kind("nodes.")
        self.machinery.replace(
            resource, ("", name), lambda old: dict(merge_patch(old, {"spec": {"taints": taints}}))
        )
        node = self.machinery.get(resource, "", name)
        status = set_node_condition(node.get("status") or {}, condition, self.store.now())
        self.machinery.update_status(resource, "", name, status)

    def _pods(self, node: str) -> list[Json]:
        return [pod for pod in self.store.objects("pods.") if pod["spec"].get("nodeName") == node]

    def _set(self, pod: Json, condition: Json) -> None:
        metadata, now = pod["metadata"], self.store.now()

        def change(old: Json) -> Json:
            return old | {"status": set_condition(old["status"], condition, now)}

        place = (metadata["namespace"], metadata["name"])
        self.machinery.replace(self.machinery.kind("pods."), place, change, None, "status")

    def _delete(self, pod: Json) -> None:
        metadata = pod["metadata"]
        pods = self.machinery.kind("pods.")
        try:
            self.deletion.delete(pods, metadata["namespace"], metadata["name"], {})
        except ApiError as failure:
            if failure.code != 404:
                raise
