"""The nodes of one stand-in: they take pods, let their processes go on and say how they ended."""

from __future__ import annotations

from typing import Any

from atom.jobs.executors.kubernetes.engines import names
from atom_sdk.runner.pod_exits import TERMINATED
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.fakes.kubernetes.errors import ApiError
from tests.jobs.executors.kubernetes.schedules.faults import Dice, Fault
from tests.jobs.executors.kubernetes.schedules.pods import Send, SimulatedPod, Stage

Json = dict[str, Any]
NODES = ("n1", "n2")


class Kubelets:
    """All nodes of a cluster; a lost one's processes go on and are not reported."""

    def __init__(self, stand_in: StandIn, dice: Dice, send: Send) -> None:
        self.stand_in, self.dice, self._send = stand_in, dice, send
        self.pods: dict[str, SimulatedPod] = {}
        self.lost: set[str] = set()
        for name in NODES:
            stand_in.nodes.add(name)

    def step(self) -> None:
        """Take new pods, end those that are deleted and report the ends of processes."""
        for pod in self.stand_in.store.objects("pods."):
            metadata = pod["metadata"]
            process = self.pods.get(metadata["uid"])
            if process is None:
                self._take(pod)
            elif pod["spec"]["nodeName"] not in self.lost:
                self._look_at(pod, process)
        existing = {pod["metadata"]["uid"] for pod in self.stand_in.store.objects("pods.")}
        for uid, process in self.pods.items():
            # Its object is gone: a node that answers ends what it does not know.
            if uid not in existing and self.node_of(process) not in self.lost:
                process.kill()

    def _take(self, pod: Json) -> None:
        free = [name for name in NODES if name not in self.lost]
        metadata = pod["metadata"]
        if not free or metadata.get("deletionTimestamp"):
            return
        node = self.dice.random.choice(free)
        self.stand_in.pods.bind(metadata["namespace"], metadata["name"], node)
        stored = self.stand_in.store.get("pods.", metadata["namespace"], metadata["name"])
        assert stored is not None
        self.pods[metadata["uid"]] = SimulatedPod(self.stand_in, stored, self.dice, self._send)
        self._say(stored, "Running", {"running": {}})

    def _look_at(self, pod: Json, process: SimulatedPod) -> None:
        metadata = pod["metadata"]
        if metadata.get("deletionTimestamp"):
            process.terminate(TERMINATED)
        if process.is_alive:
            return
        if pod["status"]["phase"] not in ("Succeeded", "Failed"):
            code = process.exit_code
            phase = "Succeeded" if code == 0 else "Failed"
            reason = "Completed" if code == 0 else "Error"
            self._say(pod, phase, {"terminated": {"exitCode": code, "reason": reason}})
        if metadata.get("deletionTimestamp"):
            self._delete(pod)

    def node_of(self, process: SimulatedPod) -> str:
        """Return the node of a process."""
        return str(process.pod["spec"]["nodeName"])

    def has_processes(self, node: str) -> bool:
        """Return whether a process lives on a node."""
        return any(one.is_alive and self.node_of(one) == node for one in self.pods.values())

    def speak(self, now: float) -> None:
        """Let each process do its next thing."""
        for process in tuple(self.pods.values()):
            if not process.is_alive:
                continue
            if self.node_of(process) in self.lost and process.stage == Stage.WORKING:
                # A machine that falls silent is slow, too: its work may outlast the next pod's.
                if self.dice.falls(0.7):
                    continue
                self.dice.count(Fault.ZOMBIE_SPEAKS)
            process.step(now)

    # --- faults of nodes and pods ---

    def lose(self, node: str) -> None:
        """Let a node fall silent; its processes go on."""
        self.lost.add(node)
        self.stand_in.nodes.lose(node)

    def bring_back(self, node: str) -> None:
        """Let a lost node answer again."""
        if self.stand_in.store.get("nodes.", "", node) is None:
            self.stand_in.nodes.add(node)
        else:
            self.stand_in.nodes.bring_back(node)
        self.lost.discard(node)

    def forget(self, node: str) -> None:
        """Remove a lost node's object; its pods' objects go, their processes stay."""
        for pod in self.stand_in.store.objects("pods."):
            if pod["spec"].get("nodeName") == node:
                self._say(pod, "Failed", {"running": {}})
                self._delete(pod)
        self.stand_in.store.remove("nodes.", ("", node))

    def evict(self, pod: Json, exit_code: int) -> None:
        """Evict a pod; its process ends with this code."""
        metadata = pod["metadata"]
        self.stand_in.pods.evict(metadata["namespace"], metadata["name"], {})
        self.pods[metadata["uid"]].terminate(exit_code)

    def twin(self, pod: Json) -> None:
        """Make a second pod of the same index, as a Job controller is documented to do."""
        metadata = pod["metadata"]
        kept = {key: metadata[key] for key in ("labels", "annotations", "ownerReferences")}
        body = {"metadata": {**kept, "name": f"{metadata['name']}-b"}, "spec": dict(pod["spec"])}
        body["spec"].pop("nodeName", None)
        self.stand_in.create("pods.", body, metadata["namespace"])

    def running(self) -> list[Json]:
        """Return the pods that run on nodes that answer."""
        return [
            pod
            for pod in self.stand_in.store.objects("pods.")
            if pod["metadata"]["uid"] in self.pods
            and self.pods[pod["metadata"]["uid"]].is_alive
            and pod["spec"]["nodeName"] not in self.lost
            and not pod["metadata"].get("deletionTimestamp")
        ]

    def _say(self, pod: Json, phase: str, state: Json) -> None:
        metadata = pod["metadata"]
        place = (metadata["namespace"], metadata["name"])
        stored = self.stand_in.store.get("pods.", *place)
        if stored is not None:
            containers = [{"name": names.MAIN, "state": state}]
            status = {**stored["status"], "phase": phase, "containerStatuses": containers}
            machinery = self.stand_in.machinery
            machinery.update_status(machinery.kind("pods."), *place, status)

    def _delete(self, pod: Json) -> None:
        metadata, machinery = pod["metadata"], self.stand_in.machinery
        try:
            kind = machinery.kind("pods.")
            body = {"gracePeriodSeconds": 0}
            self.stand_in.deletion.delete(kind, metadata["namespace"], metadata["name"], body)
        except ApiError as failure:
            if failure.code != 404:
                raise
