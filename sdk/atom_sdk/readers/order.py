"""Shuffled orders that are the same on every machine, with every library version, for ever."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_GOLDEN = np.uint64(0x9E3779B97F4A7C15)


def shuffled_order(count: int, seed: int, epoch: int) -> NDArray[np.int64]:
    """A permutation of range(count), shape (count,), that depends on the arguments only.

    Rows are sorted by SplitMix64 (Steele et al. 2014) of their number, keyed by seed and epoch.
    NumPy's own generators may change between releases, so a resumed run could see another order.
    """
    key = _mix(_mix(np.array([seed % 2**64], np.uint64)) ^ np.array([epoch % 2**64], np.uint64))
    keys = _mix(np.arange(count, dtype=np.uint64) + key)
    return np.argsort(keys, kind="stable").astype(np.int64, copy=False)


def _mix(values: NDArray[np.uint64]) -> NDArray[np.uint64]:
    """The finaliser of SplitMix64, modulo 2**64."""
    mixed = values + _GOLDEN
    mixed = (mixed ^ (mixed >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    mixed = (mixed ^ (mixed >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return mixed ^ (mixed >> np.uint64(31))
