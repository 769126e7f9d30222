"""Replays a transcript in its order, and counts what was compared."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from .comparing import Names, differences
from .not_compared import NOT_COMPARED, ONLY_HERE
from .transcripts import Line
from .worlds import Reply, World

Json = dict[str, Any]

# Controllers work beside the server, so a read is repeated for a while; long enough for a busy
# machine, since only a fault lasts as long.
_PATIENCE = 10.0
_HEADERS = ("Warning", "Retry-After")
# The kinds that the second recording shortened nearly everywhere.
_WHOLE = {"Status"}


@dataclass
class Replay:
    """One transcript against one server."""

    world: World
    names: Names = field(default_factory=Names)
    compared: int = 0
    # Answers that only the stand-in can be made to give.
    left_out: int = 0
    faults: list[str] = field(default_factory=list)
    # Steps of the recorder that no line shows, by the note of the line that follows.
    before: dict[str, Callable[[], None]] = field(default_factory=dict)
    meanwhile: dict[str, Callable[[], None]] = field(default_factory=dict)
    headers: dict[str, Callable[[], dict[str, str]]] = field(default_factory=dict)
    # The second recording is shortened.
    part: bool = False
    # Recorded watches ran longer than a test should; by the note, where two seconds are too few.
    seconds: dict[str, str] = field(default_factory=dict)

    def run(self, lines: list[Line]) -> None:
        """Replay lines in order."""
        for line in lines:
            if step := self.before.get(line.note):
                step()
            if line.is_by_hand and line.method:
                self.send(line)
            elif line.is_by_hand:
                self.by_hand(line.raw)
            elif line.method:
                self._line(line)

    def _line(self, line: Line) -> None:
        if self.world.is_real and line.note.startswith(ONLY_HERE):
            self.left_out += 1
            return
        skipped = line.key in NOT_COMPARED
        if line.is_watch:
            if not skipped:
                self._watch(line)
            return
        if line.method == "PATCH" and not skipped:
            self._await_status(line)
        end = time.monotonic() + (0 if skipped else _PATIENCE)
        while True:
            reply = self.send(line)
            faults = self._compare(line, reply)
            if not faults or line.method != "GET" or time.monotonic() > end:
                break
            time.sleep(0.05)
        if not skipped:
            self.compared += 1
            self.faults += [f"{line.file}:{line.number + 1} {line.note}: {it}" for it in faults]

    def _await_status(self, line: Line) -> None:
        """Wait until controllers have counted what the recorded answer to a write shows.

        A write cannot be repeated as a read is, and its answer has the status of that moment.
        """
        status = line.response.get("status") if isinstance(line.response, dict) else None
        counts = {
            key: value
            for key, value in (status if isinstance(status, dict) else {}).items()
            if isinstance(value, int)
        }
        if not counts or line.path.endswith("/status"):
            return

        def is_there(body: Json) -> bool:
            now = body.get("status") or {}
            return all(now.get(key) == value for key, value in counts.items())

        path = self.names.text(line.path)
        end = time.monotonic() + _PATIENCE
        while not is_there(self.world.ask("GET", path).body) and time.monotonic() < end:
            time.sleep(0.02)

    def send(self, line: Line) -> Reply:
        """Send a recorded request with the names of today."""
        query = {
            key: self.names.versions.get(value, value)
            if key == "resourceVersion"
            else self.names.text(value)
            for key, value in line.query.items()
        }
        if "continue" in query:
            query["continue"] = self.names.texts.get(line.query["continue"], query["continue"])
        headers = self.headers.get(line.note)
        return self.world.ask(
            line.method,
            self.names.text(line.path),
            self.names.today(line.body),
            query=query,
            content_type=line.content_type,
            headers=headers() if headers else self.world.credentials(line.user),
        )

    def _compare(self, line: Line, reply: Reply) -> list[str]:
        if reply.status != line.status:
            return [
                f"status {line.status} was recorded, now {reply.status}: {reply.content[:900]!r}"
            ]
        faults = [
            f"header {name}: {line.headers[name]!r} was recorded, now {reply.headers.get(name)!r}"
            for name in _HEADERS
            if name in line.headers
            and self.names.text(line.headers[name]) != reply.headers.get(name)
        ]
        if "response_text" in line.raw:
            text = reply.content.decode()
            same = text == self.names.text(line.raw["response_text"])
            return faults if same else [*faults, f"text: {text!r}"]
        if line.response is None:
            return faults
        return faults + self.match(line.response, reply.body)

    def match(self, recorded: Json, actual: Any) -> list[str]:
        """Compare one object and note its names."""
        self.names.learn(recorded, actual)
        token = (recorded.get("metadata") or {}).get("continue")
        if token and isinstance(actual, dict):
            self.names.texts[token] = actual["metadata"].get("continue", "")
        part = self.part and recorded.get("kind") not in _WHOLE
        return differences(recorded, actual, self.names, part=part)

    def _watch(self, line: Line) -> None:
        query = dict(line.query)
        if "resourceVersion" in query:
            known = self.names.versions.get(query["resourceVersion"])
            query["resourceVersion"] = known or query["resourceVersion"]
        query["timeoutSeconds"] = self.seconds.get(line.note, "2")
        nothing: Callable[[], None] = lambda: None  # noqa: E731
        events = self.world.watch(
            self.names.text(line.path),
            query,
            self.meanwhile.get(line.note, nothing),
            whole=line.note in self.seconds,
        )
        self.compared += 1
        faults = []
        if [event["type"] for event in line.stream] != [event["type"] for event in events]:
            faults.append(f"events {[event['type'] for event in events]}")
        else:
            for old, new in zip(line.stream, events, strict=True):
                faults += self.match(old["object"], new["object"])
        self.faults += [f"{line.file}:{line.number + 1} {line.note}: {it}" for it in faults]

    # --- in the place of a kubelet and a scheduler ---

    def by_hand(self, raw: Json) -> None:
        """Do what the recorder did in the place of a kubelet."""
        namespace = raw.get("namespace") or raw.get("scenario", "")
        if removed := raw.get("removes"):
            path = f"/api/v1/namespaces/{namespace}/pods/{self.names.text(removed)}"
            self.world.ask("DELETE", path, {"gracePeriodSeconds": 0})
        elif sets := raw.get("sets"):
            status = dict(sets)
            name = self.names.text(status.pop("pod"))
            path = f"/api/v1/namespaces/{namespace}/pods/{name}/status"
            self.world.ask(
                "PATCH",
                path,
                {"status": _ended(self.names.today(status))},
                content_type="application/strategic-merge-patch+json",
            )

    def bind(self, namespace: str, name: str, node: str) -> None:
        """Put a pod on a node, as the scheduler did."""
        body = {
            "apiVersion": "v1",
            "kind": "Binding",
            "metadata": {"name": name},
            "target": {"apiVersion": "v1", "kind": "Node", "name": node},
        }
        self.world.ask("POST", f"/api/v1/namespaces/{namespace}/pods/{name}/binding", body)

    def wait_for(self, path: str, test: Callable[[Json], bool]) -> Json:
        """Return what a path answers once it passes a test."""
        end = time.monotonic() + _PATIENCE
        while True:
            body: Json = self.world.ask("GET", path).body
            if test(body):
                return body
            if time.monotonic() > end:
                raise AssertionError(f"{path} does not come to what the test needs: {body}")
            time.sleep(0.02)


def _ended(status: Json) -> Json:
    """Return a shortened status with the rest of what a kubelet writes at the end of a pod."""
    if status.get("phase") not in ("Failed", "Succeeded"):
        return status
    reason = "PodFailed" if status["phase"] == "Failed" else "PodCompleted"
    ended = [
        {"type": "PodReadyToStartContainers", "status": "False"},
        {"type": "Ready", "status": "False", "reason": reason},
        {"type": "ContainersReady", "status": "False", "reason": reason},
    ]
    rest = {"ready": False, "started": False, "restartCount": 0, "image": "train:1"}
    items = [
        item | rest | {"imageID": "<image id>", "state": {"running": None} | item["state"]}
        for item in status.get("containerStatuses") or ()
    ]
    conditions = [*ended, *(status.get("conditions") or ())]
    return status | {"conditions": conditions} | ({"containerStatuses": items} if items else {})
