"""The common part of controllers: a queue of names with delays, one thread and events."""

from __future__ import annotations

import heapq
import threading
import time
from collections.abc import Callable
from typing import Any

from ..deletion import Deletion
from ..errors import ApiError
from ..machinery import Machinery
from ..resources import Resource
from ..store import Event

Json = dict[str, Any]
Key = tuple[str, ...]


class Recorder:
    """Writes Events; equal ones are counted in one object."""

    def __init__(self, machinery: Machinery, component: str) -> None:
        self.machinery = machinery
        self.component = component
        self.resource = machinery.kind("events.")
        self._known: dict[tuple[str, str, str], str] = {}

    def record(self, resource: Resource, obj: Json, type_: str, reason: str, message: str) -> None:
        """Write an Event about an object."""
        metadata, now = obj["metadata"], self.machinery.store.now()
        namespace = metadata.get("namespace", "default")
        known = (metadata["uid"], reason, message)
        name = self._known.get(known)
        event = name and self.machinery.store.get(self.resource.store_key, namespace, name)
        try:
            if name and event:
                changed = {"count": event["count"] + 1, "lastTimestamp": now}
                self.machinery.replace(self.resource, (namespace, name), lambda old: old | changed)
                return
            # Names in the order of time, as real ones: lists of one second stay in order.
            name = f"{metadata['name']}.{time.time_ns():x}"
            self._known[known] = name
            self.machinery.create(
                self.resource, namespace, self._event(resource, obj, (type_, reason, message), name)
            )
        except ApiError:
            # An event may be lost: its namespace can be gone.
            return

    def _event(self, resource: Resource, obj: Json, words: tuple[str, str, str], name: str) -> Json:
        metadata, now = obj["metadata"], self.machinery.store.now()
        type_, reason, message = words
        involved = {
            "kind": resource.kind,
            "namespace": metadata.get("namespace", ""),
            "name": metadata["name"],
            "uid": metadata["uid"],
            "apiVersion": resource.api_version,
            "resourceVersion": metadata["resourceVersion"],
        }
        return {
            "metadata": {"name": name},
            "involvedObject": involved,
            "reason": reason,
            "message": message,
            "source": {"component": self.component},
            "firstTimestamp": now,
            "lastTimestamp": now,
            "count": 1,
            "type": type_,
            "eventTime": None,
            "reportingComponent": self.component,
            "reportingInstance": "",
        }


class Controller:
    """A loop that brings one object after the other to its state."""

    name = "controller"

    def __init__(self, machinery: Machinery, deletion: Deletion) -> None:
        self.machinery = machinery
        self.store = machinery.store
        self.deletion = deletion
        self.recorder = Recorder(machinery, self.name)
        self._due: dict[Key, float] = {}
        self._heap: list[tuple[float, Key]] = []
        self._condition = threading.Condition()
        # Delays are those of the store's clock: a test moves it and calls `step`.
        self.uses_store_clock = False
        self._stopped = False
        self._busy = False
        self._ends: list[Callable[[], None]] = []
        self._thread = threading.Thread(target=self._run, name=self.name, daemon=True)

    def subscriptions(self) -> list[tuple[str, Callable[[Event], None]]]:
        """Return which kinds the controller listens to."""
        raise NotImplementedError

    def sync(self, key: Key) -> None:
        """Bring one object to its state."""
        raise NotImplementedError

    def enqueue(self, *key: str, after: float = 0.0) -> None:
        """Sync an object, at once or later; the earlier time counts."""
        due = self._now() + after
        with self._condition:
            if self._due.get(key, float("inf")) <= due:
                return
            self._due[key] = due
            heapq.heappush(self._heap, (due, key))
            self._condition.notify()

    def listen(self) -> None:
        """Note what is to be done."""
        for kind, listener in self.subscriptions():
            self._ends.append(self.store.subscribe(kind, listener))

    def start(self) -> None:
        """Listen and work."""
        self.listen()
        self._thread.start()

    def stop(self) -> None:
        """Stop working."""
        for end in self._ends:
            end()
        with self._condition:
            self._stopped = True
            self._condition.notify()
        if self._thread.ident is not None:
            self._thread.join(5)

    def step(self) -> bool:
        """Sync the next object that is due by the store's clock, in the caller's thread.

        For a controller that listens and was not started; returns whether there was one.
        """
        while self._heap and self._heap[0][0] <= self._now():
            due, key = heapq.heappop(self._heap)
            if self._due.get(key) != due:
                continue
            del self._due[key]
            try:
                self.sync(key)
            except ApiError:
                self.enqueue(*key, after=0.02)
            return True
        return False

    def _now(self) -> float:
        return self.store.clock().timestamp() if self.uses_store_clock else time.monotonic()

    def _next(self) -> Key | None:
        with self._condition:
            self._busy = False
            while not self._stopped:
                now = self._now()
                while self._heap:
                    due, key = self._heap[0]
                    if self._due.get(key) != due:
                        heapq.heappop(self._heap)
                        continue
                    if due > now:
                        break
                    heapq.heappop(self._heap)
                    del self._due[key]
                    self._busy = True
                    return key
                wait = self._heap[0][0] - now if self._heap else None
                self._condition.wait(wait)
        return None

    def _run(self) -> None:
        while (key := self._next()) is not None:
            try:
                self.sync(key)
            except ApiError:
                # Another writer came between: the object is read again.
                self.enqueue(*key, after=0.02)


def owner_of(obj: Json) -> Json | None:
    """Return the reference to the controller of an object, or None."""
    for reference in obj["metadata"].get("ownerReferences") or ():
        if reference.get("controller"):
            return dict(reference)
    return None
