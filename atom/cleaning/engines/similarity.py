"""Which rows are alike: rows in cells, cells that are close, rows ranked by who should stay."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom.cleaning.engines.hamming import Pairs, near_pairs
from atom.cleaning.engines.thresholds import FEATURELESS_SHARPNESS, WHOLE_HASH_SIDE_PX

# Held-out data stays first: removing it would change the data that results are compared on.
_SPLIT_ORDER = ("test", "val")
UNSPLIT_IS = "train"


@dataclass(frozen=True)
class Likeness:
    """Rows of a joined table, n of them; every array but `hashes` and the pairs has shape (n,).

    `digest` numbers the distinct digests. Rows of one `cell` have one perceptual hash, or, where
    an image has none that means anything, one digest. `rank` orders rows: the lower is kept.
    `split` numbers `split_names`; all are 0 in a version without splits. `hashes` (cells,) is the
    hash of a cell, `has_hash` (cells,) whether it has one; `first` and `second` are close cells.
    """

    digest: NDArray[np.int64]
    cell: NDArray[np.int64]
    rank: NDArray[np.int64]
    split: NDArray[np.int64]
    split_names: list[str]
    hashes: NDArray[np.uint64]
    has_hash: NDArray[np.bool_]
    first: NDArray[np.int64]
    second: NDArray[np.int64]
    is_partial: bool

    def distance(self, cell: NDArray[np.int64], other: NDArray[np.int64]) -> NDArray[np.int64]:
        """Return in how many bits the hashes of cells differ."""
        bits: NDArray[np.uint8] = np.bitwise_count(self.hashes[cell] ^ self.hashes[other])
        return bits.astype(np.int64)

    def neighbours(self) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
        """Return (starts, cells): the cells close to `c` are `cells[starts[c]:starts[c + 1]]`."""
        left = np.concatenate([self.first, self.second])
        right = np.concatenate([self.second, self.first])
        order = np.argsort(left, kind="stable")
        starts = np.searchsorted(left[order], np.arange(len(self.hashes) + 1))
        return starts, right[order]


def likeness(table: pa.Table, near_distance: int) -> Likeness:
    """Look for what is alike in a joined table."""
    digest = _numbered(table["digest"])
    has_hash = _has_meaningful_hash(table)
    hashes: NDArray[np.uint64] = pc.fill_null(table["phash"], 0).to_numpy()
    distinct, of_hashed = np.unique(hashes[has_hash], return_inverse=True)
    cell = np.empty(len(table), np.int64)
    cell[has_hash] = of_hashed
    bare, of_bare = np.unique(digest[~has_hash], return_inverse=True)
    cell[~has_hash] = len(distinct) + of_bare
    pairs = _kept(near_pairs(distinct, near_distance), distinct, _sides(table, cell), near_distance)
    split, names = _splits(table)
    return Likeness(
        digest=digest,
        cell=cell,
        rank=_rank(table, split, names),
        split=split,
        split_names=names,
        hashes=np.concatenate([distinct, np.zeros(len(bare), np.uint64)]),
        has_hash=np.arange(len(distinct) + len(bare)) < len(distinct),
        first=pairs.first,
        second=pairs.second,
        is_partial=pairs.is_partial,
    )


def _sides(table: pa.Table, cell: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return the shorter side of the largest image of each cell in pixels, shape (cells,)."""
    sides = np.zeros(int(cell.max(initial=-1)) + 1, np.int64)
    np.maximum.at(sides, cell, np.minimum(_ints(table["width"]), _ints(table["height"])))
    return sides


def _kept(
    pairs: Pairs, hashes: NDArray[np.uint64], sides: NDArray[np.int64], near_distance: int
) -> Pairs:
    """Return the pairs that are as close as the smaller of the two images demands."""
    share = np.minimum(sides, WHOLE_HASH_SIDE_PX) / WHOLE_HASH_SIDE_PX
    allowed = np.ceil(near_distance * share)
    bits = np.bitwise_count(hashes[pairs.first] ^ hashes[pairs.second])
    near = bits <= np.minimum(allowed[pairs.first], allowed[pairs.second])
    return Pairs(pairs.first[near], pairs.second[near], pairs.is_partial)


def _numbered(column: pa.ChunkedArray) -> NDArray[np.int64]:
    return _ints(column.combine_chunks().dictionary_encode().indices)


def _ints(column: pa.Array) -> NDArray[np.int64]:
    filled: NDArray[np.int64] = pc.fill_null(column, 0).cast(pa.int64()).to_numpy()
    return filled


def _has_meaningful_hash(table: pa.Table) -> NDArray[np.bool_]:
    readable = pc.and_(table["phash"].is_valid(), table["unreadable"].is_null())
    seen = pc.fill_null(pc.greater_equal(table["sharpness"], FEATURELESS_SHARPNESS), False)
    found: NDArray[np.bool_] = pc.and_(readable, seen).to_numpy()
    return found


def _splits(table: pa.Table) -> tuple[NDArray[np.int64], list[str]]:
    if table["split"].null_count == len(table):
        return np.zeros(len(table), np.int64), [UNSPLIT_IS]
    filled = pc.fill_null(table["split"], UNSPLIT_IS).combine_chunks().dictionary_encode()
    return _ints(filled.indices), filled.dictionary.to_pylist()


def _rank(table: pa.Table, split: NDArray[np.int64], names: list[str]) -> NDArray[np.int64]:
    """Held-out rows first, then labelled, then with more pixels, then of more bytes.

    For one picture, more bytes mean less loss by compression; sharpness would prefer artefacts.
    """
    places = [_SPLIT_ORDER.index(name) if name in _SPLIT_ORDER else len(_SPLIT_ORDER)
              for name in names]  # fmt: skip
    pixels = _ints(table["width"]) * _ints(table["height"])
    size = _ints(table["size"])
    unlabelled = table["label"].is_null().to_numpy()
    order = np.lexsort((-size, -pixels, unlabelled, np.array(places, np.int64)[split]))
    rank = np.empty(len(table), np.int64)
    rank[order] = np.arange(len(table))
    return rank
