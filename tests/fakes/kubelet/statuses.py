"""The status that a kubelet writes: states of containers, conditions and the phase. Pure."""

from __future__ import annotations

import hashlib
import uuid
from dataclasses import dataclass, field
from typing import Any

Json = dict[str, Any]

# In the order in which a kubelet writes them.
OWN_CONDITIONS = ("PodReadyToStartContainers", "Initialized", "Ready", "ContainersReady")
LOST = "The container could not be located when the pod was terminated"
_NEVER = "1970-01-01T00:00:00Z"


@dataclass
class Container:
    """One container: its spec and its state."""

    spec: Json
    state: Json
    is_ready: bool = False
    is_started: bool = False
    restarts: int = 0
    last: Json = field(default_factory=dict)
    id: str = ""
    # Why the next end comes, when a fault brings it about: reason and exit code.
    fate: tuple[str, int] | None = None

    @property
    def name(self) -> str:
        """Return its name."""
        return str(self.spec["name"])

    @property
    def code(self) -> int | None:
        """Return its exit code once it has ended."""
        ended = self.state.get("terminated")
        return None if ended is None else int(ended["exitCode"])

    def wait(self, reason: str, message: str = "") -> bool:
        """Set why it waits; return whether that is new."""
        state: Json = {"waiting": {"reason": reason} | ({"message": message} if message else {})}
        changed = state != self.state
        if ended := self.state.get("terminated"):
            self.last = {"terminated": ended}
        self.state, self.is_ready, self.is_started = state, False, False
        return changed

    def run(self, now: str, *, is_init: bool) -> None:
        """Note that it runs."""
        self.id = self.id or new_id()
        self.state = {"running": {"startedAt": now}}
        self.is_ready, self.is_started = not is_init, True

    def end(self, code: int, now: str, *, message: str = "", is_init: bool = False) -> None:
        """Note that it ended."""
        reason, code = self.fate or ("Error" if code else "Completed", code)
        ended: Json = {
            "exitCode": code,
            "reason": reason,
            "startedAt": (self.state.get("running") or {}).get("startedAt", _NEVER),
            "finishedAt": now,
            "containerID": f"containerd://{self.id}",
        }
        if message:
            ended["message"] = message
        self.state, self.fate = {"terminated": ended}, None
        self.is_ready, self.is_started = is_init and code == 0, False

    def fail_start(self, words: str, now: str) -> None:
        """Note that the runtime could not start it."""
        self.id, self.fate = new_id(), ("StartError", 128)
        self.state = {}
        self.end(128, now, message=words)

    def vanish(self) -> None:
        """Note that it never ran and never will."""
        ended = {"exitCode": 137, "reason": "ContainerStatusUnknown", "message": LOST}
        self.state = {"terminated": ended | {"startedAt": None, "finishedAt": None}}

    def status(self) -> Json:
        """Return its entry in the pod's status."""
        image = self.spec["image"]
        status: Json = {
            "name": self.name,
            "state": self.state,
            "lastState": self.last,
            "ready": self.is_ready,
            "restartCount": self.restarts,
            "image": image,
            "imageID": image_id(image) if self.id else "",
            "started": self.is_started,
        }
        if self.id:
            status |= {"containerID": f"containerd://{self.id}", "resources": {}}
        return status


def new_id() -> str:
    """Return the name of a new container, as containerd makes them."""
    return uuid.uuid4().hex + uuid.uuid4().hex


def image_id(image: str) -> str:
    """Return the digest of an image: the same name gives the same one."""
    return f"sha256:{hashlib.sha256(image.encode()).hexdigest()}"


@dataclass
class PodStatus:
    """The whole status of one pod, as its kubelet knows it."""

    init: list[Container]
    main: list[Container]
    start_time: str
    host_address: str
    address: str = ""
    has_sandbox: bool = False
    phase: str = "Pending"
    # How the pod ends, as soon as that is sure: PodCompleted or PodFailed.
    outlook: str = ""
    reason: str = ""
    message: str = ""
    disruption: Json | None = None

    @classmethod
    def of(cls, pod: Json, now: str, host_address: str) -> PodStatus:
        """Return the status with which a pod begins."""
        spec = pod["spec"]
        inits = spec.get("initContainers") or ()
        reason = "PodInitializing" if inits else "ContainerCreating"
        state: Json = {"waiting": {"reason": reason}}
        return cls(
            [Container(item, state) for item in inits],
            [Container(item, state) for item in spec["containers"]],
            now,
            host_address,
            host_address if spec.get("hostNetwork") else "",
        )

    def set_running(self) -> None:
        """Set the phase once all containers were started and one runs."""
        states = [item.state for item in self.main]
        if all("waiting" not in state for state in states) and any(
            "running" in state for state in states
        ):
            self.phase = "Running"

    def finish(self, phase: str = "") -> None:
        """Set the last phase; the pod has no sandbox any more."""
        failed = any(item.code != 0 for item in self.main)
        self.phase = phase or ("Failed" if failed else "Succeeded")
        self.outlook = "PodFailed" if self.phase == "Failed" else "PodCompleted"
        self.has_sandbox = False

    def render(self, old: Json, generation: int, now: str) -> Json:
        """Return the status to store: what others wrote in the old one stays."""
        status: Json = dict(old) | {
            "phase": self.phase,
            "observedGeneration": generation,
            "startTime": self.start_time,
            "hostIP": self.host_address,
            "hostIPs": [{"ip": self.host_address}],
            "containerStatuses": [item.status() for item in self.main],
            "conditions": self._merged(old.get("conditions") or [], generation, now),
        }
        if self.init:
            status["initContainerStatuses"] = [item.status() for item in self.init]
        if self.address:
            status |= {"podIP": self.address, "podIPs": [{"ip": self.address}]}
        for key, text in (("reason", self.reason), ("message", self.message)):
            if text:
                status[key] = text
        return status

    def _merged(self, old: list[Json], generation: int, now: str) -> list[Json]:
        known = {item["type"]: item for item in old}
        fresh = self._conditions()
        if "PodScheduled" in known:
            scheduled = known["PodScheduled"]
            fresh.append({k: v for k, v in scheduled.items() if k in ("type", "status")})
        if self.disruption is not None:
            fresh.append(self.disruption)
        merged = []
        for item in fresh:
            before = known.pop(item["type"], {})
            same = before.get("status") == item["status"]
            moment = before.get("lastTransitionTime", now) if same else now
            times = {"lastProbeTime": None, "lastTransitionTime": moment}
            merged.append(item | {"observedGeneration": generation} | times)
        return merged + list(known.values())

    def _conditions(self) -> list[Json]:
        unready = [item.name for item in self.main if not item.is_ready]
        ready: Json = {"status": "True"}
        if self.outlook:
            ready = {"status": "False", "reason": self.outlook}
        elif unready:
            words = f"containers with unready status: [{' '.join(unready)}]"
            ready = {"status": "False", "reason": "ContainersNotReady", "message": words}
        sandbox = {"status": "True" if self.has_sandbox else "False"}
        states = (sandbox, self._initialized(), ready, ready)
        return [
            {"type": type_} | state for type_, state in zip(OWN_CONDITIONS, states, strict=True)
        ]

    def _initialized(self) -> Json:
        if self.outlook == "PodCompleted":
            return {"status": "True", "reason": "PodCompleted"}
        if open_ := [item.name for item in self.init if item.code != 0]:
            words = f"containers with incomplete status: [{' '.join(open_)}]"
            return {"status": "False", "reason": "ContainersNotInitialized", "message": words}
        return {"status": "True"}
