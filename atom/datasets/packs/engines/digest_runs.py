"""Sets of digests that may be larger than memory: sorted runs on disk, read as one stream."""

from __future__ import annotations

import heapq
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby, islice
from pathlib import Path
from typing import TypeVar

import numpy as np
from numpy.typing import NDArray

DIGEST_BYTES = 32
# 32 MiB of digests before a run is written.
_RUN_ROWS = 1 << 20
_READ_ROWS = 1 << 14

T = TypeVar("T")


class DigestRuns:
    """Digests of 32 bytes, added in any order and read sorted, each once.

    Memory is bounded by one run while adding, and by a small block of each run while reading.
    """

    def __init__(self, folder: Path, run_rows: int = _RUN_ROWS) -> None:
        """`folder` is made with the first run; the caller removes it."""
        self._folder = folder
        self._run_rows = run_rows
        self._open = bytearray()
        self._runs: list[Path] = []

    def add(self, digests: Iterable[bytes]) -> None:
        """Take digests in. Raises ValueError for one that is not 32 bytes long."""
        for digest in digests:
            if len(digest) != DIGEST_BYTES:
                raise ValueError(f"a digest has {DIGEST_BYTES} bytes, not {len(digest)}")
            self._open += digest
            if len(self._open) >= self._run_rows * DIGEST_BYTES:
                self._spill()

    def __iter__(self) -> Iterator[bytes]:
        """Yield every digest once, in order."""
        parts = [_read(path) for path in self._runs]
        merged = heapq.merge(*parts, _rows(_sorted(self._open)))
        return (digest for digest, _ in groupby(merged))

    def _spill(self) -> None:
        self._folder.mkdir(parents=True, exist_ok=True)
        path = self._folder / f"{len(self._runs):06d}.run"
        _sorted(self._open).tofile(path)
        self._runs.append(path)
        self._open = bytearray()


def without(
    candidates: Iterable[T], live: Iterable[bytes], digest_of: Callable[[T], bytes]
) -> Iterator[T]:
    """Yield the candidates whose digest is not in `live`; both come sorted by digest."""
    stream = iter(live)
    present = next(stream, None)
    for candidate in candidates:
        digest = digest_of(candidate)
        while present is not None and present < digest:
            present = next(stream, None)
        if present != digest:
            yield candidate


def in_batches(items: Iterable[T], size: int) -> Iterator[list[T]]:
    """Yield lists of at most `size` items."""
    stream = iter(items)
    while batch := list(islice(stream, size)):
        yield batch


def _sorted(data: bytearray) -> NDArray[np.bytes_]:
    return np.unique(np.frombuffer(bytes(data), dtype=f"S{DIGEST_BYTES}"))


def _read(path: Path) -> Iterator[bytes]:
    with path.open("rb") as file:
        while block := file.read(_READ_ROWS * DIGEST_BYTES):
            yield from _cut(block)


def _rows(digests: NDArray[np.bytes_]) -> Iterator[bytes]:
    return _cut(digests.tobytes())


def _cut(block: bytes) -> Iterator[bytes]:
    for start in range(0, len(block), DIGEST_BYTES):
        yield block[start : start + DIGEST_BYTES]
