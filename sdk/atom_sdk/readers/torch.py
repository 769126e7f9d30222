"""Datasets for `torch.utils.data.DataLoader`: map-style, with a sampler, and iterable.

Torch itself is imported only when a tensor or an IterableSamples is made.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, Any, Generic, TypeVar

from atom_sdk.readers.epochs import EpochSampler, EpochSamples
from atom_sdk.readers.local import LocalDataset, Sample

if TYPE_CHECKING:
    import torch

    from atom_sdk.readers.torch_iterable import IterableSamples

__all__ = ["EpochSampler", "EpochSamples", "IterableSamples", "TorchDataset", "bytes_tensor"]

T = TypeVar("T")


class TorchDataset(Generic[T]):
    """Gives `decode(sample)` per row. DataLoader needs no base class, only these methods.

    `decode` turns a Sample into what the training loop wants, for example `(tensor, label_code)`.
    Workers may be forked or spawned; `decode` must then be picklable.
    """

    def __init__(self, dataset: LocalDataset, decode: Callable[[Sample], T]) -> None:
        """Keep both; nothing is read yet."""
        self.dataset = dataset
        self.decode = decode

    @property
    def classes(self) -> list[str]:
        """Label names in the order of their codes."""
        return self.dataset.classes

    def __len__(self) -> int:
        """Number of samples."""
        return len(self.dataset)

    def __getitem__(self, row: int) -> T:
        """The decoded sample of a row; raises as LocalDataset does."""
        return self.decode(self.dataset[row])

    def __getitems__(self, rows: Sequence[int]) -> list[T]:
        """The decoded samples of a batch; DataLoader calls this so that the batch is read ahead."""
        samples = self.dataset.read_many(rows, epoch_rows=len(self.dataset))
        return [self.decode(sample) for sample in samples]


def bytes_tensor(sample: Sample) -> torch.Tensor:
    """The file's bytes as a uint8 tensor of shape (bytes,), a copy that may be written to."""
    import torch

    # frombuffer warns about read-only memory, so the copy is made first.
    data: Any = bytearray(sample.data)
    return torch.frombuffer(data, dtype=torch.uint8) if data else torch.empty(0, dtype=torch.uint8)


def __getattr__(name: str) -> Any:
    """Import torch only for whoever wants its base class."""
    if name != "IterableSamples":
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    from atom_sdk.readers.torch_iterable import IterableSamples

    return IterableSamples
