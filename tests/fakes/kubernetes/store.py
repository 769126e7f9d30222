"""Objects, one counter of resourceVersion and the log of events.

A stored object never changes in place: each write stores a new one. So reads copy nothing, and
readers change nothing.
"""

from __future__ import annotations

import json
import threading
from bisect import bisect_right
from collections.abc import Callable, Iterator
from datetime import UTC, datetime
from typing import Any

Json = dict[str, Any]
Place = tuple[str, str]

_NAMING = ("kind", "apiVersion")
# A cache of watches is never complete: older events are dropped in steps.
EVENTS_KEPT = 100_000


def timestamp(moment: datetime) -> str:
    """Return a time as the API writes it, in whole seconds."""
    return moment.astimezone(UTC).strftime("%Y-%m-%dT%H:%M:%SZ")


def parse_time(text: str) -> datetime:
    """Return the time that the API wrote."""
    return datetime.fromisoformat(text.replace("Z", "+00:00"))


class Entry:
    """One stored version of an object, with its text made at most once."""

    __slots__ = ("_item", "_text", "obj", "version")

    def __init__(self, obj: Json, version: int) -> None:
        self.obj = obj
        self.version = version
        self._text: bytes | None = None
        self._item: bytes | None = None

    @property
    def item(self) -> bytes:
        """Return the object as lists of built-in kinds carry it: without its kind."""
        if self._item is None:
            own = {key: value for key, value in self.obj.items() if key not in _NAMING}
            self._item = encode(own)
        return self._item

    @property
    def text(self) -> bytes:
        """Return the object as JSON."""
        if self._text is None:
            self._text = encode(self.obj)
        return self._text


class Event:
    """One change: its kind, the object after it and the object before it."""

    __slots__ = ("after", "before", "kind", "place", "type", "version")

    def __init__(self, kind: str, type_: str, place: Place, version: int) -> None:
        self.kind = kind
        self.type = type_
        self.place = place
        self.version = version
        self.after: Entry | None = None
        self.before: Entry | None = None


Listener = Callable[[Event], None]


def encode(obj: Any) -> bytes:
    """Return compact JSON."""
    return json.dumps(obj, separators=(",", ":"), ensure_ascii=False).encode()


class Store:
    """All objects of the cluster."""

    def __init__(self, clock: Callable[[], datetime] | None = None) -> None:
        self.lock = threading.RLock()
        self.clock = clock or (lambda: datetime.now(UTC))
        self.version = 100
        # Lists at a version below this answer 410.
        self.compacted = 0
        # Watches from a version below this answer 410.
        self.oldest_event = 0
        self._kinds: dict[str, dict[Place, Entry]] = {}
        self._events: list[Event] = []
        self._versions: list[int] = []
        self._listeners: dict[str, list[Listener]] = {}

    def now(self) -> str:
        """Return the current time as the API writes it."""
        return timestamp(self.clock())

    # --- reads ---

    def entry(self, kind: str, namespace: str, name: str) -> Entry | None:
        """Return the stored version of an object, or None."""
        return self._kinds.get(kind, {}).get((namespace, name))

    def get(self, kind: str, namespace: str, name: str) -> Json | None:
        """Return an object, or None."""
        entry = self.entry(kind, namespace, name)
        return entry.obj if entry else None

    def entries(self, kind: str, namespace: str = "") -> list[tuple[Place, Entry]]:
        """Return the objects of a kind in the order of their names."""
        with self.lock:
            pairs = list(self._kinds.get(kind, {}).items())
        if namespace:
            pairs = [pair for pair in pairs if pair[0][0] == namespace]
        pairs.sort(key=lambda pair: pair[0])
        return pairs

    def objects(self, kind: str, namespace: str = "") -> list[Json]:
        """Return the objects of a kind in the order of their names."""
        return [entry.obj for _place, entry in self.entries(kind, namespace)]

    def entries_at(self, kind: str, version: int, namespace: str = "") -> list[tuple[Place, Entry]]:
        """Return the objects of a kind as they were at a version that is not compacted."""
        with self.lock:
            state = dict(self._kinds.get(kind, {}))
            for event in reversed(self._events):
                if event.version <= version:
                    break
                if event.kind != kind:
                    continue
                if event.before is None:
                    state.pop(event.place, None)
                else:
                    state[event.place] = event.before
        pairs = [pair for pair in state.items() if not namespace or pair[0][0] == namespace]
        pairs.sort(key=lambda pair: pair[0])
        return pairs

    def kinds(self) -> list[str]:
        """Return the kinds that have objects."""
        with self.lock:
            return [kind for kind, entries in self._kinds.items() if entries]

    def events_since(self, kind: str, version: int) -> Iterator[Event]:
        """Yield the events of a kind after a version."""
        start = bisect_right(self._versions, version)
        for event in self._events[start:]:
            if event.kind == kind:
                yield event

    # --- writes ---

    def put(self, kind: str, place: Place, obj: Json) -> Json:
        """Store an object and give it the next resourceVersion."""
        with self.lock:
            entries = self._kinds.setdefault(kind, {})
            before = entries.get(place)
            event = self._next(kind, "MODIFIED" if before else "ADDED", place)
            metadata = obj["metadata"] | {"resourceVersion": str(event.version)}
            entry = Entry(obj | {"metadata": metadata}, event.version)
            entries[place] = entry
            event.before, event.after = before, entry
            self._publish(event)
            return entry.obj

    def remove(self, kind: str, place: Place, last: Json | None = None) -> None:
        """Remove an object; `last` is how its watchers see it for the last time."""
        with self.lock:
            before = self._kinds[kind].pop(place)
            event = self._next(kind, "DELETED", place)
            obj = last or before.obj
            metadata = obj["metadata"] | {"resourceVersion": str(event.version)}
            event.before = before
            event.after = Entry(obj | {"metadata": metadata}, event.version)
            self._publish(event)

    def _next(self, kind: str, type_: str, place: Place) -> Event:
        self.version += 1
        return Event(kind, type_, place, self.version)

    def _publish(self, event: Event) -> None:
        self._events.append(event)
        self._versions.append(event.version)
        if len(self._events) > EVENTS_KEPT:
            self._forget(self._versions[len(self._events) // 2])
        for listener in tuple(self._listeners.get(event.kind, ())):
            listener(event)

    # --- history ---

    def compact(self, version: int | None = None) -> None:
        """Make lists at versions before this one answer 410."""
        with self.lock:
            self.compacted = self.version if version is None else version

    def forget_events(self, version: int | None = None) -> None:
        """Make watches from versions before this one answer 410."""
        with self.lock:
            self._forget(self.version if version is None else version)

    def _forget(self, version: int) -> None:
        start = bisect_right(self._versions, version)
        del self._events[:start]
        del self._versions[:start]
        self.oldest_event = version
        self.compacted = max(self.compacted, version)

    # --- watches ---

    def subscribe(self, kind: str, listener: Listener) -> Callable[[], None]:
        """Call `listener` for each event, under the lock and in order; returns the end of it.

        A listener returns at once: it notes the event and lets its own thread work.
        """
        with self.lock:
            self._listeners.setdefault(kind, []).append(listener)

        def end() -> None:
            with self.lock:
                listeners = self._listeners[kind]
                if listener in listeners:
                    listeners.remove(listener)

        return end
