"""How a pod's containers start: image, configuration, process; and what comes of failures."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from .environment import ConfigError
from .images import ImageError
from .launch import process_spec
from .process import Process, StartError
from .statuses import Container

if TYPE_CHECKING:
    from .pods import PodWorker

Json = dict[str, Any]

LONGEST_BACKOFF_S = 10.0


class Starter:
    """Starts the containers of one pod."""

    def __init__(self, worker: PodWorker) -> None:
        self.worker, self.kubelet = worker, worker.kubelet

    def start(self, container: Container, *, is_init: bool = False) -> None:
        """Start a container, however often that takes."""
        delay = self.kubelet.backoff_seconds
        while True:
            try:
                self._start_once(container, is_init=is_init)
                return
            except ImageError as error:
                self._say_failure(container, error)
            except ConfigError as error:
                self._event("Warning", "Failed", f"Error: {error}")
                if container.wait("CreateContainerConfigError", str(error)):
                    self.worker.write()
            except StartError as error:
                words = (
                    "failed to create containerd task: failed to create shim task: OCI runtime "
                    "create failed: runc create failed: unable to start container process: "
                    f"{error}: unknown"
                )
                self._event("Warning", "Failed", f"Error: {words}")
                container.fail_start(words, self.kubelet.store.now())
                return
            self.worker.pause(delay)
            delay = min(2 * delay, LONGEST_BACKOFF_S)

    def _event(self, type_: str, reason: str, message: str) -> None:
        self.worker.event(type_, reason, message)

    def _say_failure(self, container: Container, error: ImageError) -> None:
        image = container.spec["image"]
        if error.is_pull:
            self._event("Warning", "Failed", f'Failed to pull image "{image}": {error.message}')
        elif error.event != "Failed":
            self._event("Warning", error.event, error.message)
        word = error.reason if error.is_pull or error.event != "Failed" else error.message
        self._event("Warning", "Failed", f"Error: {word}")
        if container.wait(error.reason, error.message):
            self.worker.write()
        if error.is_pull:
            words = f'Back-off pulling image "{image}"'
            self.worker.pause(self.kubelet.backoff_seconds)
            self._event("Normal", "BackOff", words)
            self._event("Warning", "Failed", "Error: ImagePullBackOff")
            container.wait("ImagePullBackOff", f"{words}: ErrImagePull: {error.message}")
            self.worker.write()

    def _start_once(self, container: Container, *, is_init: bool) -> None:
        assert self.worker.place is not None
        images, spec = self.kubelet.images, container.spec
        images.check_name(spec)
        image = spec["image"]
        if images.is_pulled(self.worker.pod, spec):
            self._event("Normal", "Pulling", f'Pulling image "{image}"')
            if gate := images.gate(image):
                self.worker.await_gate(gate)
            images.pull(self.worker.pod, spec)
            self._event("Normal", "Pulled", f'Successfully pulled image "{image}"')
        else:
            words = f'Container image "{image}" already present on machine and can be accessed by '
            self._event("Normal", "Pulled", f"{words}the pod")
        process = process_spec(self.worker.place, self.worker.shown(), spec)
        images.check_runtime(spec)
        self._event("Normal", "Created", "Container created")
        self._launch(container, process)
        container.run(self.kubelet.store.now(), is_init=is_init)
        self._event("Normal", "Started", "Container started")
        if is_init:
            self.worker.write()

    def _launch(self, container: Container, spec: Json) -> None:
        logs, name = self.kubelet.cluster.logs, container.name
        if container.restarts:
            logs.rotate(self.worker.uid, name)

        def write(data: bytes) -> None:
            logs.write(self.worker.uid, name, data)

        def end(code: int) -> None:
            logs.end(self.worker.uid, name)
            self.worker.send("exit", (container, code))

        container.id = ""
        self.worker.processes[name] = Process(spec, self.worker.folder, write, end)

    def back_off(self, container: Container) -> None:
        """Note that a container starts again, and wait before it does."""
        container.restarts += 1
        metadata = self.worker.pod["metadata"]
        title = f"{metadata['name']}_{metadata['namespace']}({metadata['uid']})"
        words = f"restarting failed container {container.name} in pod {title}"
        self._event("Warning", "BackOff", f"Back-off {words}")
        container.wait("CrashLoopBackOff", f"back-off 10s {words.replace(' in pod', ' pod')}")
        self.worker.write()
        self.worker.pause(self.kubelet.backoff_seconds)
