"""One split of a dataset, as a sequence of samples."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np
from numpy.typing import NDArray

from atom_sdk.readers import LocalDataset, Sample
from atom_sdk.readers.unsplit import warn_of_unsplit

TRAIN = "train"


class SplitView:
    """Samples of some rows of a dataset; `view[i]` has `.path .label .split .data`."""

    def __init__(self, dataset: LocalDataset, rows: NDArray[np.int64]) -> None:
        """`rows` are row numbers of the dataset, shape (samples,)."""
        self.dataset = dataset
        self.rows = rows

    def __len__(self) -> int:
        """Return the number of samples."""
        return len(self.rows)

    def __getitem__(self, number: int) -> Sample:
        """Return a sample. Raises IndexError and what the dataset raises."""
        return self.dataset[int(self.rows[number])]

    def __iter__(self) -> Iterator[Sample]:
        """Iterate in path order, reading ahead."""
        return self.dataset.read_many(self.rows.tolist())

    def read_many(self, numbers: Iterable[int], *, epoch_rows: int = 0) -> Iterator[Sample]:
        """Iterate over samples by number, reading ahead; an epoch reads the split, or so many."""
        rows = (int(self.rows[number]) for number in numbers)
        return self.dataset.read_many(rows, epoch_rows=epoch_rows or len(self.rows))

    @property
    def sizes_bytes(self) -> NDArray[np.int64]:
        """Return the size of each sample, shape (samples,)."""
        sizes: NDArray[np.int64] = self.dataset.index.sizes[self.rows]
        return sizes

    @property
    def content(self) -> bytes:
        """Return the content digest of the version."""
        return self.dataset.content

    @property
    def classes(self) -> list[str]:
        """Return the names of the labels, sorted; `label_codes` count in this list."""
        return self.dataset.classes

    @property
    def label_codes(self) -> NDArray[np.int32]:
        """Return the label of each sample, shape (samples,), -1 without a label."""
        codes: NDArray[np.int32] = self.dataset.index.label_codes[self.rows]
        return codes


def split_of(dataset: LocalDataset, split: str | None) -> SplitView:
    """Choose a split of a dataset. See `atom_sdk.run.dataset`."""
    if split == TRAIN:
        warn_of_unsplit(dataset.index, "The dataset")
    return SplitView(dataset, _rows(dataset, split))


def _rows(dataset: LocalDataset, split: str | None) -> NDArray[np.int64]:
    index = dataset.index
    if split is None:
        return np.arange(len(index), dtype=np.int64)
    wanted = index.splits.index(split) if split in index.splits else None
    chosen = np.zeros(len(index), dtype=bool)
    if wanted is not None:
        chosen |= index.split_codes == wanted
    if split == TRAIN:
        chosen |= index.split_codes < 0
    return np.flatnonzero(chosen).astype(np.int64)
