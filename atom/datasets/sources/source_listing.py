"""Lists a source into sorted runs in our own bucket, in parallel and resumably.

Below one folder per scan: `plan.json` (the shards), and per shard `<shard>/<seq>.parquet` (a run)
and `<shard>/<seq>.json`, written after it: what it holds and where the listing goes on. A run
without its note does not count, so a worker that is killed at any point loses at most one run per
shard of what it listed, and never counts anything twice.
"""

from __future__ import annotations

import json
import threading
from collections.abc import Callable, Iterator
from concurrent.futures import FIRST_EXCEPTION, Future, ThreadPoolExecutor, wait
from dataclasses import asdict, dataclass, field

import pyarrow as pa

from atom.core.storage import PrefixStore
from atom.datasets.packs.engines.images import media_type_of
from atom.datasets.sources.pipelines.objects import Shard, SourceObject, SourceReader
from atom.datasets.versions.engines.source_runs import (
    RUN_ROWS,
    Globs,
    RunRef,
    decode_run,
    encode_run,
    merge_runs,
    registered_entry,
)
from atom_sdk.errors import ObjectNotFoundError
from atom_sdk.manifests.entries import Entry
from atom_sdk.manifests.pins import Pin

LISTERS = 4
REPORT_EVERY_S = 0.5
_FEW_FOLDERS = 2 * LISTERS
_MANY_FOLDERS = 4096
_PLAN = "plan.json"


@dataclass(frozen=True, slots=True)
class RunNote:
    """The content of a stored run, and the key after which the shard goes on.

    `is_last`: the shard ends here. `is_ordered`: keys came in order so far, so that a listing may
    begin after `after`; otherwise the shard begins again.
    """

    objects: int
    size_bytes: int
    skipped: int
    first: str
    last: str
    after: str
    is_last: bool
    is_ordered: bool


@dataclass
class Tally:
    """How far a listing is; shared by its threads."""

    objects: int = 0
    size_bytes: int = 0
    skipped: int = 0
    shards_done: int = 0
    shards_total: int = 0
    lock: threading.Lock = field(default_factory=threading.Lock, repr=False)

    def add(self, note: RunNote) -> None:
        """Count a run."""
        with self.lock:
            self.objects += note.objects
            self.size_bytes += note.size_bytes
            self.skipped += note.skipped
            self.shards_done += note.is_last


class Listing:
    """One scan of one source."""

    def __init__(
        self, reader: SourceReader, source_id: str, globs: Globs, store: PrefixStore
    ) -> None:
        """`store` is the scan's own folder."""
        self._reader = reader
        self._source_id = source_id
        self._fits = globs.matcher()
        self._store = store
        self._stopped = threading.Event()
        self.tally = Tally()

    def run(self, report: Callable[[Tally], None]) -> None:
        """List what is not listed yet; `report` may raise to stop.

        Raises what the source raises. The part that is listed by then stays listed.
        """
        shards = self._plan()
        self.tally.shards_total = len(shards)
        with ThreadPoolExecutor(LISTERS, "list") as pool:
            running = {pool.submit(self._list, n, shard) for n, shard in enumerate(shards)}
            try:
                while running:
                    done, running = wait(running, REPORT_EVERY_S, FIRST_EXCEPTION)
                    _raise_first(done)
                    report(self.tally)
            finally:
                self._stopped.set()
                for future in running:
                    future.cancel()

    def entries(self) -> Iterator[pa.Table]:
        """Yield tables of everything listed, in path order."""
        runs = [
            RunRef(name, note.first, note.last)
            for number in range(self.tally.shards_total)
            for name, note in self._notes(number)
            if note.objects
        ]
        return merge_runs(runs, lambda name: decode_run(self._store.get(f"{name}.parquet")))

    def _plan(self) -> list[Shard]:
        try:
            stored = json.loads(self._store.get(_PLAN))
        except ObjectNotFoundError:
            shards = plan_shards(self._reader)
            rows = [[shard.prefix, shard.is_deep] for shard in shards]
            self._store.put(_PLAN, json.dumps(rows).encode())
            return shards
        return [Shard(prefix, is_deep) for prefix, is_deep in stored]

    def _notes(self, number: int) -> Iterator[tuple[str, RunNote]]:
        seq = 0
        while True:
            name = f"{number:05d}/{seq:06d}"
            try:
                note = RunNote(**json.loads(self._store.get(f"{name}.json")))
            except ObjectNotFoundError:
                return
            yield name, note
            if note.is_last:
                # Later runs belong to a listing that had to begin again.
                return
            seq += 1

    def _list(self, number: int, shard: Shard) -> None:
        notes = [note for _, note in self._notes(number)]
        if notes and not (notes[-1].is_ordered or notes[-1].is_last):
            # Its order gives no place to go on from. The runs are overwritten, each in its turn.
            notes = []
        for note in notes:
            self.tally.add(note)
        if notes and notes[-1].is_last:
            return
        self._go_on(number, shard, notes)

    def _go_on(self, number: int, shard: Shard, notes: list[RunNote]) -> None:
        run = _OpenRun(after=notes[-1].after if notes else "")
        seq = len(notes)
        for page in self._reader.pages(shard, run.after):
            if self._stopped.is_set():
                return
            for found in page:
                self._take(found, run)
            if len(run.entries) >= RUN_ROWS:
                self._write(f"{number:05d}/{seq:06d}", run, is_last=False)
                run, seq = _OpenRun(run.after, run.is_ordered), seq + 1
        self._write(f"{number:05d}/{seq:06d}", run, is_last=True)

    def _take(self, found: SourceObject, run: _OpenRun) -> None:
        run.is_ordered &= found.key > run.after
        run.after = found.key
        if found.key.endswith("/") or not found.key or not self._fits(found.key):
            # Markers of folders, which some tools leave behind, hold nothing.
            return
        pin = Pin(
            self._source_id, found.key, found.size_bytes, found.version_id, found.etag, found.mtime
        )
        entry = registered_entry(pin, media_type_of(found.key))
        if entry is None:
            run.skipped += 1
        else:
            run.entries.append(entry)

    def _write(self, name: str, run: _OpenRun, *, is_last: bool) -> None:
        paths = [entry.path for entry in run.entries]
        if run.entries:
            self._store.put(f"{name}.parquet", encode_run(run.entries))
        note = RunNote(
            objects=len(paths),
            size_bytes=sum(entry.size for entry in run.entries),
            skipped=run.skipped,
            first=min(paths, default=""),
            last=max(paths, default=""),
            after=run.after,
            is_last=is_last,
            is_ordered=run.is_ordered,
        )
        self._store.put(f"{name}.json", json.dumps(asdict(note)).encode())
        self.tally.add(note)


@dataclass
class _OpenRun:
    after: str
    is_ordered: bool = True
    skipped: int = 0
    entries: list[Entry] = field(default_factory=list)


def plan_shards(reader: SourceReader) -> list[Shard]:
    """Return parts of a source that together are all of it, for listing at the same time."""
    whole = [Shard("")]
    folders = reader.folders("")
    if not folders or len(folders) > _MANY_FOLDERS:
        return whole
    shards = [Shard("", is_deep=False)]
    for folder in folders:
        below = reader.folders(folder) if len(folders) < _FEW_FOLDERS else None
        if below and len(below) <= _MANY_FOLDERS // _FEW_FOLDERS:
            shards += [Shard(folder, is_deep=False), *(Shard(name) for name in below)]
        else:
            shards.append(Shard(folder))
    return shards


def _raise_first(done: set[Future[None]]) -> None:
    for future in done:
        future.result()
