"""All pairs of 64-bit hashes that differ in few bits, without comparing each with each.

Multi-index hashing (Norouzi et al. 2012): if two hashes differ in at most r bits, one of their
four words of 16 bits differs in at most r // 4. So candidates are looked up per word, under the
word itself and under each that is as close; then all 64 bits are counted.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

_WORD_BITS = 16
_WORDS = 4
_CANDIDATES_AT_ONCE = 1 << 21
MAX_PAIRS = 10_000_000


@dataclass(frozen=True)
class Pairs:
    """Positions of hashes, `first` < `second`, shape (pairs,); partial if there were too many."""

    first: NDArray[np.int64]
    second: NDArray[np.int64]
    is_partial: bool = False


def near_pairs(hashes: NDArray[np.uint64], distance: int, max_pairs: int = MAX_PAIRS) -> Pairs:
    """Return the pairs of distinct hashes, shape (hashes,), within `distance` bits."""
    found: list[NDArray[np.int64]] = []
    kept = 0
    for candidates in _candidates(hashes, distance // _WORDS):
        first, second = candidates.min(axis=0), candidates.max(axis=0)
        near = np.bitwise_count(hashes[first] ^ hashes[second]) <= distance
        found.append(first[near] * len(hashes) + second[near])
        kept += int(near.sum())
        if kept > max_pairs * _WORDS:
            break
    # A pair that is close in several words was found as often.
    codes = np.unique(np.concatenate(found)) if found else np.empty(0, np.int64)
    is_partial = kept > max_pairs * _WORDS or len(codes) > max_pairs
    codes = codes[:max_pairs]
    size = max(len(hashes), 1)
    return Pairs(codes // size, codes % size, is_partial)


def _candidates(hashes: NDArray[np.uint64], word_distance: int) -> Iterator[NDArray[np.int64]]:
    """Yield arrays of shape (2, candidates): positions whose words of one place are close."""
    for word in range(_WORDS):
        shift = np.uint64(word * _WORD_BITS)
        values = ((hashes >> shift) & np.uint64(0xFFFF)).astype(np.int64)
        order = np.argsort(values, kind="stable")
        starts = np.searchsorted(values[order], np.arange((1 << _WORD_BITS) + 1))
        for flip in _flips(word_distance):
            yield from _in_buckets(values, order, starts, flip)


def _flips(word_distance: int) -> Iterator[int]:
    for count in range(word_distance + 1):
        for bits in combinations(range(_WORD_BITS), count):
            yield sum(1 << bit for bit in bits)


def _in_buckets(
    values: NDArray[np.int64], order: NDArray[np.int64], starts: NDArray[np.int64], flip: int
) -> Iterator[NDArray[np.int64]]:
    sorted_values = values[order]
    places = np.arange(len(order))
    if flip:
        # Two buckets that face each other are met from the lower one only.
        places = places[sorted_values < (sorted_values ^ flip)]
    facing = sorted_values[places] ^ flip
    begin = starts[facing] if flip else places + 1
    counts = starts[facing + 1] - begin
    for part in _chunks(counts):
        lengths = counts[part]
        left = np.repeat(places[part], lengths)
        within = np.arange(len(left)) - np.repeat(np.cumsum(lengths) - lengths, lengths)
        right = np.repeat(begin[part], lengths) + within
        if len(left):
            yield np.stack([order[left], order[right]])


def _chunks(counts: NDArray[np.int64]) -> Iterator[slice]:
    """Yield slices with about as many candidates as fit into memory well."""
    total = np.cumsum(counts)
    start = 0
    while start < len(counts):
        before = total[start - 1] if start else 0
        end = int(np.searchsorted(total, before + _CANDIDATES_AT_ONCE, side="right"))
        end = max(end, start + 1)
        yield slice(start, end)
        start = end
