"""Copies of packs into a second store, several at a time, and their verification.

Memory is bounded: each thread holds a part of a pack or two. Threads move bytes only; rows are
written by the thread that waits for them.
"""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Iterator, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from dataclasses import dataclass
from typing import Final

from atom.core import clock, storage
from atom.core.crash_points import reach
from atom.core.states import check_transition
from atom.datasets.keys import pack_key
from atom.datasets.models import Replica, StoredPack
from atom.datasets.replicas.actions.replicas import notify
from atom.datasets.replicas.engines.rate_limit import RateLimit
from atom.datasets.replicas.errors import OriginCorrupt
from atom.datasets.replicas.pipelines.second_store import PART_BYTES, SecondStore
from atom.datasets.states import STORED_PACK_STATES
from atom_sdk.sentences import Sentence

_AT_ONCE: Final = 3
_LOOK_EVERY_S: Final = 1.0


class Stopped(Exception):
    """The time is over, or somebody has the replica removed."""


@dataclass(frozen=True, slots=True)
class _Phase:
    """Copying or verifying: the fields of its progress, and the bytes that it begins with."""

    packs_field: str
    bytes_field: str
    done_bytes: int


class PackCopies:
    """The packs of one replica, brought to its store and read back there."""

    def __init__(
        self,
        replica: Replica,
        sizes: Mapping[str, int],
        bucket: SecondStore,
        goes_on: Callable[[], bool],
    ) -> None:
        """`sizes`: bytes by digest (hex). `goes_on` is asked about once a second."""
        self._sizes = sizes
        self._replica, self._bucket, self._goes_on = replica, bucket, goes_on
        self._project = replica.version.dataset.project
        self._limit = RateLimit(replica.rate_bytes_s)
        self._stop = threading.Event()
        self._counting = threading.Lock()
        self._moved_bytes = 0
        self._looked_at_s = 0.0
        self._wrong: frozenset[str] = frozenset()

    def copy(self) -> None:
        """Copy packs that the store lacks.

        Raises Stopped, OriginCorrupt, ObjectMissing, StoreError, StoreAway and its kin.
        """
        rows = self._rows()
        self._wrong = frozenset(row.digest for row in rows if row.state == "wrong")
        here = {row.digest for row in rows} - self._wrong
        self._run(
            _Phase("packs_copied", "bytes_copied", sum(self._sizes[digest] for digest in here)),
            [digest for digest in self._sizes if digest not in here],
            lambda digest: self._copy(digest, self._sizes[digest]),
            lambda digest, _: self._note_copy(digest, self._sizes[digest]),
        )

    def verify(self) -> bool:
        """Read back packs that were not yet; return whether all have their digests.

        Raises Stopped, StoreAway and its kin.
        """
        rows = self._rows()
        verified = [row.digest for row in rows if row.state == "there"]
        self._run(
            _Phase(
                "packs_verified", "bytes_verified", sum(self._sizes[digest] for digest in verified)
            ),
            [row.digest for row in rows if row.state == "copied"],
            self._digest,
            self._note_digest,
        )
        there = sum(row.state == "there" for row in self._rows())
        return there == len(self._sizes)

    def _rows(self) -> list[StoredPack]:
        rows = StoredPack.objects.filter(
            store=self._replica.store_id, project=self._project, digest__in=self._sizes
        )
        return list(rows.order_by("digest"))

    def _copy(self, digest: str, size_bytes: int) -> None:
        key = pack_key(digest)
        if digest not in self._wrong and self._bucket.size_of(key) == size_bytes:
            # A worker was killed before it noted the copy; its bytes are read back as all are.
            self._count(size_bytes)
            return
        read = self._bucket.put_parts(key, size_bytes, self._origin(key), self._pass)
        if read != digest:
            self._bucket.delete(key)
            raise OriginCorrupt(
                Sentence(
                    "datasets.replica_origin_corrupt",
                    "Atom's own store gives other bytes of the pack {pack}.",
                    pack=digest,
                )
            )

    def _origin(self, key: str) -> Iterator[memoryview]:
        prefix = storage.project_prefix(self._project)
        return storage.objects().views(prefix + key, chunk_bytes=PART_BYTES)

    def _digest(self, digest: str) -> str | None:
        return self._bucket.digest_of(pack_key(digest), self._pass)

    def _pass(self, size_bytes: int) -> None:
        if self._stop.is_set():
            raise Stopped
        self._limit.wait(size_bytes)
        self._count(size_bytes)

    def _count(self, size_bytes: int) -> None:
        with self._counting:
            self._moved_bytes += size_bytes

    def _note_copy(self, digest: str, size_bytes: int) -> None:
        StoredPack.objects.update_or_create(
            store=self._replica.store,
            project=self._project,
            digest=digest,
            defaults={"size_bytes": size_bytes, "state": "copied", "verified_at": None},
        )
        reach("replica.pack_copied")

    def _note_digest(self, digest: str, read: str | None) -> None:
        row = StoredPack.objects.get(
            store=self._replica.store, project=self._project, digest=digest
        )
        state = "there" if read == digest else "wrong"
        check_transition(STORED_PACK_STATES, row.state, state)
        row.state, row.verified_at = state, clock.now() if state == "there" else None
        row.avoided_until = None
        row.save()
        reach("replica.pack_verified")

    def _run(
        self,
        phase: _Phase,
        digests: list[str],
        work: Callable[[str], str | None],
        note: Callable[[str, str | None], None],
    ) -> None:
        """Have threads do the work; notes are taken by this one. The first error stops all."""
        self._moved_bytes = 0
        waiting = iter(digests)
        running: dict[Future[str | None], str] = {}
        with ThreadPoolExecutor(_AT_ONCE, "atom-replica") as pool:
            try:
                while True:
                    while len(running) < _AT_ONCE and (digest := next(waiting, None)) is not None:
                        running[pool.submit(work, digest)] = digest
                    if not running:
                        break
                    done, _ = wait(running, _LOOK_EVERY_S, FIRST_COMPLETED)
                    for future in done:
                        note(running.pop(future), future.result())
                    self._look(phase)
            finally:
                self._stop.set()
                wait(running)
                self._stop.clear()
        self._show(phase)

    def _look(self, phase: _Phase) -> None:
        """Show the progress about once a second. Raises Stopped."""
        now_s = time.monotonic()
        if now_s - self._looked_at_s < _LOOK_EVERY_S:
            return
        self._looked_at_s = now_s
        if not self._goes_on():
            raise Stopped
        self._show(phase)

    def _show(self, phase: _Phase) -> None:
        replica = self._replica
        states = ["there"] if phase.packs_field == "packs_verified" else ["there", "copied"]
        packs = StoredPack.objects.filter(
            store=replica.store, project=self._project, digest__in=self._sizes, state__in=states
        )
        moved = min(phase.done_bytes + self._moved_bytes, replica.bytes_total)
        setattr(replica, phase.packs_field, packs.count())
        setattr(replica, phase.bytes_field, moved)
        replica.save(update_fields=[phase.packs_field, phase.bytes_field, "updated_at"])
        notify(replica)
