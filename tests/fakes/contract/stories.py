"""Plays a recorded story of Jobs: requests, a scheduler and a kubelet by hand, in their order."""

from __future__ import annotations

import re
import time
from collections import defaultdict
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from tests.fakes.kubernetes.cluster import Cluster
from tests.fakes.kubernetes.patches import copy, merge_patch, strategic_merge
from tests.fakes.kubernetes.store import Event

from .replay import Replay
from .transcripts import Line

Json = dict[str, Any]
State = tuple[str, bool, bool, tuple[tuple[str, Any], ...]]

_PATIENCE = 2.0
_SUFFIX = 5
_NEVER_MADE = re.compile(r'pods "([a-z0-9-]+-)[a-z0-9]{5}" is forbidden')


@dataclass
class Story:
    """One scenario, as it was recorded and as it goes now."""

    replay: Replay
    lines: list[Line]
    # The status of a running pod, as the first story shows it whole.
    running: Json
    jobs: dict[str, list[State]] = field(default_factory=lambda: defaultdict(list))
    pods: dict[str, list[str]] = field(default_factory=lambda: defaultdict(list))
    events: list[tuple[str, str, str]] = field(default_factory=list)

    @property
    def cluster(self) -> Cluster:
        """Return the stand-in."""
        assert self.replay.world.cluster is not None
        return self.replay.world.cluster

    @property
    def namespace(self) -> str:
        """Return the story's namespace."""
        return self.lines[0].scenario

    def _stream(self, kind: str) -> list[Json]:
        return [
            event
            for line in self.lines
            if line.is_watch and line.path.endswith(f"/{kind}")
            for event in line.stream
        ]

    # --- as it was recorded ---

    def recorded_states(self) -> dict[str, list[State]]:
        """Return the states of each Job, in their order."""
        objects: dict[str, Json] = {}
        states: dict[str, list[State]] = defaultdict(list)
        for event in self._stream("jobs"):
            name = event.get("name") or event["object"]["metadata"]["name"]
            if "object" in event:
                objects[name] = event["object"]
            else:
                objects[name] = merged(objects[name], event)
            type_ = event.get("type", "MODIFIED")
            states[name].append(_state(type_, objects[name], self.replay.names.text))
        return states

    @property
    def is_watched(self) -> bool:
        """Return whether the recorder watched the Jobs."""
        return any(line.is_watch and line.path.endswith("/jobs") for line in self.lines)

    def recorded_events(self) -> list[tuple[str, str, str]]:
        """Return the Events about Jobs: how often seen, reason and message."""
        result: list[tuple[str, str, str]] = []
        for event in self._stream("events"):
            obj = event.get("object") or event.get("merge") or {}
            if (obj.get("involvedObject") or {}).get("kind") == "Job":
                message = self.replay.names.text(obj["message"])
                result.append((event.get("type", "MODIFIED"), obj["reason"], message))
        return result

    # --- as it goes now ---

    def play(self) -> None:
        """Play all steps."""
        store = self.cluster.store
        ends = [
            store.subscribe("jobs.batch", self._job),
            store.subscribe("pods.", self._pod),
            store.subscribe("events.", self._happened),
        ]
        try:
            for _moment, _order, step in sorted(self._steps(), key=lambda item: item[:2]):
                step()
            self._settle()
        finally:
            for end in ends:
                end()

    def _job(self, event: Event) -> None:
        if event.place[0] == self.namespace and event.after is not None:
            self.jobs[event.place[1]].append(_state(event.type, event.after.obj))

    def _pod(self, event: Event) -> None:
        if event.place[0] == self.namespace and event.type == "ADDED":
            self.pods[event.place[1][:-_SUFFIX]].append(event.place[1])

    def _happened(self, event: Event) -> None:
        obj = event.after.obj if event.after else {}
        if event.place[0] == self.namespace and obj["involvedObject"]["kind"] == "Job":
            self.events.append((event.type, obj["reason"], obj["message"]))

    def _steps(self) -> list[tuple[float, int, Any]]:
        steps: list[tuple[float, int, Any]] = []
        for line in self.lines:
            if not line.is_watch:
                moment = float(line.raw.get("t") or 0)
                steps.append((moment, 3, partial(self._request, line)))
        counts: dict[str, int] = defaultdict(int)
        for event in self._stream("jobs"):
            name = event.get("name") or event["object"]["metadata"]["name"]
            counts[name] += 1
            wait = partial(self._wait_job, name, counts[name])
            steps.append((event["t"], 1, wait))
        seen: dict[str, list[str]] = defaultdict(list)
        made: dict[str, float] = {}
        for event in self._stream("pods"):
            steps += self._pod_steps(event, seen, made)
        return steps

    def _pod_steps(
        self, event: Json, seen: dict[str, list[str]], made: dict[str, float]
    ) -> list[tuple[float, int, Any]]:
        obj = event.get("object") or event.get("merge") or {}
        name = event.get("name") or obj["metadata"]["name"]
        moment = float(event["t"])
        if event.get("type") == "ADDED":
            prefix = name[:-_SUFFIX]
            seen[prefix].append(name)
            made[name] = moment
            return [(moment, 0, partial(self._wait_pod, name, prefix, len(seen[prefix])))]
        # The watch saw these steps later than they were done, and later than the next began.
        moment = made[name] if moment - made.get(name, 0) < 1 else moment
        if node := (obj.get("spec") or {}).get("nodeName"):
            made[name] = moment
            return [(moment, 1, partial(self._bind, name, node))]
        if (obj.get("status") or {}).get("phase") == "Running":
            return [(moment, 2, partial(self._run, name))]
        return []

    def _request(self, line: Line) -> None:
        self.replay.run([line])

    def _bind(self, name: str, node: str) -> None:
        self.cluster.pods.bind(self.namespace, self.replay.names.text(name), node)

    def _run(self, name: str) -> None:
        def change(old: Json) -> Json:
            return dict(strategic_merge(old, {"status": copy(self.running)}))

        place = (self.namespace, self.replay.names.text(name))
        pods = self.cluster.machinery.kind("pods.")
        self.cluster.machinery.replace(pods, place, change, None, "status")

    def _wait_pod(self, name: str, prefix: str, number: int) -> None:
        if _until(lambda: len(self.pods[prefix]) >= number):
            self.replay.names.texts[name] = self.pods[prefix][number - 1]
        else:
            self.replay.faults.append(f"{self.namespace}: pod {number} of {prefix} never came")

    def _wait_job(self, name: str, number: int) -> None:
        _until(lambda: len(self.jobs[name]) >= number)

    def _settle(self) -> None:
        last = -1
        while last != self.cluster.store.version:
            last = self.cluster.store.version
            time.sleep(2 * self.cluster.jobs.batch_seconds + 0.05)


def _until(test: Any) -> bool:
    end = time.monotonic() + _PATIENCE
    while not test():
        if time.monotonic() > end:
            return False
        time.sleep(0.005)
    return True


def merged(obj: Json, event: Json) -> Json:
    merge = event.get("merge") or {}
    changed = (merge.get("status") or {}).get("conditions")
    before = (obj.get("status") or {}).get("conditions") or []
    obj = merge_patch(obj, merge)
    if changed is not None:
        known = {item["type"]: item for item in before}
        known |= {item["type"]: item for item in changed}
        gone = set(event.get("conditions_removed") or ())
        left = [item for type_, item in known.items() if type_ not in gone]
        obj = obj | {"status": obj["status"] | {"conditions": left}}
    return obj


def _state(type_: str, job: Json, text: Any = str) -> State:
    status = dict(job.get("status") or {})
    conditions = [
        (item["type"], item["status"], item.get("reason"), text(item.get("message", "")))
        for item in status.pop("conditions", None) or ()
    ]
    uncounted = status.pop("uncountedTerminatedPods", None)
    for key in ("startTime", "completionTime"):
        if key in status:
            status[key] = "a time"
    if uncounted is not None:
        status["uncounted"] = {key: len(uids) for key, uids in uncounted.items()}
    status["conditions"] = conditions
    deleted = bool(job["metadata"].get("deletionTimestamp"))
    return type_, bool(job["spec"].get("suspend")), deleted, tuple(sorted(status.items()))


def in_order(events: list[tuple[str, str, str]]) -> list[tuple[str, str, str]]:
    """Return Events in one order where the real server's is chance."""
    result: list[tuple[str, str, str]] = []
    for type_, reason, message in events:
        item = (type_, reason, _NEVER_MADE.sub(r'pods "\1…" is forbidden', message))
        # How often a refused pod is tried again depends on time alone.
        if reason == "FailedCreate" and item in result:
            continue
        result.append(item)
    groups: list[list[tuple[str, str, str]]] = []
    for item in result:
        if groups and groups[-1][0][1] == item[1]:
            groups[-1].append(item)
        else:
            groups.append([item])
    return [item for group in groups for item in sorted(group)]
