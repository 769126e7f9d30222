"""One order of samples per epoch, dealt to ranks and workers, that can be resumed with others.

All ranks together take the positions of the order from the front, rank r every `ranks`-th of them;
workers of a rank take its batches in turn. The read samples are therefore always a beginning of the
order, whatever the numbers of ranks and workers, and other numbers go on where it ends.
"""

from __future__ import annotations

import copy
import os
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any, Generic, Literal, Protocol, Self, TypeVar

import numpy as np
from numpy.typing import NDArray

from atom_sdk.errors import ResumeMismatchError
from atom_sdk.readers.local import Sample
from atom_sdk.readers.order import canonical_order
from atom_sdk.readers.position import Position, SharedPosition

T = TypeVar("T")
Uneven = Literal["exact", "pad", "drop"]


class Samples(Protocol):
    """A LocalDataset, a StreamingDataset, or a split of one."""

    @property
    def sizes_bytes(self) -> NDArray[np.int64]:
        """Size of each sample, shape (samples,)."""

    @property
    def content(self) -> bytes:
        """Content digest of the version."""

    def read_many(self, rows: Iterable[int], /, *, epoch_rows: int = 0) -> Iterator[Sample]:
        """Samples by number, read ahead; an epoch reads at least `epoch_rows` of them."""


@dataclass(frozen=True)
class EpochOptions:
    """The options that the order depends on, and how its end is dealt.

    `uneven`: when the ranks do not divide the samples, "exact" gives some ranks one more, "pad"
    repeats the first samples, "drop" leaves the last ones out. Ranks that wait for each other at
    every step need "pad" or "drop".
    """

    seed: int = 0
    canonical_nodes: int = 1
    shuffle: bool = True
    uneven: Uneven = "exact"

    def __post_init__(self) -> None:
        """Raises ValueError for what no order has."""
        if self.canonical_nodes < 1:
            raise ValueError(f"canonical_nodes must be at least 1, not {self.canonical_nodes}")
        if self.uneven not in ("exact", "pad", "drop"):
            raise ValueError(f"uneven must be 'exact', 'pad' or 'drop', not {self.uneven!r}")


def rank_and_ranks() -> tuple[int, int]:
    """This process among those of the training, as torchrun and Atom's runner say it."""
    return int(os.environ.get("RANK", "0")), int(os.environ.get("WORLD_SIZE", "1"))


class Epochs:
    """The order of each epoch and how much of it all ranks have read together."""

    def __init__(
        self,
        samples: Samples,
        options: EpochOptions | None = None,
        position: Position | None = None,
    ) -> None:
        """Begin at a position, or at the front of epoch 0."""
        self.samples = samples
        self.options = options or EpochOptions()
        self._position = position or Position()

    @property
    def epoch(self) -> int:
        """The epoch that is read, counted from 0."""
        return self._position.epoch

    @epoch.setter
    def epoch(self, epoch: int) -> None:
        self._position.move_to(epoch, self.sample)

    @property
    def sample(self) -> int:
        """How many samples of the epoch all ranks together have trained on."""
        return self._position.sample

    @sample.setter
    def sample(self, sample: int) -> None:
        self._position.move_to(self.epoch, sample)

    def set_epoch(self, epoch: int) -> None:
        """Begin at the front of an epoch; one that was resumed and goes on is left as it is."""
        if epoch != self.epoch:
            self._position.move_to(epoch, 0)

    def __copy__(self) -> Self:
        """The same samples, with a position of its own."""
        twin = object.__new__(type(self))
        twin.__dict__.update(self.__dict__, _position=copy.copy(self._position))
        return twin

    def order(self) -> NDArray[np.int64]:
        """All rows in the order of this epoch, shape (samples,)."""
        sizes = self.samples.sizes_bytes
        if not self.options.shuffle:
            return np.arange(len(sizes), dtype=np.int64)
        return canonical_order(
            sizes,
            self.samples.content,
            self.options.seed,
            self.epoch,
            self.options.canonical_nodes,
        )

    def rows_of(self, rank: int, ranks: int) -> NDArray[np.int64]:
        """The rest of the epoch for a rank, shape (rows,)."""
        if not 0 <= rank < ranks:
            raise ValueError(f"rank {rank} of {ranks}")
        order = self.order()
        left = order[self.sample :]
        if self.options.uneven == "drop":
            left = left[: len(left) - len(left) % ranks]
        elif self.options.uneven == "pad" and len(left):
            left = np.concatenate([left, np.resize(order, -len(left) % ranks)])
        return left[rank::ranks]

    def advance(self, samples: int) -> None:
        """Say that all ranks together have trained on so many more samples of this epoch."""
        self._position.move_to(
            self.epoch, min(self.sample + samples, len(self.samples.sizes_bytes))
        )

    def state_dict(self) -> dict[str, Any]:
        """Where the training is; the same on every rank."""
        return {**self._identity(), "epoch": self.epoch, "sample": self.sample}

    def load_state_dict(self, state: dict[str, Any]) -> None:
        """Go on where a state was saved, with any number of ranks and workers.

        Raises ResumeMismatchError if the order was another one, or the state is corrupt.
        """
        for name, own in self._identity().items():
            if state.get(name) != own:
                raise ResumeMismatchError(
                    f"The saved position has {name} {state.get(name)!r}, this order has {own!r}."
                )
        epoch, sample = state.get("epoch"), state.get("sample")
        if not isinstance(epoch, int) or not isinstance(sample, int):
            raise ResumeMismatchError("The saved position has no epoch or no sample.")
        if not 0 <= sample <= len(self.samples.sizes_bytes):
            raise ResumeMismatchError(f"The saved position has no sample {sample}.")
        self._position.move_to(epoch, sample)

    def _identity(self) -> dict[str, Any]:
        return {
            "content": self.samples.content.hex(),
            "samples": len(self.samples.sizes_bytes),
            "seed": self.options.seed,
            "canonical_nodes": self.options.canonical_nodes,
            "shuffle": self.options.shuffle,
        }


class EpochSamples(Epochs, Generic[T]):
    """Gives `decode(sample)` for each sample of this rank and worker; needs no torch by itself.

    Workers begin each epoch where the training was when its iterator was made, also those that
    live for many epochs.
    """

    def __init__(
        self,
        samples: Samples,
        decode: Callable[[Sample], T],
        batch_size: int = 1,
        options: EpochOptions | None = None,
        ranks: tuple[int, int] | None = None,
    ) -> None:
        """`batch_size` as the DataLoader's: workers take whole batches in turn.

        `ranks` is (rank, number of ranks), from RANK and WORLD_SIZE if it is None.
        """
        if batch_size < 1:
            raise ValueError(f"batch_size must be at least 1, not {batch_size}")
        super().__init__(samples, options, SharedPosition())
        self.decode = decode
        self.batch_size = batch_size
        self.rank, self.ranks = ranks or rank_and_ranks()

    def __iter__(self) -> Iterator[T]:
        """The rest of the epoch, for this rank and worker."""
        worker, workers = self.worker()
        pool = self.pool()
        # Now, not with the first sample: the training may have moved on by then.
        if pool is not None and isinstance(self._position, SharedPosition):
            self._position.begin(pool, workers)
        rows = self.rows_of(self.rank, self.ranks)
        batch = np.arange(len(rows)) // self.batch_size
        own = rows[batch % workers == worker].tolist()
        return map(self.decode, self.samples.read_many(own, epoch_rows=len(rows)))

    def worker(self) -> tuple[int, int]:
        """This worker and the number of workers."""
        return 0, 1

    def pool(self) -> int | None:
        """A number that the workers of one loader share; None in the process that trains."""
        return None

    def step(self) -> None:
        """Say that every rank has trained on one more batch."""
        self.advance(self.batch_size * self.ranks)


class EpochSampler(Epochs):
    """Row numbers for a DataLoader over a map-style dataset: `DataLoader(data, sampler=...)`."""

    def __init__(
        self,
        samples: Samples,
        options: EpochOptions | None = None,
        ranks: tuple[int, int] | None = None,
    ) -> None:
        """`ranks` is (rank, number of ranks), from RANK and WORLD_SIZE if it is None."""
        super().__init__(samples, options)
        self.rank, self.ranks = ranks or rank_and_ranks()

    def __iter__(self) -> Iterator[int]:
        """The rows that are left for this rank."""
        return iter(self.rows_of(self.rank, self.ranks).tolist())

    def __len__(self) -> int:
        """How many rows are left for this rank."""
        left = len(self.samples.sizes_bytes) - self.sample
        if self.options.uneven == "drop":
            return left // self.ranks
        if self.options.uneven == "pad":
            return (left + self.ranks - 1) // self.ranks
        return len(range(self.rank, left, self.ranks))

    def step(self, batch_size: int) -> None:
        """Say that every rank has trained on one more batch."""
        self.advance(batch_size * self.ranks)
