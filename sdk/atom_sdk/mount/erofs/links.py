"""Inodes of symbolic links, and where their targets are."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

import numpy as np
from numpy.typing import NDArray

from atom_sdk.mount.erofs import layout
from atom_sdk.mount.erofs.layout import BLOCK_BYTES, CELL_BYTES, COMPACT_BYTES

_CELLS_PER_BLOCK = BLOCK_BYTES // CELL_BYTES


class LinkInodes:
    """Compact inodes with the target right behind them; `cells` is the first cell of each link.

    The kernel refuses a target that goes on in the next block, so inodes with targets of the same
    number of cells are laid side by side, as many as fit in each block. A target longer than the
    rest of a block has a block of its own; `blocks` counts these.
    """

    def __init__(self, links: Mapping[str, str], first_cell: int) -> None:
        self._targets = [target.encode() for target in links.values()]
        self._sizes = np.array([len(target) for target in self._targets], np.int64)
        is_far = COMPACT_BYTES + self._sizes > BLOCK_BYTES
        self._far = np.flatnonzero(is_far)
        self.blocks = len(self._far)
        widths = np.where(is_far, 1, -(-(COMPACT_BYTES + self._sizes) // CELL_BYTES))
        self.cells = np.zeros(len(self._targets), np.int64)
        self.end = first_cell
        for width in np.unique(widths).tolist():
            self._place(np.flatnonzero(widths == width), width)

    def _place(self, links: NDArray[np.int64], width: int) -> None:
        block, used = divmod(self.end, _CELLS_PER_BLOCK)
        in_block = _CELLS_PER_BLOCK // width
        # Where fewer cells are left in the block, this is the first place of the next.
        places = block * in_block + min(-(-used // width), in_block) + np.arange(len(links))
        cells = places // in_block * _CELLS_PER_BLOCK + places % in_block * width
        self.cells[links] = cells
        self.end = int(cells[-1]) + width

    def fill(self, table: NDArray[np.uint8], first_block: int) -> None:
        """Write the inodes; blocks of targets begin at the image's block `first_block`."""
        inodes = np.zeros(len(self.cells), layout.COMPACT_INODE)
        inodes["format"] = layout.INLINE
        inodes["mode"], inodes["links"] = layout.LINK_MODE, 1
        inodes["size"], inodes["number"] = self._sizes, self.cells
        inodes["format"][self._far] = layout.PLAIN
        inodes["where"][self._far] = first_block + np.arange(self.blocks)
        table.view(layout.COMPACT_INODE)[self.cells] = inodes
        data = table.data
        far = set(self._far.tolist())
        for link, (cell, target) in enumerate(zip(self.cells.tolist(), self._targets, strict=True)):
            if link not in far:
                start = cell * CELL_BYTES + COMPACT_BYTES
                data[start : start + len(target)] = target

    def iter_blocks(self) -> Iterator[bytes]:
        """Yield the blocks of the longest targets."""
        return (self._targets[link].ljust(BLOCK_BYTES, b"\0") for link in self._far.tolist())
