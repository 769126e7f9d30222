"""Reads samples before their packs are on this node."""

from __future__ import annotations

import threading
from collections import Counter, deque
from collections.abc import Iterable, Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

from atom_sdk.forks import forget_in_children
from atom_sdk.packs.partial import BLOCK_BYTES
from atom_sdk.packs.store import PackStore
from atom_sdk.readers.blocks import PackBlocks
from atom_sdk.readers.local import LOOK_AHEAD, LocalDataset, Sample, Verify
from atom_sdk.readers.ranges import RangeReader, StreamOptions
from atom_sdk.readers.repair import PackRepair

# With small samples the window is full of blocks long before; empty files need none.
_MOST_SAMPLES = 4096


class StreamingDataset(LocalDataset):
    """A LocalDataset that fetches what this node lacks, in the order in which it is read.

    Fetched blocks stay in the pack store, shared by all processes of the node, so a second epoch
    reads from the disk. Samples are verified by their digests; a block that is wrong is fetched
    once more, and so is a whole pack. Files that stay at a source come in the state that the
    version pinned, or not at all: the digest of their bytes is not known. Thread-safe, fork-safe,
    can be pickled.
    """

    def __init__(
        self,
        index_path: Path | str,
        store: Path | str,
        ranges: RangeReader,
        options: StreamOptions | None = None,
        verify: Verify = "first",
    ) -> None:
        """`store` is the root of a PackStore, made if it is missing.

        Raises ViewIndexError, UnknownFormatError, OSError.
        """
        packs = PackStore(store)
        repair = PackRepair(packs.root, ranges)
        super().__init__(index_path, packs.packs, verify, "mmap", repair)
        self.options = options or StreamOptions()
        self._root, self._ranges = packs.root, ranges
        self._at_source = frozenset(self.index.rows_at_source().tolist())
        self._blocks = PackBlocks(self.index, packs, ranges, self.options)
        self._maps = self._blocks.maps
        self._prefetch: ThreadPoolExecutor | None = None
        self._prefetch_lock = threading.Lock()
        forget_in_children(self)

    def read_many(
        self, rows: Iterable[int], look_ahead: int = LOOK_AHEAD, epoch_rows: int = 0
    ) -> Iterator[Sample]:
        """Samples of rows in their order; blocks of coming samples are fetched meanwhile.

        `look_ahead` 0 fetches nothing ahead; otherwise the window of the options counts. Once every
        pack is whole on this node, they are read as a LocalDataset reads them. Raises as `ds[row]`
        does.
        """
        self._blocks.try_disk()
        if self._blocks.are_whole():
            yield from super().read_many(rows, look_ahead, epoch_rows)
            return
        window = _Window(self, look_ahead)
        try:
            for row in rows:
                window.add(row)
                while window.is_full():
                    yield self[window.take()]
            while window.rows:
                yield self[window.take()]
        finally:
            window.cancel()

    def close(self) -> None:
        """Stop fetching ahead."""
        with self._prefetch_lock:
            threads, self._prefetch = self._prefetch, None
        if threads is not None:
            threads.shutdown(wait=False, cancel_futures=True)

    def __del__(self) -> None:
        """Let the threads end; there are none if the constructor failed."""
        with suppress(AttributeError):
            self.close()

    def forget(self) -> None:
        """Use threads of this process."""
        self._prefetch, self._prefetch_lock = None, threading.Lock()

    def prefetch(self, pack_id: int, block: int) -> Future[None] | None:
        """Fetch a block in the background, unless its pack is whole."""
        if self._blocks.is_whole(pack_id):
            return None
        with self._prefetch_lock:
            if self._prefetch is None:
                self._prefetch = ThreadPoolExecutor(self.options.threads, "atom-prefetch")
            # A failure is met again, and raised, when the sample is due.
            return self._prefetch.submit(self._blocks.bring, pack_id, block)

    def use(self, row: int, times: int) -> None:
        """Say that a row will be read, or (-1) was; packs of such rows stay. Raises IndexError."""
        if times > 0:
            self._will_need(row)
        self._blocks.use(self._pack_ids[row], times)

    def blocks_of(self, row: int) -> list[tuple[int, int]]:
        """The (pack number, block) pairs that hold a sample."""
        if not self._sizes[row]:
            return []
        start = self._offsets[row]
        end = start + self._sizes[row] - 1
        pack_id = self._pack_ids[row]
        return [(pack_id, n) for n in range(start // BLOCK_BYTES, end // BLOCK_BYTES + 1)]

    def _data(self, row: int) -> memoryview:
        data = self._stored(row)
        if row in self._at_source:
            # Its digest is that of the pin: the server gives its state or an error.
            return data
        if self.verify == "never" or (self.verify == "first" and self._verified[row]):
            return data
        where = self._pack_ids[row], self._offsets[row], self._sizes[row]
        if not self._is_good(row, data) and self._blocks.discard(*where):
            self._ranges.doubt(self.index.packs[where[0]])
            data = self._stored(row)
        return self._verify(row, data)

    def _stored(self, row: int) -> memoryview:
        pack_id, offset, size = self._pack_ids[row], self._offsets[row], self._sizes[row]
        # An empty file says nothing about its pack, which need not come for it.
        return self._blocks.read(pack_id, offset, size) if size else memoryview(b"")

    def _repaired(self, row: int) -> memoryview:
        pack_id = self._pack_ids[row]
        if self.repair is not None and not self._blocks.is_whole(pack_id):
            # Its blocks came twice.
            path = self.index.path_of(row)
            raise self.repair.of_the_store(self.index.packs[pack_id], path)
        return super()._repaired(row)

    def _will_need(self, row: int) -> None:
        if not -self._rows <= row < self._rows:
            raise IndexError(f"row {row} of {self._rows}")
        if self._blocks.is_whole(self._pack_ids[row]):
            super()._will_need(row)

    def __reduce__(self) -> tuple[type[StreamingDataset], tuple[object, ...]]:
        """Pickle paths and where to fetch from; the other process opens its own."""
        arguments = (self.index.path, self._root, self._ranges, self.options, self.verify)
        return StreamingDataset, arguments


class _Window:
    """The samples that will be read next, and the blocks that are fetched for them."""

    def __init__(self, dataset: StreamingDataset, look_ahead: int) -> None:
        self.rows: deque[int] = deque()
        self._dataset = dataset
        self._most_blocks = dataset.options.window_blocks if look_ahead else 0
        self._most_samples = _MOST_SAMPLES if look_ahead else 0
        self._blocks: Counter[tuple[int, int]] = Counter()
        self._fetching: dict[tuple[int, int], Future[None]] = {}

    def add(self, row: int) -> None:
        self._dataset.use(row, 1)
        self.rows.append(row)
        for key in self._dataset.blocks_of(row):
            self._blocks[key] += 1
            if self._blocks[key] == 1 and self._most_blocks:
                future = self._dataset.prefetch(*key)
                if future is not None:
                    self._fetching[key] = future

    def is_full(self) -> bool:
        return len(self.rows) > self._most_samples or (
            len(self.rows) > 0 and len(self._blocks) > self._most_blocks
        )

    def take(self) -> int:
        """The next row; its blocks leave the window."""
        row = self.rows.popleft()
        self._dataset.use(row, -1)
        for key in self._dataset.blocks_of(row):
            self._blocks[key] -= 1
            if not self._blocks[key]:
                del self._blocks[key]
                if (future := self._fetching.pop(key, None)) is not None:
                    # Not begun yet? Then the reader fetches it at once, by itself.
                    future.cancel()
        return row

    def cancel(self) -> None:
        for row in self.rows:
            self._dataset.use(row, -1)
        for future in self._fetching.values():
            future.cancel()
