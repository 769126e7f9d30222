"""The iterable dataset; the only module of the readers that imports torch with itself."""

from __future__ import annotations

from typing import TypeVar

import torch.utils.data

from atom_sdk.readers.epochs import EpochSamples

T = TypeVar("T")


class IterableSamples(EpochSamples[T], torch.utils.data.IterableDataset):  # type: ignore[misc]
    """An EpochSamples that DataLoader knows as iterable: `DataLoader(data, batch_size=64, …)`.

    Give both the same batch size, so that the order is the same for any number of workers. Set the
    epoch, or resume, before `iter(loader)`: workers begin where the training is then, persistent
    ones too.
    """

    def worker(self) -> tuple[int, int]:
        """This worker of the DataLoader and how many there are."""
        info = torch.utils.data.get_worker_info()
        return (0, 1) if info is None else (info.id, info.num_workers)

    def pool(self) -> int | None:
        """The seed of the DataLoader, which its workers share; None outside of workers."""
        info = torch.utils.data.get_worker_info()
        return None if info is None else int(info.seed) - int(info.id)
