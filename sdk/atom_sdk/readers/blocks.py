"""Brings the blocks that samples lie in to this node, each once, and gives views of them."""

from __future__ import annotations

import threading
import time
from collections import Counter
from collections.abc import Iterable
from concurrent.futures import Future
from contextlib import suppress
from functools import partial

from atom_sdk.disk import suppressing_full_disk
from atom_sdk.errors import PackMissingError
from atom_sdk.forks import forget_in_children
from atom_sdk.packs.cache_eviction import PackLease, PackRoom
from atom_sdk.packs.partial import (
    BLOCK_BYTES,
    PartialPack,
    create_partial,
    open_partial,
)
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.maps import PackMaps
from atom_sdk.readers.memory import MemoryBlocks
from atom_sdk.readers.plan import BlockPlan
from atom_sdk.readers.ranges import PackRange, RangeReader, StreamOptions
from atom_sdk.readers.view import ViewIndex

RANGE_BLOCKS = 8
_POLL_S = 0.02
# A sample over half of the memory is not put together from blocks of it.
_LARGE_BLOCKS = 64
_TRIES = 3


class PackBlocks:
    """The packs of a view, as far as they are on this node. Thread-safe, fork-safe.

    A pack is whole (mapped from the store), arriving (blocks in a file that processes share), or in
    memory (when the disk has no room for it).
    """

    def __init__(
        self, index: ViewIndex, store: PackStore, ranges: RangeReader, options: StreamOptions
    ) -> None:
        """Nothing is opened or fetched yet."""
        self._index, self._store, self._ranges, self._options = index, store, ranges, options
        self._plan = BlockPlan(index)
        self._room = PackRoom(store, options.limit_bytes)
        # The digests of these are unknown, so they never become packs of the store.
        self._pins = frozenset(index.pack_ids[index.rows_at_source()].tolist())
        self.maps = PackMaps(index.packs, store.packs)
        self.forget()
        forget_in_children(self)

    def forget(self) -> None:
        """Open everything again: locks and what a thread was doing stay with the parent."""
        self._lock = threading.RLock()
        self._whole: dict[int, None] = {}
        self._arriving: dict[int, PartialPack] = {}
        self._needed: dict[int, bytes] = {}
        self._in_memory: set[int] = set()
        self._memory = MemoryBlocks()
        self._flying: dict[tuple[int, int], Future[None]] = {}
        self._lease: PackLease | None = None
        # How many samples of each pack somebody is about to read.
        self._in_use: Counter[int] = Counter()

    def is_whole(self, pack_id: int) -> bool:
        """Whether the whole pack is mapped; looks at the disk if nothing of it is open yet."""
        if not (pack_id in self._whole or pack_id in self._arriving or pack_id in self._in_memory):
            self._open(pack_id)
        return pack_id in self._whole

    def are_whole(self) -> bool:
        """Whether every pack that has bytes of the view is mapped as a whole."""
        # Asked for each batch: the packs are gone through until they are.
        packs = self._plan.packs
        return len(self._whole) == len(packs) or all(map(self.is_whole, packs))

    def try_disk(self) -> None:
        """Look for room again for the packs that had none."""
        self._in_memory.clear()

    def use(self, pack_id: int, times: int) -> None:
        """Count the samples of a pack that somebody is about to read."""
        with self._lock:
            self._in_use[pack_id] += times

    def read(self, pack_id: int, offset: int, size: int) -> memoryview:
        """Bytes of a pack, fetched if they are not here.

        Raises what the range reader raises, and PackStoreError.
        """
        blocks = _blocks_of(offset, size)
        if not (pack_id in self._in_memory and len(blocks) > _LARGE_BLOCKS):
            for _ in range(_TRIES):
                for block in blocks:
                    self.bring(pack_id, block)
                found = self._view(pack_id, offset, size)
                if found is not None:
                    return found
        return self._ranges.read(self._index.packs[pack_id], offset, size).data

    def bring(self, pack_id: int, block: int) -> None:
        """Fetch a block unless it is here, and those after it that will be needed."""
        while not self._has(pack_id, block):
            with self._lock:
                waiting = self._flying.get((pack_id, block))
                run, landing = (range(0), waiting) if waiting else self._take_off(pack_id, block)
            if waiting is not None:
                waiting.result()
                continue
            try:
                self._fetch(pack_id, run)
            except BaseException as error:
                self._land(pack_id, run)
                landing.set_exception(error)
                raise
            self._land(pack_id, run)
            landing.set_result(None)

    def _land(self, pack_id: int, run: range) -> None:
        with self._lock:
            for block in run:
                del self._flying[pack_id, block]

    def discard(self, pack_id: int, offset: int, size: int) -> bool:
        """Forget bytes that are wrong, to fetch them again; False if the pack is whole."""
        if pack_id in self._whole:
            return False
        blocks = _blocks_of(offset, size)
        self._memory.discard(pack_id, blocks[0], blocks[-1])
        if (arriving := self._arriving.get(pack_id)) is not None:
            arriving.discard(blocks[0], blocks[-1])
        return True

    def _view(self, pack_id: int, offset: int, size: int) -> memoryview | None:
        if pack_id in self._whole:
            # Another thread may have given it up for a new one: then it is looked for again.
            with suppress(PackMissingError):
                return self.maps.view(pack_id)[offset : offset + size]
        arriving = self._arriving.get(pack_id)
        if arriving is not None and all(map(arriving.has, _blocks_of(offset, size))):
            return arriving.view[offset : offset + size]
        return self._memory.view(pack_id, offset, size)

    def _has(self, pack_id: int, block: int) -> bool:
        if pack_id in self._whole or (pack_id, block) in self._memory:
            return True
        arriving = self._arriving.get(pack_id)
        if arriving is None:
            arriving = None if pack_id in self._in_memory else self._open(pack_id)
        return pack_id in self._whole or (arriving is not None and arriving.has(block))

    def _open(self, pack_id: int) -> PartialPack | None:
        """Look for a pack on the disk: it is mapped if it is whole, returned if it arrives."""
        pack = self._index.packs[pack_id]
        with self._lock:
            if pack_id in self._arriving or pack_id in self._whole:
                return self._arriving.get(pack_id)
            # First of all: what is held is not evicted while it is looked at.
            self._hold_pack(pack)
            if self._map_whole(pack_id):
                return None
            arriving = open_partial(self._store, pack)
            if arriving is not None and pack_id not in self._pins and arriving.is_complete():
                # Whoever fetched its last block died before it was made whole.
                if arriving.finish() and self._map_whole(pack_id):
                    return None
                arriving = open_partial(self._store, pack)
            if arriving is None:
                self._let_go(pack)
            else:
                self._needed[pack_id] = self._plan.needed(pack_id, arriving.pack_bytes).tobytes()
                self._arriving[pack_id] = arriving
            return arriving

    def _map_whole(self, pack_id: int) -> bool:
        with suppress(PackMissingError):
            self.maps.view(pack_id)
            self._whole[pack_id] = None
            return True
        return False

    def _hold_pack(self, pack: bytes) -> None:
        # On a full disk it is not held. If it is evicted then, it is fetched once more.
        with suppressing_full_disk():
            if self._lease is None:
                self._lease = PackLease(self._store)
            self._lease.add([pack])

    def _let_go(self, pack: bytes) -> None:
        with suppressing_full_disk():
            if self._lease is not None:
                self._lease.drop(pack)

    def _take_off(self, pack_id: int, block: int) -> tuple[range, Future[None]]:
        """Choose the blocks of one request, and have the other threads wait for them."""
        end = block + 1
        arriving = self._arriving.get(pack_id)
        if arriving is not None:
            needed, present = self._needed[pack_id], arriving.present()
            while (
                end < min(arriving.blocks, block + RANGE_BLOCKS)
                and needed[end]
                and not present[end]
                and (pack_id, end) not in self._flying
            ):
                end += 1
        future: Future[None] = Future()
        run = range(block, end)
        self._flying.update(((pack_id, number), future) for number in run)
        return run, future

    def _fetch(self, pack_id: int, run: range) -> None:
        arriving = self._arriving.get(pack_id)
        if arriving is not None:
            self._fetch_into(pack_id, arriving, run)
        elif pack_id in self._in_memory or self._options.limit_bytes == 0:
            self._memory.put(pack_id, run[0], self._range(pack_id, run).data)
        else:
            self._begin(pack_id, run)
        arriving = self._arriving.get(pack_id)
        if pack_id in self._pins or not arriving:
            return
        if self._is_done(pack_id, arriving) and arriving.finish():
            self._become_whole(pack_id)

    def _fetch_into(self, pack_id: int, arriving: PartialPack, run: range) -> None:
        claimed = _claim(arriving, run)
        if not claimed and arriving.wait_for(run[0], self._options.patience_s):
            return
        try:
            wanted = claimed or run[:1]
            if not arriving.has(run[0]):
                self._write(pack_id, arriving, wanted, self._range(pack_id, wanted))
        finally:
            if claimed:
                arriving.release(claimed[0], len(claimed))

    def _is_done(self, pack_id: int, arriving: PartialPack) -> bool:
        """Whether the view needs no more of a pack."""
        pairs = zip(self._needed[pack_id], arriving.present(), strict=True)
        return all(present or not needed for needed, present in pairs)

    def _become_whole(self, pack_id: int) -> None:
        with self._lock:
            if self._map_whole(pack_id):
                self._arriving.pop(pack_id, None)

    def _begin(self, pack_id: int, run: range) -> None:
        """Fetch the first block of a pack, which has its size; one process of the node does."""
        pack = self._index.packs[pack_id]
        deadline = time.monotonic() + self._options.patience_s
        while time.monotonic() < deadline:
            with self._store.try_lock(pack) as mine:
                if self._open(pack_id) is not None or pack_id in self._whole:
                    return
                if mine:
                    self._keep(pack_id, run, self._range(pack_id, run))
                    return
            time.sleep(_POLL_S)
        self._memory.put(pack_id, run[0], self._range(pack_id, run).data)

    def _keep(self, pack_id: int, run: range, found: PackRange) -> None:
        pack = self._index.packs[pack_id]
        create = partial(create_partial, self._store, pack, found.pack_bytes, run[0], found.data)
        if self._make_room(found.pack_bytes, create):
            self._open(pack_id)
        else:
            self._in_memory.add(pack_id)
        if not self._has(pack_id, run[0]):
            self._memory.put(pack_id, run[0], found.data)

    def _write(self, pack_id: int, arriving: PartialPack, run: range, found: PackRange) -> None:
        try:
            arriving.write(run[0], found.data)
        except OSError:
            # A full disk, most likely: what was fetched is good, so reading goes on without it.
            self._memory.put(pack_id, run[0], found.data)

    def _make_room(self, pack_bytes: int, create: partial[None]) -> bool:
        """Take room for a pack, if need be that of packs that were read before."""
        try:
            while not self._room.admit(pack_bytes, create):
                if not self._drop_unused_pack():
                    return False
        except OSError:
            return False
        return True

    def _drop_unused_pack(self) -> bool:
        with self._lock:
            done = (n for n, arriving in self._arriving.items() if self._is_done(n, arriving))
            # Packs that are about to be read stay, or two packs would evict each other for ever.
            unused = (n for n in (*self._whole, *done) if not self._in_use[n])
            pack_id = next(unused, None)
            if pack_id is None:
                return False
            self._whole.pop(pack_id, None)
            self._arriving.pop(pack_id, None)
            self.maps.drop(pack_id)
            self._let_go(self._index.packs[pack_id])
            return True

    def _range(self, pack_id: int, run: range) -> PackRange:
        length = len(run) * BLOCK_BYTES
        return self._ranges.read(self._index.packs[pack_id], run[0] * BLOCK_BYTES, length)


def _blocks_of(offset: int, size: int) -> range:
    return range(offset // BLOCK_BYTES, max(offset, offset + size - 1) // BLOCK_BYTES + 1)


def _claim(arriving: PartialPack, run: Iterable[int]) -> range:
    """Claim as many blocks of a run as no other process fetches, from its beginning on."""
    count, first = 0, 0
    for block in run:
        if not arriving.try_claim(block):
            break
        first = first if count else block
        count += 1
    return range(first, first + count)
