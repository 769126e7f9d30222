"""Reads samples from packs on this node without copying them."""

from __future__ import annotations

import mmap
from collections import deque
from collections.abc import Iterable, Iterator, Sized
from concurrent.futures import Future, ThreadPoolExecutor
from itertools import islice
from pathlib import Path
from typing import Literal

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.errors import PackMissingError, SampleDigestMismatchError
from atom_sdk.readers.descriptors import Mode, PackFiles
from atom_sdk.readers.maps import PackMaps
from atom_sdk.readers.memory_limit import available_bytes
from atom_sdk.readers.order import shuffled_order
from atom_sdk.readers.repair import PackRepair
from atom_sdk.readers.view import ViewIndex

Verify = Literal["first", "always", "never"]
ReadMode = Literal["auto", "mmap", "pread", "direct"]
LOOK_AHEAD = 64
# The bytes that a disk reads in the time of one more request, about.
_REQUEST_BYTES = 16 << 10
_THREADS = 8


class Sample:
    """One file: `data` is a view of the mapped pack, valid as long as it is referenced."""

    __slots__ = ("_index", "data", "row")

    def __init__(self, index: ViewIndex, row: int, data: memoryview) -> None:
        """Path, label and split are looked up when asked for."""
        self._index = index
        self.row = row
        self.data = data

    @property
    def path(self) -> str:
        """Path in the dataset."""
        return self._index.path_of(self.row)

    @property
    def digest(self) -> bytes:
        """BLAKE3 of the file's bytes by its entry, 32 bytes."""
        return self._index.digest_of(self.row)

    @property
    def label(self) -> str | None:
        """Label, if it has one."""
        return self._index.label_of(self.row)

    @property
    def label_code(self) -> int:
        """Number of the label in `LocalDataset.classes`, -1 without a label."""
        return int(self._index.label_codes[self.row])

    @property
    def split(self) -> str | None:
        """Split, if it has one."""
        return self._index.split_of(self.row)

    def __repr__(self) -> str:
        """Path and size, never the bytes."""
        return f"Sample({self.path!r}, {len(self.data)} bytes)"


class LocalDataset:
    """Samples of a view index by number, in path order; safe across threads and forks.

    It can be pickled. `mode`: "mmap" maps the packs, which copies nothing; "pread" and "direct"
    (O_DIRECT) read each sample into memory of its own, with threads that look ahead; "auto" maps
    unless the samples exceed the memory that is available now. `verify`: hash each sample against
    its entry on the "first" read (remembered per row, and shared with forked children), "always" or
    "never". A damaged sample is not served unless verify is "never": its pack is fetched again, if
    `repair` says where from, once.
    """

    def __init__(
        self,
        index_path: Path | str,
        pack_dir: Path | str,
        verify: Verify = "first",
        mode: ReadMode = "auto",
        repair: PackRepair | None = None,
    ) -> None:
        """Map the index; packs are mapped when first read.

        Raises ViewIndexError, UnknownFormatError.
        """
        if verify not in ("first", "always", "never"):
            raise ValueError(f"verify must be 'first', 'always' or 'never', not {verify!r}")
        if mode not in ("auto", "mmap", "pread", "direct"):
            raise ValueError(f"mode must be 'auto', 'mmap', 'pread' or 'direct', not {mode!r}")
        self.index = ViewIndex(index_path)
        self.pack_dir = Path(pack_dir)
        self.verify: Verify = verify
        self.repair = repair
        # The lease that keeps the packs from being evicted while this dataset lives.
        self.lease: object | None = None
        self._bytes = int(self.index.sizes.sum())
        self._fits = self._bytes <= available_bytes()
        # Map what fits; direct reads are for whoever knows that nothing is read twice.
        self.mode: Mode = ("mmap" if self._fits else "pread") if mode == "auto" else mode
        self._maps = PackMaps(self.index.packs, self.pack_dir)
        self._files = PackFiles(self.index.packs, self.pack_dir, self.mode == "direct")
        # One byte per row in shared memory: threads and forked children may mark at the same time.
        self._verified = mmap.mmap(-1, max(len(self.index), 1))
        # Plain memoryviews: an item is a Python int, several times faster than a NumPy scalar.
        self._pack_ids = self.index.pack_ids.data
        self._offsets = self.index.offsets.data
        self._sizes = self.index.sizes.data
        self._rows = len(self.index)
        # Rows that were asked for by windows in this epoch.
        self._asked_rows = 0

    def __len__(self) -> int:
        """Number of samples."""
        return self._rows

    def __getitem__(self, row: int) -> Sample:
        """The sample of a row; negative rows count from the end.

        Raises IndexError, PackMissingError, SampleDigestMismatchError.
        """
        if row < 0:
            row += self._rows
        if not 0 <= row < self._rows:
            raise IndexError(f"row {row} of {self._rows}")
        return Sample(self.index, row, self._data(row))

    def __iter__(self) -> Iterator[Sample]:
        """All samples in path order, read ahead."""
        return self.read_many(range(self._rows))

    @property
    def sizes_bytes(self) -> NDArray[np.int64]:
        """Size of each sample, shape (samples,)."""
        return self.index.sizes

    @property
    def content(self) -> bytes:
        """Content digest of the version."""
        return self.index.content

    @property
    def classes(self) -> list[str]:
        """Label names, sorted; `Sample.label_code` counts in this list."""
        return self.index.labels

    def read(self, path: str) -> memoryview:
        """Bytes of a file.

        Raises PathNotFoundError, PackMissingError, SampleDigestMismatchError.
        """
        return self._data(self.index.row_of(path))

    def read_many(
        self, rows: Iterable[int], look_ahead: int = LOOK_AHEAD, epoch_rows: int = 0
    ) -> Iterator[Sample]:
        """Samples of rows in their order; the kernel is asked for `look_ahead` samples beforehand.

        `epoch_rows`: how many rows are read in an epoch, by this call and those beside it, if that
        is more than `rows`; if most of the bytes are, whole windows of the packs are asked for.
        Without maps, threads read beforehand. Raises as `ds[row]` does.
        """
        if self.mode != "mmap" and look_ahead:
            yield from self._read_with_threads(rows, look_ahead)
            return
        if not look_ahead:
            yield from map(self.__getitem__, rows)
            return
        epoch_rows = max(epoch_rows, len(rows) if isinstance(rows, Sized) else 0)
        coming, step = iter(rows), -(-look_ahead // 2)
        waiting = deque([self._asked_for(islice(coming, look_ahead), epoch_rows)])
        while waiting[0]:
            waiting.append(self._asked_for(islice(coming, step), epoch_rows))
            yield from self._mapped(waiting.popleft())

    def _asked_for(self, rows: Iterable[int], epoch_rows: int) -> list[int]:
        """Ask the kernel for a batch of rows; returns them counted from the front."""
        batch = [row + self._rows if row < 0 else row for row in rows]
        if batch and not 0 <= min(batch) <= max(batch) < self._rows:
            bad = next(row for row in batch if not 0 <= row < self._rows)
            raise IndexError(f"row {bad} of {self._rows}")
        where = self._pack_ids, self._offsets, self._sizes
        if not self._is_most(epoch_rows):
            self._maps.will_need_rows(batch, *where)
            return batch
        if self._asked_rows >= epoch_rows:
            self._asked_rows = 0
            self._maps.begin_epoch()
        self._asked_rows += len(batch)
        self._maps.will_need_windows(batch, *where)
        return batch

    def _is_most(self, rows: int) -> bool:
        """Whether reading whole packs takes a disk less time than that many single samples."""
        mean = self._bytes / max(self._rows, 1)
        return self._fits and rows * (mean + _REQUEST_BYTES) >= self._bytes

    def _mapped(self, rows: list[int]) -> Iterator[Sample]:
        """The samples of `self[row]`, in one loop: small samples take twice as long one by one."""
        index, packs, pack_ids = self.index, self._maps.views, self._pack_ids
        offsets, sizes = self._offsets, self._sizes
        good = None if self.verify == "never" else self._verified
        is_first = self.verify == "first"
        for row in rows:
            pack = packs.get(pack_ids[row])
            if pack is None or not (good is None or (is_first and good[row])):
                # To be opened, or to be verified.
                yield self[row]
                continue
            offset = offsets[row]
            yield Sample(index, row, pack[offset : offset + sizes[row]])

    def _read_with_threads(self, rows: Iterable[int], look_ahead: int) -> Iterator[Sample]:
        # Threads of this call only: there is nothing that a fork or another reader could meet.
        with ThreadPoolExecutor(_THREADS, "atom-read") as pool:
            waiting: deque[Future[Sample]] = deque()
            try:
                for row in rows:
                    waiting.append(pool.submit(self.__getitem__, row))
                    if len(waiting) > look_ahead:
                        yield waiting.popleft().result()
                while waiting:
                    yield waiting.popleft().result()
            finally:
                pool.shutdown(wait=False, cancel_futures=True)

    def iter_shuffled(
        self, seed: int, epoch: int, look_ahead: int = LOOK_AHEAD
    ) -> Iterator[Sample]:
        """All samples in an order that depends on the view, the seed and the epoch only."""
        return self.read_many(shuffled_order(self._rows, seed, epoch).tolist(), look_ahead)

    def missing_packs(self) -> list[bytes]:
        """Digests of the packs that are not on this node."""
        return [
            pack for pack in self.index.packs if not (self.pack_dir / f"{pack.hex()}.tar").exists()
        ]

    def _data(self, row: int) -> memoryview:
        data = self._stored(row)
        if self.verify == "never" or (self.verify == "first" and self._verified[row]):
            return data
        return self._verify(row, data)

    def _stored(self, row: int) -> memoryview:
        """The bytes of a row on this node, right or wrong; fewer bytes if its pack was cut."""
        offset = self._offsets[row]
        try:
            if self.mode == "mmap":
                pack = self._maps.view(self._pack_ids[row])
                return pack[offset : offset + self._sizes[row]]
            return self._files.read(self._pack_ids[row], offset, self._sizes[row])
        except PackMissingError as error:
            raise PackMissingError(error.pack, self.index.path_of(row)) from error

    def _verify(self, row: int, data: memoryview) -> memoryview:
        # A pack that was cut short gives fewer bytes and so another digest.
        if not self._is_good(row, data):
            data = self._repaired(row)
        self._verified[row] = 1
        return data

    def _repaired(self, row: int) -> memoryview:
        """Bytes of a row whose pack is corrupt, once it was fetched again."""
        path, pack = self.index.path_of(row), self.index.packs[self._pack_ids[row]]
        if self.repair is None:
            file = self.pack_dir / f"{pack.hex()}.tar"
            raise SampleDigestMismatchError(path, pack.hex(), str(file))
        self.repair.repair(pack, path)
        # The map is of the file from before; samples that are in use keep it.
        self._maps.drop(self._pack_ids[row])
        data = self._stored(row)
        if not self._is_good(row, data):
            raise self.repair.still_damaged(pack, path)
        return data

    def _is_good(self, row: int, data: memoryview) -> bool:
        return blake3(data).digest() == self.index.digest_of(row)

    def _will_need(self, row: int) -> None:
        if not -self._rows <= row < self._rows:
            raise IndexError(f"row {row} of {self._rows}")
        if self.mode != "mmap":
            return
        # A missing pack is reported when its sample is due, with the sample's name.
        try:
            self._maps.will_need(self._pack_ids[row], self._offsets[row], self._sizes[row])
        except PackMissingError:
            return

    def __reduce__(self) -> tuple[type[LocalDataset], tuple[object, ...]]:
        """Pickle paths and the origin for repairs; the other process maps the files itself."""
        arguments = (self.index.path, self.pack_dir, self.verify, self.mode, self.repair)
        return LocalDataset, arguments
