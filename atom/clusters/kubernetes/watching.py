"""List and watch: a store of slim objects that follows one selection of a cluster.

A watch delivers the changes of each object in order, so the newest event is the newest state;
versions are opaque and never compared for order. An event that comes twice changes nothing. A
deletion counts only for the uid that is held, so a late one never removes a successor of the same
name. Should a proxy mix up events anyway, the next full list repairs the store: it runs every
`resync_s`, after each 410, and after several failures in a row.

`changed` tells that a key needs work, and no more: its reader looks at the newest state.
"""

from __future__ import annotations

import json
import random
import threading
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Generic

from atom.clusters.kubernetes.answers import status_failure
from atom.clusters.kubernetes.connection import ClusterConnection
from atom.clusters.kubernetes.errors import ClusterAnswerWrong, ClusterFailure
from atom.clusters.kubernetes.listing import (
    EXPIRED,
    PAGE_OBJECTS,
    Held,
    Key,
    T,
    check_count,
    held_object,
    list_version,
    read_list,
)
from atom.clusters.kubernetes.timed_sockets import stoppable

_TOO_MANY = 429


@dataclass(frozen=True, slots=True)
class WatchSettings:
    """Times of a watch, in seconds."""

    watch_s: int = 300
    # Bookmarks come about once a minute.
    silent_s: float = 90.0
    resync_s: float = 1800.0
    backoff_s: float = 0.5
    most_backoff_s: float = 30.0
    page: int = PAGE_OBJECTS
    # A version that the server keeps refusing, as after a restore, is given up then.
    failures_before_list: int = 5


class Watcher(Generic[T]):
    """Follows the objects at a path of the API; `run` belongs to one thread."""

    def __init__(
        self,
        connect: Callable[[], ClusterConnection],
        path: str,
        slim: Callable[[dict[str, Any]], T],
        changed: Callable[[Key, Held[T] | None, Held[T] | None], None],
        *,
        selector: str = "",
        settings: WatchSettings | None = None,
    ) -> None:
        """Keep `slim(object)` of each object; `changed(key, old, new)` may only enqueue.

        `connect` is called again after a failure: credentials and addresses change.
        """
        self.objects: dict[Key, Held[T]] = {}
        # Monotonic seconds of the last page or line; None before the first.
        self.last_heard_at: float | None = None
        # Set once the first whole list is in `objects`.
        self.synced = threading.Event()
        self.last_failure: ClusterFailure | None = None
        self._connect, self._path, self._selector = connect, path, selector
        self._slim, self._changed = slim, changed
        self._settings = settings or WatchSettings()
        self._version = ""
        self._failures = 0
        self._list_at = 0.0

    def run(self, stop: threading.Event) -> None:
        """Follow until `stop` is set; failures of the cluster are waited out and kept.

        Only errors of `slim` and `changed` leave it. Opening a connection may outlast the stop.
        """
        with stoppable(stop):
            while not stop.is_set():
                try:
                    self._follow(stop)
                except ClusterFailure as failure:
                    if not stop.is_set():
                        stop.wait(self._note_failure(failure))

    def _follow(self, stop: threading.Event) -> None:
        with self._connect() as connection:
            while not stop.is_set():
                if not self._version or time.monotonic() >= self._list_at:
                    self._list(connection)
                self._watch(connection, stop)

    def _note_failure(self, failure: ClusterFailure) -> float:
        """Return how many seconds to wait after a failure."""
        self.last_failure = failure
        self._failures += 1
        status = failure.extra.get("status_code")
        # A busy server says nothing against the version, and a list is what it can bear least.
        if status == EXPIRED or (
            status != _TOO_MANY and self._failures % self._settings.failures_before_list == 0
        ):
            self._version = ""
        settings = self._settings
        most = min(settings.most_backoff_s, settings.backoff_s * 2 ** min(self._failures, 16))
        return failure.retry_after_s + random.uniform(0, most)

    def _hear(self) -> None:
        self.last_heard_at = time.monotonic()

    def _healthy(self) -> None:
        self._failures, self.last_failure = 0, None

    # --- lists ---

    def _list(self, connection: ClusterConnection) -> None:
        listing = read_list(
            connection,
            self._path,
            self._slim,
            selector=self._selector,
            page=self._settings.page,
            heard=self._hear,
        )
        for key in self.objects.keys() - listing.objects.keys():
            self._set(key, None)
        for key, held in listing.objects.items():
            self._set(key, held)
        self._version = listing.version
        self._list_at = time.monotonic() + self._settings.resync_s
        self.synced.set()

    def _set(self, key: Key, new: Held[T] | None) -> None:
        """Store a state and report it; another uid under the same name is another object."""
        old = self.objects.get(key)
        if old is not None and (new is None or new.uid != old.uid):
            del self.objects[key]
            self._changed(key, old, None)
            old = None
        if new is not None and (old is None or new.version != old.version):
            check_count(len(self.objects) + (old is None))
            self.objects[key] = new
            self._changed(key, old, new)

    # --- watches ---

    def _watch(self, connection: ClusterConnection, stop: threading.Event) -> None:
        """Read one watch until it ends in order or a list is due. Raises ClusterFailure."""
        left_s = max(1, int(self._list_at - time.monotonic()) + 1)
        query: dict[str, str | int] = {
            "watch": "true",
            "allowWatchBookmarks": "true",
            "timeoutSeconds": min(self._settings.watch_s, left_s),
            "resourceVersion": self._version,
        }
        if self._selector:
            query["labelSelector"] = self._selector
        began, heard = time.monotonic(), False
        with connection.lines(self._path, query, silent_s=self._settings.silent_s) as lines:
            for line in lines:
                if line.strip():
                    self._event(line)
                    heard = True
                if stop.is_set() or time.monotonic() >= self._list_at:
                    return
        if not heard and time.monotonic() - began < 1:
            # A proxy that ends each watch at once must not make us ask without a pause.
            raise ClusterAnswerWrong()

    def _event(self, line: bytes) -> None:
        try:
            event = json.loads(line)
            kind, body = event["type"], event["object"]
        except (ValueError, KeyError, TypeError, RecursionError) as error:
            raise ClusterAnswerWrong() from error
        if not isinstance(body, dict):
            raise ClusterAnswerWrong()
        if kind == "ERROR":
            raise _event_failure(body)
        self._hear()
        if kind != "BOOKMARK":
            key, held = held_object(body, self._slim)
            if kind in ("ADDED", "MODIFIED"):
                self._set(key, held)
            elif kind == "DELETED":
                old = self.objects.get(key)
                if old is not None and old.uid == held.uid:
                    self._set(key, None)
            else:
                raise ClusterAnswerWrong()
        # After the event: one that failed is asked for again.
        self._version = list_version(body)
        self._healthy()


def _event_failure(status: dict[str, Any]) -> ClusterFailure:
    code = status.get("code")
    details = status.get("details")
    wait = details.get("retryAfterSeconds", "") if isinstance(details, dict) else ""
    return status_failure(
        code if isinstance(code, int) else 500, "application/json", json.dumps(status), str(wait)
    )
