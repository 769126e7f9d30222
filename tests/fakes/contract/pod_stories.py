"""Recorded lives of pods beside those of today: statuses, Events and conditions of their Jobs."""

from __future__ import annotations

import json
from collections import defaultdict
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import Any

from tests.fakes.kubelet.playground import Playground
from tests.fakes.kubernetes.patches import copy, merge_patch
from tests.fakes.kubernetes.store import Event

from .stories import merged
from .transcripts import Line

Json = dict[str, Any]
View = tuple[Any, ...]
Happening = tuple[str, str]

REGISTRY = "registry.test"
_FLAGS = ("ready", "started", "restartCount")
_SUFFIX = 6


@dataclass
class PodStory:
    """One scenario; pods are named by their Job and their number among its pods, such as `ok/1`."""

    lines: list[Line]
    # The conditions and fields that the recording kept; a shortened one has few.
    kinds: set[str] = field(default_factory=set)
    flags: set[str] = field(default_factory=set)
    recorded: dict[str, list[View]] = field(default_factory=lambda: defaultdict(list))
    today: dict[str, list[View]] = field(default_factory=lambda: defaultdict(list))
    pods: dict[str, Json] = field(default_factory=dict)

    def __post_init__(self) -> None:
        """Read the recording."""
        self._recorded_names: dict[str, str] = {}
        self._recorded_uids: dict[str, str] = {}
        lives = list(self._recorded_lives())
        for _, obj in lives:
            status = obj.get("status") or {}
            self.kinds |= {item["type"] for item in status.get("conditions") or ()}
            for item in status.get("containerStatuses") or ():
                self.flags |= set(_FLAGS) & set(item)
        for title, obj in lives:
            _add(self.recorded[title], self._view(obj, title, recorded=True))

    # --- as it was recorded ---

    def _stream(self, kind: str) -> list[Json]:
        return [
            event
            for line in self.lines
            if line.is_watch and line.path.endswith(f"/{kind}")
            for event in line.stream
        ]

    def _recorded_lives(self) -> Iterator[tuple[str, Json]]:
        objects: dict[str, Json] = {}
        for event in self._stream("pods"):
            name = event.get("name") or event["object"]["metadata"]["name"]
            if "object" in event:
                objects[name] = event["object"]
            else:
                objects[name] = merged(objects[name], event)
            if name not in self._recorded_names:
                job = name[:-_SUFFIX].rpartition("-")[0]
                number = sum(title.startswith(f"{job}/") for title in self._recorded_names.values())
                self._recorded_names[name] = f"{job}/{number + 1}"
                self._recorded_uids[name] = objects[name]["metadata"].get("uid", "")
            is_gone = event.get("type") == "DELETED"
            yield self._recorded_names[name], objects[name] | ({"gone": True} if is_gone else {})

    def recorded_events(self) -> dict[str, list[Happening]]:
        """Return reason and message of the Events about each pod, repeats left out."""
        result: dict[str, list[Happening]] = defaultdict(list)
        for event in self._stream("events"):
            obj = event.get("object") or event.get("merge") or {}
            about = obj.get("involvedObject") or {}
            if about.get("kind") == "Pod":
                title = self._recorded_names[about["name"]]
                _once(result[title], (obj["reason"], self._words(obj["message"], title, True)))
        return result

    def recorded_conditions(self) -> dict[str, list[View]]:
        """Return the conditions of each Job in the order in which they came."""
        result: dict[str, list[View]] = defaultdict(list)
        for event in self._stream("jobs"):
            obj = event.get("object") or event.get("merge") or {}
            name = event.get("name") or obj["metadata"]["name"]
            for item in (obj.get("status") or {}).get("conditions") or ():
                _once(result[name], self._condition(item, name, recorded=True))
        return result

    def _condition(self, item: Json, job: str, *, recorded: bool) -> View:
        words = self._words(item.get("message", ""), f"{job}/1", recorded)
        return item["type"], item["status"], item.get("reason", ""), words

    # --- as it goes now ---

    @contextmanager
    def watch(self, ground: Playground) -> Iterator[None]:
        """Note all pods of the scenario's namespace while it is played."""
        namespace = self.lines[0].scenario

        def note(event: Event) -> None:
            if event.after is None or event.place[0] != namespace:
                return
            pod = event.after.obj
            job = pod["metadata"]["ownerReferences"][0]["name"]
            title = next((t for t, known in self.pods.items() if _same(known, pod)), "")
            if not title:
                title = f"{job}/{sum(one.startswith(f'{job}/') for one in self.pods) + 1}"
            self.pods[title] = pod
            shown = pod | ({"gone": True} if event.type == "DELETED" else {})
            _add(self.today[title], self._view(shown, title, recorded=False))

        end = ground.cluster.store.subscribe("pods.", note)
        try:
            yield
        finally:
            end()

    def body(self, job: str) -> Json:
        """Return the body with which a Job was made, its registry replaced."""
        (line,) = [
            line
            for line in self.lines
            if line.method == "POST" and line.path.endswith("/jobs") and line.body
            if line.body["metadata"]["name"] == job
        ]
        return dict(json.loads(json.dumps(copy(line.body)).replace("<registry>", REGISTRY)))

    def body_of_any(self) -> Json:
        """Return the body of the Jobs that a story of many tries made."""
        (line,) = [line for line in self.lines if line.body]
        return dict(copy(line.body))

    def events_of(self, ground: Playground, title: str) -> list[Happening]:
        """Return reason and message of the Events about a pod of today, repeats left out."""
        result: list[Happening] = []
        for reason, message in ground.events(self.pods[title]):
            if reason != "Scheduled":
                _once(result, (reason, self._words(message, title, False)))
        return result

    def conditions_of(self, ground: Playground, job: str) -> list[View]:
        """Return the conditions of a Job of today."""
        stored = ground.cluster.store.get("jobs.batch", self.lines[0].scenario, job) or {}
        rows = (stored.get("status") or {}).get("conditions") or ()
        return [self._condition(item, job, recorded=False) for item in rows]

    # --- both ---

    def _words(self, text: str, title: str, recorded: bool) -> str:
        """Return a message with the names of the pod taken out."""
        if not recorded:
            metadata = self.pods[title]["metadata"]
            return text.replace(metadata["name"], "<pod>").replace(metadata["uid"], "<uid>")
        name = next(name for name, known in self._recorded_names.items() if known == title)
        text = text.replace("<registry>", REGISTRY).replace(name, "<pod>")
        uid = self._recorded_uids[name]
        return text.replace(uid, "<uid>") if uid else text

    def _view(self, pod: Json, title: str, *, recorded: bool) -> View:
        """Return what is compared of a pod at one moment."""
        if pod.get("gone"):
            return ("gone",)
        status, metadata = pod.get("status") or {}, pod["metadata"]
        conditions = tuple(
            sorted(
                (item["type"], item["status"], item.get("reason", ""),
                 self._words(item.get("message") or "", title, recorded))
                for item in status.get("conditions") or ()
                if item["type"] in self.kinds
            )
        )  # fmt: skip
        containers = tuple(
            self._container(item, title, recorded)
            for key in ("initContainerStatuses", "containerStatuses")
            for item in status.get(key) or ()
        )
        return (
            status.get("phase"),
            bool((pod.get("spec") or {}).get("nodeName")),
            metadata.get("deletionGracePeriodSeconds"),
            conditions,
            containers,
        )

    def _container(self, item: Json, title: str, recorded: bool) -> View:
        kind, state = next(iter(item["state"].items()))
        words = self._words(state.get("message") or "", title, recorded)
        flags = tuple(item.get(flag) for flag in _FLAGS if flag in self.flags)
        return item["name"], kind, state.get("reason"), state.get("exitCode"), words, flags


def _same(one: Json, other: Json) -> bool:
    return bool(one["metadata"]["uid"] == other["metadata"]["uid"])


def _add(views: list[View], view: View) -> None:
    """Add a view unless nothing that is compared has changed."""
    if not views or views[-1] != view:
        views.append(view)


def _once(items: list[Any], item: Any) -> None:
    if item not in items:
        items.append(item)


def script(body: Json, text: str) -> Json:
    """Return a Job's body whose container runs another script."""
    changed = copy(body)
    changed["spec"]["template"]["spec"]["containers"][0]["command"] = ["sh", "-c", text]
    return dict(merge_patch(body, changed))
