"""Shuffled orders that are the same on every machine, with every library version, for ever."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

_CHUNK_BYTES = 32 << 20
_WINDOW_CHUNKS = 8
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


def canonical_order(
    sizes_bytes: NDArray[np.int64], content: bytes, seed: int, epoch: int, nodes: int = 1
) -> NDArray[np.int64]:
    """A permutation of the rows, shape (rows,), for reading few packs at a time.

    It depends on the arguments only, so neither on packs nor on who reads. Rows in path order are
    cut into chunks of 32 MiB; the chunks are shuffled and shared out to the canonical nodes, and
    each node shuffles its samples within 8 chunks. Position p belongs to node p modulo `nodes`.
    """
    count = len(sizes_bytes)
    chunk = np.cumsum(sizes_bytes) // _CHUNK_BYTES
    chunks = np.unique(chunk, return_inverse=True)[1]
    own_seed = int.from_bytes(content[:8], "big") ^ (seed % 2**64)
    place = np.argsort(shuffled_order(int(chunks.max(initial=-1)) + 1, own_seed, epoch))
    # Rows by the place of their chunk, still in path order within it.
    by_chunk = np.argsort(place[chunks], kind="stable")
    node = np.arange(count) * nodes // max(count, 1)
    window = place[chunks][by_chunk] // _WINDOW_CHUNKS
    random = np.argsort(shuffled_order(count, own_seed + 1, epoch))
    rows = by_chunk[np.lexsort((random, window, node))]
    # Interleave: the k-th sample of every node, then the next of every node.
    turn = np.arange(count) - np.searchsorted(node, node)
    interleaved: NDArray[np.int64] = rows[np.lexsort((node, turn))].astype(np.int64, copy=False)
    return interleaved
