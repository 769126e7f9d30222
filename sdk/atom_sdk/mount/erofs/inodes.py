"""The inode table: folders, then files in path order, then links, in cells of 64 bytes."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from atom_sdk.mount.erofs import layout
from atom_sdk.mount.erofs.folders import FolderBlocks
from atom_sdk.mount.erofs.layout import BLOCK_BITS, CELL_BYTES, CHUNK_BYTES, CHUNKS_PER_CELL
from atom_sdk.mount.erofs.links import LinkInodes
from atom_sdk.mount.erofs.tree import Tree
from atom_sdk.readers.folder_view import FolderView


class InodeTable:
    """Where every inode is. `file_cells`, `folder_cells`: the first cell of each.

    Files of 4 GiB and more come last: they need extended inodes and more chunk indexes. Links are
    behind them.
    """

    def __init__(self, view: FolderView, folders: int, modified_at_s: int) -> None:
        self._view = view
        self._modified_at_s = modified_at_s
        is_big = view.sizes > layout.MAX_COMPACT_BYTES
        self._big = np.flatnonzero(is_big)
        self._compact: NDArray[np.int64] | slice = (
            np.flatnonzero(~is_big) if len(self._big) else slice(None)
        )
        self.folder_cells = layout.ROOT_CELL + np.arange(folders)
        self._first_file = layout.ROOT_CELL + folders
        big_cells = 1 + -(-_chunks(view.sizes[self._big]) // CHUNKS_PER_CELL)
        first_big = self._first_file + len(view) - len(self._big)
        self.file_cells = self._first_file + np.arange(len(view))
        if len(self._big):
            self.file_cells[self._compact] = np.arange(self._first_file, first_big)
            self.file_cells[self._big] = first_big + np.cumsum(big_cells) - big_cells
        self.links = LinkInodes(view.links, first_big + int(big_cells.sum()))
        self.blocks = -(-self.links.end * CELL_BYTES // layout.BLOCK_BYTES)
        self._table = np.zeros(self.blocks * layout.BLOCK_BYTES, np.uint8)

    def numbers(self, tree: Tree) -> NDArray[np.uint64]:
        """The inode number behind each name of a tree, shape (names,)."""
        targets = tree.targets
        path_cells = np.concatenate([self.file_cells, self.links.cells])
        cells = self.folder_cells[np.maximum(-1 - targets, 0)]
        is_path = targets >= 0
        cells[is_path] = path_cells[targets[is_path]]
        return (cells * layout.SLOTS_PER_CELL).astype(np.uint64)

    def kinds(self, tree: Tree) -> NDArray[np.uint8]:
        """The kind of what is behind each name of a tree, shape (names,)."""
        kinds = np.full(len(tree.targets), layout.REGULAR_FILE, np.uint8)
        kinds[tree.targets < 0] = layout.FOLDER
        kinds[tree.targets >= len(self._view)] = layout.LINK
        return kinds

    def fill(self, tree: Tree, blocks: FolderBlocks, first_block: int) -> NDArray[np.uint8]:
        """The bytes of the table; folder blocks begin at the image's block `first_block`."""
        self._fill_folders(tree, blocks, first_block)
        self._fill_files()
        self.links.fill(self._table, first_block + len(blocks.starts) - 1)
        for row in self._big.tolist():
            self._fill_big(row)
        return self._table

    def _fill_folders(self, tree: Tree, blocks: FolderBlocks, first_block: int) -> None:
        rows = self._table.view(layout.EXTENDED_INODE)[self.folder_cells[0] :][: tree.folders]
        rows["format"] = layout.EXTENDED | layout.PLAIN
        rows["mode"] = layout.FOLDER_MODE
        rows["size"] = blocks.sizes
        rows["where"] = first_block + blocks.first_block
        rows["number"] = self.folder_cells
        rows["time_s"] = self._modified_at_s
        # A folder is linked by itself, from above, and by the ".." of each folder in it.
        is_folder = tree.targets < 0
        rows["links"] = np.bincount((-1 - tree.targets)[is_folder], minlength=tree.folders)

    def _fill_files(self) -> None:
        sizes = self._view.sizes[self._compact]
        inodes = self._table.view(layout.COMPACT_INODE)[self._first_file :][: len(sizes)]
        inodes["format"] = np.where(sizes > 0, layout.CHUNKED, layout.PLAIN)
        inodes["mode"] = layout.FILE_MODE
        inodes["links"] = 1
        inodes["size"] = sizes
        inodes["where"] = np.where(sizes > 0, layout.CHUNK_FORMAT, 0)
        inodes["number"] = np.arange(self._first_file, self._first_file + len(sizes))
        for chunk in range(int(_chunks(sizes.max(initial=0)))):
            indexes = self._chunk_indexes(self._compact, chunk)
            inodes["chunks"][:, chunk] = np.where(sizes > chunk * CHUNK_BYTES, indexes, 0)

    def _fill_big(self, row: int) -> None:
        cell, size = int(self.file_cells[row]), self._view.sizes[row]
        inode = self._table.view(layout.EXTENDED_INODE)[cell : cell + 1]
        inode["format"] = layout.EXTENDED | layout.CHUNKED
        inode["mode"], inode["links"], inode["size"] = layout.FILE_MODE, 1, size
        inode["where"], inode["number"] = layout.CHUNK_FORMAT, cell
        inode["time_s"] = self._modified_at_s
        count = int(_chunks(size))
        chunks = self._table.view("<u8")[(cell + 1) * CHUNKS_PER_CELL :][:count]
        for chunk in range(count):
            chunks[chunk] = self._chunk_indexes(np.array([row]), chunk)[0]

    def _chunk_indexes(self, rows: NDArray[np.int64] | slice, chunk: int) -> NDArray[np.uint64]:
        """Device and first block of one chunk of some files, as the 8 bytes of an index."""
        block = (self._view.offsets[rows] >> BLOCK_BITS) + (chunk << layout.CHUNK_BLOCK_BITS)
        device = self._view.pack_ids[rows].astype(np.uint64) + np.uint64(1)
        return (block.astype(np.uint64) << np.uint64(32)) | (device << np.uint64(16))


def _chunks(sizes: Any) -> Any:
    """Chunks of one size or of an array of sizes, in bytes."""
    return -(-sizes // CHUNK_BYTES)
