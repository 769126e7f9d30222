"""The life of one pod on its node: a thread that starts, watches and ends its containers."""

from __future__ import annotations

import queue
import shutil
import signal
import threading
import time
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from tests.fakes.kubernetes.errors import ApiError

from .launch import Place
from .names import hosts_of
from .process import Process
from .starting import LONGEST_BACKOFF_S, Starter
from .statuses import Container, PodStatus
from .volumes import MountError, Volumes

if TYPE_CHECKING:
    from .kubelet import Kubelet

Json = dict[str, Any]

_MESSAGE_BYTES = 4096


@dataclass
class EndedError(Exception):
    """The pod is to end: with how much grace, and why."""

    grace: float = 0.0
    reason: str = ""
    message: str = ""
    disruption: Json | None = None
    # The pod's object is gone: there is nothing to write to.
    is_gone: bool = False
    # The kubelet itself ends: nothing is written.
    is_silent: bool = False


class PodWorker(threading.Thread):
    """Runs one pod."""

    def __init__(self, kubelet: Kubelet, pod: Json, address: str) -> None:
        metadata = pod["metadata"]
        super().__init__(name=f"pod {metadata['name']}", daemon=True)
        self.kubelet, self.pod = kubelet, pod
        self.place_key = (metadata["namespace"], metadata["name"])
        self.uid, self.node = metadata["uid"], pod["spec"]["nodeName"]
        self.status = PodStatus.of(pod, kubelet.store.now(), kubelet.address_of(self.node))
        self._address = address
        self.inbox: queue.Queue[tuple[str, Any]] = queue.Queue()
        self.processes: dict[str, Process] = {}
        self.folder = kubelet.folder / self.uid
        self.folder.mkdir()
        self.place: Place | None = None
        self._starter = Starter(self)
        self._grace: float | None = None
        self._hosts = ""
        self._deadline: float | None = None
        if seconds := pod["spec"].get("activeDeadlineSeconds"):
            self._deadline = time.monotonic() + seconds

    # --- messages from outside ---

    def send(self, kind: str, value: Any = None) -> None:
        """Leave a message: exit, delete, end, or wake."""
        self.inbox.put((kind, value))

    def tell_deletion(self, grace: float) -> None:
        """Let the pod end with this much grace, unless it already has no more."""
        if self._grace is None or grace < self._grace:
            self._grace = grace
            self.send("end", EndedError(grace))

    def write_hosts(self, text: str) -> None:
        """Show other names in the hosts file, whose mounts keep its inode."""
        if self.place is None or text == self._hosts:
            return
        self._hosts = text
        try:
            with self.place.hosts.open("r+") as file:
                file.write(text)
                file.truncate()
        except FileNotFoundError:
            # The pod has ended meanwhile.
            return

    def container(self, name: str = "") -> Container:
        """Return a container by its name; without one, the first that runs, or the first."""
        items = [*self.status.init, *self.status.main]
        if name:
            return next(item for item in items if item.name == name)
        running = [item for item in items if "running" in item.state]
        return (running or self.status.main)[0]

    def break_container(self, name: str, fate: tuple[str, int] | None) -> None:
        """Kill a container; `fate` is the reason and exit code that its status will show."""
        container = self.container(name)
        container.fate = fate
        if process := self.processes.get(container.name):
            process.signal(signal.SIGKILL)

    def power_off(self) -> None:
        """End all processes at once, as a node does that loses its power."""
        for item in (*self.status.init, *self.status.main):
            if process := self.processes.get(item.name):
                item.fate = ("Unknown", 255)
                process.kill()

    # --- the life ---

    def run(self) -> None:
        """Live until the pod has ended or is gone."""
        try:
            self._live()
        finally:
            for process in tuple(self.processes.values()):
                process.kill()
            shutil.rmtree(self.folder, ignore_errors=True)
            self.kubelet.forget(self)

    def _live(self) -> None:
        try:
            try:
                self.write()
                self._prepare()
                if self._initialize():
                    self._serve()
                self.status.finish()
                self.write()
            except EndedError as end:
                self._terminate(end)
            self._remove_if_deleted()
        except EndedError:
            # The pod or its kubelet is gone.
            return

    def _prepare(self) -> None:
        """Mount the volumes and make the sandbox."""
        self.kubelet.wait_for_volumes(self)
        folder = self.folder / "volumes"
        claims = self.kubelet.folder / "claims"
        cluster = self.kubelet.cluster
        delay = self.kubelet.backoff_seconds
        self.status.address = self.status.address or self._address
        volumes = Volumes(cluster, self.shown(), folder, claims, self.kubelet.drivers)
        while True:
            try:
                volumes.mount()
                break
            except MountError as error:
                self.event("Warning", "FailedMount", str(error))
                self.pause(delay)
                delay = min(2 * delay, LONGEST_BACKOFF_S)
        kubelet = self.kubelet
        place = Place(
            cluster,
            self.folder,
            volumes,
            kubelet.is_isolated,
            kubelet.image_paths,
            kubelet.images.contents,
            kubelet.memlock_bytes,
        )
        place.hosts.write_text(hosts_of(cluster.store, self.pod, self.status.address))
        place.hosts.chmod(0o644)
        self.place = place
        self.status.has_sandbox = True
        self.write()

    def shown(self) -> Json:
        """Return the pod as volumes and variables show it: as it is now, with its address."""
        address, host = self.status.address, self.status.host_address
        addresses = {"podIP": address, "podIPs": [{"ip": address}], "hostIP": host}
        return self.pod | {"status": self.pod["status"] | addresses}

    def _initialize(self) -> bool:
        """Run the init containers, one after the other; return whether all succeeded."""
        for container in self.status.init:
            while container.code != 0:
                self._starter.start(container, is_init=True)
                while "running" in container.state:
                    self._take(is_init=True)
                if container.code == 0:
                    break
                if self.pod["spec"]["restartPolicy"] == "Never":
                    self.status.outlook = "PodFailed"
                    self.write()
                    return False
                self.write()
                self._starter.back_off(container)
            self.write()
        return True

    def _serve(self) -> None:
        """Run the main containers until all have ended for good."""
        for container in self.status.main:
            self._starter.start(container)
        self.status.set_running()
        self._look_ahead()
        self.write()
        while True:
            again = [item for item in self.status.main if self._is_restarted(item)]
            for container in again:
                self._starter.back_off(container)
                self._starter.start(container)
                self.status.set_running()
                self.write()
            if self.status.outlook:
                return
            if not again:
                self._take()
                self._look_ahead()
                self.write()

    def _is_restarted(self, container: Container) -> bool:
        policy = self.pod["spec"]["restartPolicy"]
        failed = policy == "OnFailure" and container.code != 0
        return container.code is not None and (policy == "Always" or failed)

    def _look_ahead(self) -> None:
        """Note how the pod ends as soon as all its containers have."""
        items = self.status.main
        if any(item.code is None or self._is_restarted(item) for item in items):
            return
        failed = any(item.code != 0 for item in items)
        self.status.outlook = "PodFailed" if failed else "PodCompleted"

    # --- waiting ---

    def _take(self, seconds: float | None = None, *, is_init: bool = False) -> str:
        """Wait for one message and obey it; returns its kind, or nothing after the seconds."""
        if self._deadline is not None:
            left = max(0.0, self._deadline - time.monotonic())
            seconds = left if seconds is None else min(seconds, left)
        try:
            kind, value = self.inbox.get(timeout=seconds)
        except queue.Empty:
            kind, value = "", None
        self.kubelet.wait_for_node(self.node)
        if kind == "exit":
            self._note_exit(*value, is_init=is_init)
        elif kind == "end":
            raise value
        if self._deadline is not None and time.monotonic() >= self._deadline:
            self._deadline = None
            words = "Pod was active on the node longer than the specified deadline"
            grace = self.pod["spec"]["terminationGracePeriodSeconds"]
            raise EndedError(grace, "DeadlineExceeded", words)
        return kind

    def pause(self, seconds: float) -> None:
        """Wait unless something wakes the worker."""
        end = time.monotonic() + seconds
        while (left := end - time.monotonic()) > 0:
            if self._take(left) == "wake":
                return

    def await_gate(self, gate: threading.Event) -> None:
        """Wait for a gate; a message of its opening may come late, so it is looked at too."""
        while not gate.is_set():
            self._take(0.05)

    def _note_exit(self, container: Container, code: int, *, is_init: bool = False) -> None:
        self.processes.pop(container.name, None)
        assert self.place is not None
        path = self.place.termination_log(container.spec)
        text = _tail(path)
        if not text and code and container.spec.get("terminationMessagePolicy") != "File":
            log = self.kubelet.cluster.logs.of(self.uid, container.name)
            text = b"".join(data for _, data in log.chunks).decode(errors="replace") if log else ""
        container.end(
            code, self.kubelet.store.now(), message=text[-_MESSAGE_BYTES:], is_init=is_init
        )

    # --- the end ---

    def _terminate(self, end: EndedError) -> None:
        """End the containers, with grace, and write the last status."""
        if end.is_silent:
            raise end
        if self.processes and not end.is_gone and not end.reason:
            self.write()
        self._end_containers(end)
        if end.is_gone:
            raise end
        self.status.reason, self.status.message = end.reason, end.message
        self.status.disruption = end.disruption
        for item in (*self.status.init, *self.status.main):
            if "waiting" in item.state:
                item.vanish()
        self.status.finish("Failed" if end.reason else "")
        self.write()

    def _end_containers(self, end: EndedError) -> None:
        inits = {item.name for item in self.status.init}
        for name, process in self.processes.items():
            self.event("Normal", "Killing", f"Stopping container {name}")
            process.signal(signal.SIGTERM if end.grace > 0 else signal.SIGKILL)
        limit = time.monotonic() + end.grace
        is_killed = end.grace <= 0
        while self.processes:
            left = None if is_killed else max(0.0, limit - time.monotonic())
            try:
                kind = self._take(left, is_init=bool(inits & set(self.processes)))
            except EndedError as other:
                if other.is_silent:
                    raise
                end.is_gone = end.is_gone or other.is_gone
                limit, kind = min(limit, time.monotonic() + other.grace), "end"
            if not kind and not is_killed and time.monotonic() >= limit:
                is_killed = True
                for process in self.processes.values():
                    process.signal(signal.SIGKILL)

    def _remove_if_deleted(self) -> None:
        """Let the object of a deleted pod go, after its volumes."""
        if not self.pod["metadata"].get("deletionTimestamp"):
            return
        self.kubelet.wait_for_removal()
        cluster, (namespace, name) = self.kubelet.cluster, self.place_key
        body = {"gracePeriodSeconds": 0, "preconditions": {"uid": self.uid}}
        try:
            cluster.deletion.delete(cluster.pods.resource, namespace, name, body)
        except ApiError as failure:
            if failure.code not in (404, 409):
                raise

    # --- writing ---

    def event(self, type_: str, reason: str, message: str) -> None:
        """Write an Event about the pod."""
        self.kubelet.wait_for_node(self.node)
        if not self.kubelet.is_stopped:
            pods = self.kubelet.cluster.pods.resource
            self.kubelet.recorder.record(pods, self.pod, type_, reason, message)

    def write(self) -> None:
        """Store the status; raise EndedError when the pod is gone."""
        self.kubelet.wait_for_node(self.node)
        if self.kubelet.is_stopped:
            raise EndedError(is_silent=True)
        cluster = self.kubelet.cluster

        def change(old: Json) -> Json:
            if old["metadata"]["uid"] != self.uid:
                raise ApiError(404, "another pod", "NotFound")
            generation = old["metadata"].get("generation", 1)
            now = self.kubelet.store.now()
            return old | {"status": self.status.render(old["status"], generation, now)}

        try:
            resource = cluster.pods.resource
            self.pod = cluster.machinery.replace(resource, self.place_key, change, None, "status")
        except ApiError as failure:
            if failure.code != 404:
                raise
            raise EndedError(is_gone=True) from failure


def _tail(path: Path) -> str:
    data = path.read_bytes() if path.exists() else b""
    return data[-_MESSAGE_BYTES:].decode(errors="replace")
