"""Readers: samples of a dataset view on this node, by row, by path, shuffled, for torch."""

from atom_sdk.readers.local import LocalDataset, Sample
from atom_sdk.readers.order import shuffled_order
from atom_sdk.readers.view import ViewIndex

__all__ = ["LocalDataset", "Sample", "ViewIndex", "shuffled_order"]
