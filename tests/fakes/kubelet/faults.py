"""Faults of nodes and containers that tests switch on."""

from __future__ import annotations

import threading
from typing import Any, Literal

from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.controllers.base import Controller

from .images import Images
from .pods import EndedError, PodWorker

Json = dict[str, Any]

_KILLED = ("Error", 137)
_OUT_OF_MEMORY = ("OOMKilled", 137)
_LOOK_S = 0.05


class Faults(Controller):
    """The pods that run, and the switches of their kubelet; each is off at the beginning."""

    def __init__(self, cluster: Cluster) -> None:
        super().__init__(cluster.machinery, cluster.deletion)
        self.cluster = cluster
        self.images = Images(self.store)
        self.is_stopped = False
        self._workers: dict[str, PodWorker] = {}
        self._lock = threading.RLock()
        self._frozen: set[str] = set()
        self._thawed = threading.Condition()
        self._volumes_gate: threading.Event | None = None
        self._removal_gate: threading.Event | None = None

    def worker_of(self, pod: Json) -> PodWorker:
        """Return the worker of a pod; raise LookupError when none runs it."""
        worker = self._workers.get(pod["metadata"]["uid"])
        if worker is None:
            raise LookupError(f"no kubelet runs the pod {pod['metadata']['name']}")
        return worker

    def workers(self, node: str = "") -> list[PodWorker]:
        """Return the workers of a node, or all."""
        with self._lock:
            return [one for one in self._workers.values() if not node or one.node == node]

    def uids(self) -> set[str]:
        """Return the uids of the pods that run."""
        with self._lock:
            return set(self._workers)

    # --- nodes ---

    def lose_node(
        self, node: str, *, processes: Literal["live", "die"] = "live", evict: bool = True
    ) -> None:
        """Let a node fall silent; its statuses stay as they are.

        Its processes live on, as after a cut cable, or die, as without power. With `evict` its pods
        are marked and deleted, as the taint manager does it after their tolerations.
        """
        with self._thawed:
            self._frozen.add(node)
        self.cluster.logs.silent_nodes.add(node)
        if processes == "die":
            for worker in self.workers(node):
                worker.power_off()
        self.cluster.nodes.lose(node, evict=evict)

    def bring_back(self, node: str) -> None:
        """Let a lost node report again: it says what ended meanwhile, and ends what is deleted."""
        self.cluster.nodes.bring_back(node)
        self.cluster.logs.silent_nodes.discard(node)
        with self._thawed:
            self._frozen.discard(node)
            self._thawed.notify_all()
        for pod in self.cluster.store.objects("pods."):
            if pod["spec"].get("nodeName") == node:
                metadata = pod["metadata"]
                self.enqueue(metadata["namespace"], metadata["name"], metadata["uid"])

    def is_live(self, node: str) -> bool:
        """Return whether a node's kubelet works."""
        return node not in self._frozen

    def wait_for_node(self, node: str) -> None:
        """Return when a node's kubelet works."""
        with self._thawed:
            self._thawed.wait_for(lambda: node not in self._frozen)

    # --- containers ---

    def kill(self, pod: Json, container: str = "") -> None:
        """Kill a container, as `kill -9` on the node does."""
        self.worker_of(pod).break_container(container, _KILLED)

    def oom(self, pod: Json, container: str = "") -> None:
        """Let the node's kernel kill a container that used more memory than its limit."""
        self.worker_of(pod).break_container(container, _OUT_OF_MEMORY)

    def evict(self, pod: Json) -> None:
        """Evict a pod as the Eviction API does: DisruptionTarget, then deletion with grace."""
        metadata = pod["metadata"]
        self.cluster.pods.evict(metadata["namespace"], metadata["name"], {})

    def evict_for(self, resource: Literal["memory", "ephemeral-storage"], pod: Json) -> None:
        """Let the kubelet evict a pod since its node runs short of a resource."""
        words = (
            f"The node was low on resource: {resource}. Threshold quantity: 10Gi, available: 9Gi."
        )
        worker = self.worker_of(pod)
        worker.event("Warning", "Evicted", words)
        disruption = {
            "type": "DisruptionTarget",
            "status": "True",
            "reason": "TerminationByKubelet",
            "message": words,
        }
        worker.send("end", EndedError(0.0, "Evicted", words, disruption))

    def duplicate(self, pod: Json) -> Json:
        """Make a second pod of the same index and return it; documented to happen.

        The stand-in's Job controller would remove one of the two, so it stops for good.
        """
        self.cluster.jobs.stop()
        metadata = pod["metadata"]
        kept = ("labels", "annotations", "ownerReferences")
        copied = {key: metadata[key] for key in kept if key in metadata}
        copied["name"] = f"{metadata['name']}-b"
        spec = {key: value for key, value in pod["spec"].items() if key != "nodeName"}
        body = {"metadata": copied, "spec": spec}
        return self.cluster.create("pods.", body, metadata["namespace"])

    # --- slowness ---

    def hold_volumes(self) -> threading.Event:
        """Let volumes of new pods be mounted only once the returned event is set."""
        self._volumes_gate = threading.Event()
        return self._volumes_gate

    def hold_removal(self) -> threading.Event:
        """Keep ended and deleted pods in the API until the returned event is set.

        A real one does so while it removes a volume with many files.
        """
        self._removal_gate = threading.Event()
        return self._removal_gate

    def wait_for_volumes(self, worker: PodWorker) -> None:
        """Return when volumes may be mounted."""
        if (gate := self._volumes_gate) is not None:
            worker.await_gate(gate)

    def wait_for_removal(self) -> None:
        """Return when ended pods may go, or when the kubelet stops."""
        gate = self._removal_gate
        while gate is not None and not gate.is_set() and not self.is_stopped:
            gate.wait(_LOOK_S)

    def lift(self) -> None:
        """Take all switches back, so that every worker goes on."""
        with self._thawed:
            self._frozen.clear()
            self._thawed.notify_all()
        self.images.release()
        for gate in (self._volumes_gate, self._removal_gate):
            if gate is not None:
                gate.set()
