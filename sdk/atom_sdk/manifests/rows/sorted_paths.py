"""Where paths stand in an array of sorted paths."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

Side = Literal["left", "right"]


def positions(paths: pa.Array, wanted: pa.Array, side: Side) -> NDArray[np.int64]:
    """How many of the sorted paths are before each wanted one, or not after it (`right`)."""
    if hasattr(pc, "search_sorted"):
        return np.asarray(pc.search_sorted(paths, wanted, side=side), np.int64)
    return positions_in_list(paths.to_pylist(), wanted.to_pylist(), side)


def rows_of_paths(paths: pa.Array, wanted: pa.Array) -> NDArray[np.int64]:
    """The row of each wanted path among the sorted paths, -1 where it is not there."""
    found = positions(paths, wanted, "left")
    if not len(paths):
        return np.full(len(wanted), -1)
    there = paths.take(pa.array(np.minimum(found, len(paths) - 1)))
    return np.where(np.asarray(pc.equal(there, wanted)), found, -1)


def positions_in_list(paths: list[str], wanted: Sequence[str], side: Side) -> NDArray[np.int64]:
    """`positions` where Arrow is too old to search."""
    search = bisect_left if side == "left" else bisect_right
    return np.array([search(paths, path) for path in wanted], np.int64)
