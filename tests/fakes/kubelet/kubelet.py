"""The kubelet of a stand-in cluster: it runs the pods that are bound to its nodes."""

from __future__ import annotations

import os
import shutil
import tempfile
from pathlib import Path
from types import TracebackType
from typing import Any

from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.store import Event

from .faults import Faults
from .names import addresses, hosts_of
from .pods import EndedError, PodWorker
from .process import can_isolate
from .scheduler import Scheduler
from .volumes import Driver
from .waiting import PATIENCE_S, until

Json = dict[str, Any]

# A pod whose object is removed by force gets this long.
_FORCED_S = 1.0
_JOIN_S = 60.0


class Kubelet(Faults):
    """The kubelets of some nodes, or of all.

    `isolated` chooses between namespaces and plain folders; without it, the machine decides.
    `image_paths` are folders of this machine that every image shows beside its system and Python,
    each at its own path or, as a pair, at another one.
    """

    name = "kubelet"

    def __init__(
        self,
        cluster: Cluster,
        nodes: list[str] | None = None,
        *,
        isolated: bool | None = None,
        image_paths: tuple[str | tuple[str, str], ...] = (),
        backoff_seconds: float = 1.0,
    ) -> None:
        super().__init__(cluster)
        self.nodes = nodes
        self.is_isolated = can_isolate() if isolated is None else isolated
        self.image_paths = image_paths
        self.backoff_seconds = backoff_seconds
        # The memlock limit that the runtime gives containers, in bytes; None: this machine's.
        self.memlock_bytes: int | None = None
        # Drivers of inline CSI volumes, by their names.
        self.drivers: dict[str, Driver] = {}
        # Made at the start: a kubelet that never starts leaves nothing.
        self.folder = Path(os.devnull)
        self._addresses = addresses()
        self._host_addresses: dict[str, str] = {}

    # --- events ---

    def subscriptions(self) -> list[tuple[str, Any]]:
        """Return which kinds the kubelet listens to."""
        return [("pods.", self._on_pod), ("services.", self._on_service)]

    def _on_pod(self, event: Event) -> None:
        assert event.after is not None
        pod = event.after.obj
        # The uid tells a pod from an earlier one of its name.
        self.enqueue(*event.place, pod["metadata"]["uid"])

    def _on_service(self, event: Event) -> None:
        self.enqueue(event.place[0])

    def start(self) -> None:
        """Run the pods that are there, and those that come."""
        self.folder = Path(tempfile.mkdtemp(prefix="kubelet-"))
        super().start()
        for pod in self.store.objects("pods."):
            metadata = pod["metadata"]
            self.enqueue(metadata["namespace"], metadata["name"], metadata["uid"])

    def sync(self, key: tuple[str, ...]) -> None:
        """Start, end or inform the worker of a pod."""
        if len(key) == 1:
            self._write_hosts(key[0])
            return
        namespace, name, uid = key
        pod = self.store.get("pods.", namespace, name)
        worker = self._workers.get(uid)
        if pod is None or pod["metadata"]["uid"] != uid:
            if worker is not None:
                worker.send("end", EndedError(_FORCED_S, is_gone=True))
            self._write_hosts(namespace)
            return
        if worker is None:
            self._take_on(pod)
        elif pod["metadata"].get("deletionTimestamp"):
            worker.tell_deletion(float(pod["metadata"]["deletionGracePeriodSeconds"]))
        self._write_hosts(namespace)

    def _take_on(self, pod: Json) -> None:
        node = pod["spec"].get("nodeName")
        if not node or (self.nodes is not None and node not in self.nodes):
            return
        if pod["status"].get("phase") in ("Failed", "Succeeded") or self.is_stopped:
            return
        if not self.is_live(node):
            # It is taken on when the node is back.
            return
        worker = PodWorker(self, pod, next(self._addresses))
        with self._lock:
            self._workers[pod["metadata"]["uid"]] = worker
        worker.start()
        if pod["metadata"].get("deletionTimestamp"):
            worker.tell_deletion(float(pod["metadata"]["deletionGracePeriodSeconds"]))

    def _write_hosts(self, namespace: str) -> None:
        """Tell the pods of a namespace the names that it has now."""
        with self._lock:
            workers = [one for one in self._workers.values() if one.place_key[0] == namespace]
        for worker in workers:
            worker.write_hosts(hosts_of(self.store, worker.pod, worker.status.address))

    # --- for workers ---

    def address_of(self, node: str) -> str:
        """Return the address of a node."""
        with self._lock:
            if node not in self._host_addresses:
                self._host_addresses[node] = next(self._addresses)
            return self._host_addresses[node]

    def forget(self, worker: PodWorker) -> None:
        """Forget a worker whose pod has ended."""
        with self._lock:
            self._workers.pop(worker.uid, None)
        # An event may have come between its last look and its end.
        self.enqueue(*worker.place_key, worker.uid)

    # --- for tests ---

    def wait_for(
        self, phase: str, name: str = "", namespace: str = "", seconds: float = PATIENCE_S
    ) -> Json:
        """Return the first pod of a phase whose name begins so, as soon as there is one.

        The phase `Deleted` waits until no pod is left. Raises AssertionError after the seconds.
        """

        def look() -> Json | None:
            pods = [
                pod
                for pod in self.store.objects("pods.", namespace)
                if pod["metadata"]["name"].startswith(name)
            ]
            if phase == "Deleted":
                return None if pods else {"metadata": {}}
            return next((pod for pod in pods if pod["status"].get("phase") == phase), None)

        return until(self.store, look, ("pods.",), seconds)

    # --- the end ---

    def stop(self) -> None:
        """Stop; assert that no process and no mount is left."""
        self.is_stopped = True
        self.lift()
        super().stop()
        workers = self.workers()
        for worker in workers:
            worker.send("end", EndedError(is_silent=True))
        for worker in workers:
            worker.join(_JOIN_S)
        left = [worker.name for worker in workers if worker.is_alive()]
        left += self._mounts()
        if self.folder.is_dir():
            shutil.rmtree(self.folder, ignore_errors=True)
        assert not left, f"the kubelet leaves {left}"

    def _mounts(self) -> list[str]:
        text = Path("/proc/self/mounts")
        lines = text.read_text().splitlines() if text.exists() else []
        return [line for line in lines if str(self.folder) in line]

    def __enter__(self) -> Kubelet:
        """Start in a cluster that already serves."""
        self.start()
        return self

    def __exit__(
        self,
        type_: type[BaseException] | None,
        value: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Stop."""
        self.stop()


def add_kubelet(cluster: Cluster) -> Kubelet:
    """Give a cluster a scheduler and the kubelets of all its nodes."""
    kubelet = Kubelet(cluster)
    scheduler = Scheduler(cluster.machinery, cluster.deletion, cluster.pods)
    cluster.controllers += [scheduler, kubelet]
    return kubelet
