"""Watches: the events of a selection, bookmarks and the end of history."""

from __future__ import annotations

import asyncio
from collections import deque
from collections.abc import AsyncIterator, Callable
from typing import Any

from .errors import bad_request, expired
from .faults import Faults, Stream
from .paging import object_text, parse_version, selection
from .requests import Request
from .selectors import Match
from .store import Entry, Event, Store, encode

Json = dict[str, Any]

_LONGEST = 1800
INITIAL_END = "k8s.io/initial-events-end"


def line(type_: str, text: bytes) -> bytes:
    """Return one event as the stream carries it."""
    return b'{"type":"%s","object":%s}\n' % (type_.encode(), text)


class Watch:
    """One watch: it notes events under the store's lock and sends them from the event loop."""

    def __init__(self, store: Store, request: Request, faults: Faults, bookmarks: float) -> None:
        self.store = store
        self.request = request
        self.match: Match | None = selection(request)
        self.faults = faults
        self.bookmark_seconds = bookmarks
        self.loop = asyncio.get_running_loop()
        self.pending: deque[bytes] = deque()
        self.wake = asyncio.Event()
        self.stream: Stream = faults.open_stream(self._ring, request.path)
        self.sent_version = 0
        self._end: Callable[[], None] | None = None

    def start(self) -> None:
        """Note what the watch begins with, and listen to what follows."""
        query = self.request.query
        text = query.get("resourceVersion", "")
        initial = query.get("sendInitialEvents") == "true"
        if initial and query.get("resourceVersionMatch") != "NotOlderThan":
            raise bad_request(
                "sendInitialEvents is forbidden for watch unless resourceVersionMatch is provided"
            )
        version = parse_version(text) if text else 0
        kind = self.request.kind.store_key
        with self.store.lock:
            if version and not initial:
                self._replay(kind, version)
            else:
                for place, entry in self.store.entries(kind):
                    if self._has(place[0]) and self._selects(entry.obj):
                        self._note("ADDED", entry)
                if initial:
                    self.pending.append(self._bookmark({INITIAL_END: "true"}))
            self.sent_version = max(self.store.version, version)
            self._end = self.store.subscribe(kind, self._event)

    def _replay(self, kind: str, version: int) -> None:
        if version < self.store.oldest_event:
            text = f"too old resource version: {version} ({self.store.oldest_event})"
            failure = expired(text).status()
            self.pending.append(line("ERROR", encode(failure)))
            self.stream.ended = True
            return
        for event in self.store.events_since(kind, version):
            self._take(event)

    def _has(self, namespace: str) -> bool:
        return not self.request.namespace or namespace == self.request.namespace

    def _selects(self, obj: Json) -> bool:
        return self.match is None or self.match(obj)

    def _event(self, event: Event) -> None:
        # A watch from a version of the future waits for it.
        if event.version > self.sent_version:
            self._take(event)
            self._ring()

    def _take(self, event: Event) -> None:
        if not self._has(event.place[0]) or event.after is None:
            return
        if self.match is None:
            self._note(event.type, event.after)
            return
        before = event.before is not None and self.match(event.before.obj)
        after = event.type != "DELETED" and self.match(event.after.obj)
        if before and not after and event.before is not None:
            # The last state that was selected, at the version of the change.
            gone = event.before.obj
            metadata = gone["metadata"] | {"resourceVersion": str(event.version)}
            self._note("DELETED", Entry(gone | {"metadata": metadata}, event.version))
        elif after:
            self._note("MODIFIED" if before else "ADDED", event.after)

    def _note(self, type_: str, entry: Entry) -> None:
        self.pending.append(line(type_, object_text(self.request, entry)))

    def _ring(self) -> None:
        if not self.loop.is_closed():
            self.loop.call_soon_threadsafe(self.wake.set)

    def _bookmark(self, annotations: dict[str, str] | None = None) -> bytes:
        metadata: Json = {"resourceVersion": str(self.store.version)}
        if annotations:
            metadata["annotations"] = annotations
        resource = self.request.kind
        body = {"kind": resource.kind, "apiVersion": resource.api_version, "metadata": metadata}
        return line("BOOKMARK", encode(body))

    async def lines(self) -> AsyncIterator[bytes]:
        """Yield the events until the watch ends."""
        seconds = self.request.number("timeoutSeconds")
        end = self.loop.time() + (seconds if seconds is not None else _LONGEST)
        marked = self.request.query.get("allowWatchBookmarks") in ("true", "1")
        # The last bookmark comes a second before the end, but not in a very short watch.
        last = end - 1 if seconds is None or seconds > 2 else end + 1
        next_mark = min(self.loop.time() + self.bookmark_seconds, last) if marked else end
        try:
            while True:
                self.wake.clear()
                async for text in self._sendable():
                    yield text
                if self.stream.ended or (now := self.loop.time()) >= end:
                    return
                if marked and now >= next_mark:
                    yield self._bookmark()
                    next_mark = min(now + self.bookmark_seconds, last if now < last else end)
                await self._wait(min(end, next_mark) - now)
        finally:
            self.close()

    async def _sendable(self) -> AsyncIterator[bytes]:
        if self.faults.reorder and self.pending:
            # Events that come apart could not change places.
            await asyncio.sleep(0.05)
        batch: list[bytes] = []
        while self.pending and not self.stream.silent:
            batch.append(self.pending.popleft())
        for delay, text in self.faults.disturb(batch):
            if delay:
                await asyncio.sleep(delay)
            yield text

    async def _wait(self, seconds: float) -> None:
        if self.pending and not self.stream.silent:
            return
        try:
            async with asyncio.timeout(max(seconds, 0)):
                await self.wake.wait()
        except TimeoutError:
            return

    def close(self) -> None:
        """Stop listening."""
        if self._end is not None:
            self._end()
        self.faults.close_stream(self.stream)
