"""Readings of cards and the events between two reports."""

from __future__ import annotations

import threading
from dataclasses import dataclass, field
from typing import Any, Protocol


@dataclass(frozen=True, slots=True)
class Readings:
    """Cards and events as the fields of a report; events since the last acknowledged report."""

    gpus: list[dict[str, Any]] = field(default_factory=list)
    xid_events: list[dict[str, Any]] = field(default_factory=list)


class Cards(Protocol):
    """A source of readings."""

    def read(self) -> Readings:
        """Measure now."""
        ...

    def acknowledge(self, readings: Readings) -> None:
        """Forget events that the server has received."""
        ...


class EventQueue:
    """Events that wait for a report; the oldest go first when too many wait. Safe for threads."""

    _MOST = 1000

    def __init__(self) -> None:
        self._guard = threading.Lock()
        self._events: list[dict[str, Any]] = []

    def add(self, event: dict[str, Any]) -> None:
        """Add an event."""
        with self._guard:
            self._events.append(event)
            del self._events[: -self._MOST]

    def waiting(self) -> list[dict[str, Any]]:
        """Return the events that no report carried yet."""
        with self._guard:
            return list(self._events)

    def drop(self, events: list[dict[str, Any]]) -> None:
        """Drop events that the server has received."""
        sent = {id(event) for event in events}
        with self._guard:
            self._events = [event for event in self._events if id(event) not in sent]
