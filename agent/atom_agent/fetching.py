"""Fetches packs that the server ordered: a bounded number at once, each verified while it fills."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from atom_agent.errors import FetchCancelled, FetchError, Reason
from atom_agent.messages import Failure, Fetch
from atom_agent.outbox import Outbox
from atom_agent.pacing import RateLimits
from atom_agent.packs import NodePacks
from atom_agent.sources import Sources

STOPPING = "The agent stops."


@dataclass(slots=True)
class _Running:
    fetch: Fetch
    cancelled: threading.Event = field(default_factory=threading.Event)
    is_stopped: bool = False
    done_bytes: int = 0


class Fetcher:
    """Runs fetches in threads and puts their ends into the outbox."""

    def __init__(
        self,
        packs: NodePacks,
        sources: Sources,
        outbox: Outbox,
        most: int,
        on_end: Callable[[], None],
    ) -> None:
        """At most `most` fetches run at once; `on_end` is called after each of them."""
        self._packs, self._sources, self._outbox = packs, sources, outbox
        self._most, self._on_end = most, on_end
        self._rates = RateLimits()
        self._guard = threading.Lock()
        self._running: dict[str, _Running] = {}
        self._threads: dict[str, threading.Thread] = {}
        self._stopping = False

    @property
    def room(self) -> int:
        """How many further fetches can begin now."""
        with self._guard:
            return 0 if self._stopping else max(0, self._most - len(self._running))

    def progress(self) -> dict[str, int]:
        """Bytes that came, by running fetch."""
        with self._guard:
            return {name: running.done_bytes for name, running in self._running.items()}

    def start(self, fetch: Fetch) -> bool:
        """Begin a fetch, unless it runs, there is no room for it, or the agent stops."""
        with self._guard:
            if self._stopping or fetch.id in self._running or len(self._running) >= self._most:
                return False
            running = self._running[fetch.id] = _Running(fetch)
            thread = threading.Thread(
                target=self._run, args=(running,), name=f"fetch {fetch.id}", daemon=True
            )
            self._threads[fetch.id] = thread
        thread.start()
        return True

    def cancel(self, fetch: str) -> None:
        """End a fetch whose order was taken back; nothing of it is kept or reported."""
        with self._guard:
            if running := self._running.get(fetch):
                running.cancelled.set()

    def stop(self, grace_s: float) -> None:
        """Begin nothing more, wait `grace_s` seconds for what runs, then end and report it."""
        with self._guard:
            self._stopping = True
            threads = list(self._threads.values())
        deadline = time.monotonic() + grace_s
        for thread in threads:
            thread.join(max(0.0, deadline - time.monotonic()))
        with self._guard:
            for running in self._running.values():
                running.is_stopped = True
                running.cancelled.set()
        for thread in threads:
            # A silent source is noticed only when its patience ends, which may be too late.
            thread.join(max(0.0, deadline + 1.0 - time.monotonic()))

    def _run(self, running: _Running) -> None:
        fetch, started = running.fetch, time.monotonic()
        failure = self._failure_of(running)
        self._packs.free(fetch.id)
        # The server may send the same id again as soon as it knows the end.
        self._forget(fetch)
        if failure is not None:
            self._outbox.add_failure(failure)
        elif not running.cancelled.is_set():
            self._outbox.add_done(fetch.id, running.done_bytes, time.monotonic() - started)
        self._on_end()

    def _failure_of(self, running: _Running) -> Failure | None:
        """Fill the pack; returns why that failed, None if it is whole or was cancelled."""
        fetch = running.fetch
        try:
            self._packs.reserve(fetch.id, fetch.size_bytes)
            self._packs.fill(fetch.pack, lambda: self._chunks(running))
        except FetchCancelled:
            return Failure(fetch.id, Reason.REFUSED, STOPPING) if running.is_stopped else None
        except FetchError as error:
            return Failure(fetch.id, error.reason, str(error))
        except Exception as error:  # a fetch that ends without a report would stay open for ever
            return Failure(fetch.id, Reason.REFUSED, repr(error))
        return None

    def _chunks(self, running: _Running) -> Iterator[bytes]:
        fetch = running.fetch
        for chunk in self._sources.chunks(fetch):
            running.done_bytes += len(chunk)
            yield chunk
            delay_s = self._rates.delay_s(fetch.plan, len(chunk), fetch.rate_bytes_s)
            if running.cancelled.wait(delay_s) if delay_s else running.cancelled.is_set():
                raise FetchCancelled

    def _forget(self, fetch: Fetch) -> None:
        with self._guard:
            del self._running[fetch.id]
            del self._threads[fetch.id]
            if all(other.fetch.plan != fetch.plan for other in self._running.values()):
                self._rates.forget(fetch.plan)
