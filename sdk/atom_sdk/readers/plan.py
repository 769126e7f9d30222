"""Which blocks of its packs a view needs."""

from __future__ import annotations

from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from atom_sdk.packs.partial import BLOCK_BYTES, block_count
from atom_sdk.readers.view import ViewIndex

# Above this share the rest of a pack is fetched too: a whole pack is verified and serves other
# views.
_WHOLE_SHARE = 0.5


class BlockPlan:
    """The blocks that samples of a view touch, per pack."""

    def __init__(self, index: ViewIndex) -> None:
        """Nothing is computed yet."""
        self._index = index

    def needed(self, pack_id: int, pack_bytes: int) -> NDArray[np.bool_]:
        """Whether each block of a pack is needed, shape (blocks,); all if at least half are."""
        start, end = np.searchsorted(self._sorted_ids, (pack_id, pack_id + 1))
        rows = self._rows[start:end]
        first = self._index.offsets[rows] // BLOCK_BYTES
        after = -(-(self._index.offsets[rows] + self._index.sizes[rows]) // BLOCK_BYTES)
        # +1 where a sample begins, -1 after its end: the running sum counts samples per block.
        steps = np.zeros(max(block_count(pack_bytes), int(after.max(initial=0))) + 2, np.int64)
        np.add.at(steps, first, 1)
        np.add.at(steps, np.maximum(after, first), -1)
        needed: NDArray[np.bool_] = (np.cumsum(steps) > 0)[: block_count(pack_bytes)]
        if needed.mean() >= _WHOLE_SHARE:
            needed[:] = True
        return needed

    @cached_property
    def packs(self) -> list[int]:
        """Numbers of the packs that hold bytes of the view."""
        found: list[int] = np.unique(self._index.pack_ids[self._index.sizes > 0]).tolist()
        return found

    @cached_property
    def _rows(self) -> NDArray[np.int64]:
        return np.argsort(self._index.pack_ids, kind="stable")

    @cached_property
    def _sorted_ids(self) -> NDArray[np.int32]:
        ids: NDArray[np.int32] = self._index.pack_ids[self._rows]
        return ids
