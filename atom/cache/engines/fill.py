"""The `local` engine: packs and view indexes in a folder of this machine.

Layout below `<root>/<project id>/`: `packs/<digest>.tar`, verified while they were filled, and
`views/<view id>.arrow`. Every byte is checked against its digest before a pack appears.
"""

from __future__ import annotations

import os
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from pathlib import Path

from atom_sdk.errors import PackDigestMismatchError
from atom_sdk.manifests.objects import ObjectStore
from atom_sdk.manifests.roots.roots import Root
from atom_sdk.manifests.views import Placed, ViewSelector, build_view
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.view import is_readable

FETCHES_AT_ONCE = 4
REPORT_EVERY_S = 0.5


class CorruptPackError(Exception):
    """The stored bytes of a pack do not hash to its digest; `digest` is hex."""

    is_readable = True

    def __init__(self, digest: str, reason: str) -> None:
        super().__init__(reason)
        self.digest = digest


class UnreadablePackError(CorruptPackError):
    """The object store cannot read the pack, while it reads other objects."""

    is_readable = False


@dataclass(frozen=True)
class FillProgress:
    """How far a fill is: packs and bytes of this fill, and its mean rate."""

    packs_done: int
    bytes_done: int
    rate_bytes_s: int


@dataclass(frozen=True)
class FillPlan:
    """Which packs (32-byte digests) to bring, and how to read one from its origin."""

    packs: Sequence[bytes]
    stream: Callable[[bytes], Iterator[bytes | memoryview]]


Report = Callable[[FillProgress], None]


def fill(store: PackStore, plan: FillPlan, report: Report) -> FillProgress:
    """Bring the packs that are missing; `report` is called at most twice a second.

    Raises CorruptPackError for the first pack that lies, PackStoreFullError, or what the origin
    raises. Packs that are whole by then stay.
    """
    meter = _Meter()
    missing = store.missing(plan.packs)
    with ThreadPoolExecutor(FETCHES_AT_ONCE, "warm") as pool:
        running = {pool.submit(_fetch, store, plan, pack, meter) for pack in missing}
        try:
            while running:
                done, running = wait(running, REPORT_EVERY_S, FIRST_EXCEPTION)
                _raise_first(done)
                report(meter.progress())
        finally:
            for future in running:
                future.cancel()
            meter.stop()
    return meter.progress()


def _fetch(store: PackStore, plan: FillPlan, pack: bytes, meter: _Meter) -> None:
    try:
        store.fill(pack, lambda: meter.count(plan.stream(pack)))
    except PackDigestMismatchError as exc:
        raise CorruptPackError(pack.hex(), str(exc)) from exc
    meter.pack_done()


def _raise_first(done: set[Future[None]]) -> None:
    for future in done:
        future.result()


class _Meter:
    """Counts what passes through several threads."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._started = time.monotonic()
        self._stopped = False
        self._packs = 0
        self._bytes = 0

    def count(self, chunks: Iterator[bytes | memoryview]) -> Iterator[bytes | memoryview]:
        for chunk in chunks:
            if self._stopped:
                # Another pack has failed, so this one is not needed any more.
                return
            with self._lock:
                self._bytes += len(chunk)
            yield chunk

    def pack_done(self) -> None:
        with self._lock:
            self._packs += 1

    def stop(self) -> None:
        self._stopped = True

    def progress(self) -> FillProgress:
        elapsed_s = max(time.monotonic() - self._started, 1e-3)
        with self._lock:
            return FillProgress(self._packs, self._bytes, int(self._bytes / elapsed_s))


def write_view(
    root: Root,
    manifests: ObjectStore,
    path: Path,
    selector: ViewSelector,
    placed: Placed | None = None,
) -> Path:
    """Write the view index unless it is there already, whole; returns its path.

    `placed` knows where this node has packed what stays at a source.
    Raises EmptyDatasetError if the selector leaves nothing.
    """
    if not is_readable(path):
        path.parent.mkdir(parents=True, exist_ok=True)
        temporary = path.with_name(f".{path.name}.{os.getpid()}.{threading.get_ident()}")
        build_view(root, manifests, temporary, selector, placed)
        # Jobs run as other users.
        temporary.chmod(0o444)
        temporary.replace(path)
    return path
