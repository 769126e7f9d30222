"""Workers as a DataLoader has them, without torch: they live for many epochs and begin in turn."""

from __future__ import annotations

import multiprocessing
from collections.abc import Iterator
from contextlib import contextmanager
from multiprocessing.connection import Connection
from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.readers.epochs import EpochOptions, EpochSamples


class Numbers:
    """Samples that are their own row numbers."""

    content = b"\7" * 32

    def __init__(self, count: int) -> None:
        self.sizes_bytes: NDArray[np.int64] = np.full(count, 1 << 20, np.int64)

    def read_many(self, rows: Any, *, epoch_rows: int = 0) -> Iterator[Any]:
        return iter(rows)


def itself(row: Any) -> Any:
    return row


class Samples(EpochSamples[Any]):
    """Knows its worker as IterableSamples knows it from torch: by what the process was told."""

    place: tuple[int, int] | None = None

    def worker(self) -> tuple[int, int]:
        return self.place or (0, 1)

    def pool(self) -> int | None:
        return None if self.place is None else 11


def samples_of(count: int, ranks: tuple[int, int] = (0, 1), batch: int = 3) -> Samples:
    return Samples(Numbers(count), itself, batch, EpochOptions(seed=5), ranks)


def _work(samples: Samples, place: tuple[int, int], pipe: Connection) -> None:
    samples.place = place
    for _ in iter(pipe.recv, "end"):
        pipe.send(list(samples))


class Workers:
    """The persistent workers of one loader."""

    def __init__(self, samples: Samples, count: int, method: str) -> None:
        context: Any = multiprocessing.get_context(method)
        self._pipes: list[Connection] = []
        self._processes = []
        for number in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_work, args=(samples, (number, count), theirs), daemon=True
            )
            process.start()
            self._pipes.append(ours)
            self._processes.append(process)

    def begin(self, worker: int) -> list[int]:
        """Let one worker begin its next epoch; returns all that it reads."""
        self._pipes[worker].send("begin")
        rows: list[int] = self._pipes[worker].recv()
        return rows

    def epoch(self, batch: int) -> list[int]:
        """An epoch in the order of a DataLoader: the workers' batches in turn."""
        rows = [self.begin(worker) for worker in range(len(self._pipes))]
        return interleaved(rows, batch)

    def end(self) -> None:
        for pipe in self._pipes:
            pipe.send("end")
        for process in self._processes:
            process.join(20)


def interleaved(rows: list[list[int]], batch: int) -> list[int]:
    queues = [[own[at : at + batch] for at in range(0, len(own), batch)] for own in rows]
    found: list[int] = []
    while any(queues):
        found += [row for queue in queues if queue for row in queue.pop(0)]
    return found


@contextmanager
def workers(samples: Samples, count: int, method: str) -> Iterator[Workers]:
    made = Workers(samples, count, method)
    try:
        yield made
    finally:
        made.end()
