"""Folder blocks: which names share a block, and the bytes of the blocks."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from atom_sdk.mount.erofs.layout import BLOCK_BYTES, NAME
from atom_sdk.mount.erofs.tree import Tree

_BLOCKS_AT_ONCE = 2048


@dataclass(frozen=True, slots=True)
class FolderBlocks:
    """`starts`: the first name of each block, shape (blocks + 1,), blocks in the folders' order.

    `first_block`: the first block of each folder, shape (folders,). `sizes`: bytes of each folder,
    whose last block counts only as far as it is filled, shape (folders,).
    """

    starts: NDArray[np.int64]
    first_block: NDArray[np.int64]
    sizes: NDArray[np.int64]


def plan_blocks(tree: Tree) -> FolderBlocks:
    """Fill blocks with names one after the other, all folders side by side."""
    used = np.concatenate([[0], np.cumsum(_name_lengths(tree.names) + NAME.itemsize)])
    bounds = np.searchsorted(tree.owners, np.arange(tree.folders + 1))
    folders, current, ends = np.arange(tree.folders), bounds[:-1], bounds[1:]
    owners, starts = [], []
    while len(folders):
        owners.append(folders)
        starts.append(current)
        following = np.searchsorted(used, used[current] + BLOCK_BYTES, "right") - 1
        more = following < ends
        folders, current, ends = folders[more], following[more], ends[more]
    owner = np.concatenate(owners)
    order = np.argsort(owner, kind="stable")
    start = np.concatenate([np.concatenate(starts)[order], bounds[-1:]])
    first = np.searchsorted(owner[order], np.arange(tree.folders + 1))
    last = first[1:] - 1
    sizes = (last - first[:-1]) * BLOCK_BYTES + used[bounds[1:]] - used[start[last]]
    return FolderBlocks(start, first[:-1], sizes)


def iter_block_bytes(
    tree: Tree, blocks: FolderBlocks, inodes: NDArray[np.uint64], kinds: NDArray[np.uint8]
) -> Iterator[NDArray[np.uint8]]:
    """Yield the bytes of all blocks, some at a time; `inodes`, `kinds` have the shape (names,)."""
    for first in range(0, len(blocks.starts) - 1, _BLOCKS_AT_ONCE):
        starts = blocks.starts[first : first + _BLOCKS_AT_ONCE + 1]
        names = tree.names.slice(starts[0], starts[-1] - starts[0])
        part = slice(starts[0], starts[-1])
        yield _fill(starts - starts[0], names, inodes[part], kinds[part])


def _fill(
    starts: NDArray[np.int64],
    names: pa.Array,
    inodes: NDArray[np.uint64],
    kinds: NDArray[np.uint8],
) -> NDArray[np.uint8]:
    """Bytes of the blocks whose first names are `starts`, shape (blocks * 4096,)."""
    counts = np.diff(starts)
    lengths = _name_lengths(names)
    before = np.concatenate([[0], np.cumsum(lengths)])
    heads = counts * NAME.itemsize
    records = np.zeros(len(names), NAME)
    records["inode"] = inodes
    records["name_offset"] = before[:-1] + np.repeat(heads - before[starts[:-1]], counts)
    records["kind"] = kinds
    corner = np.arange(len(counts)) * BLOCK_BYTES
    name_bytes = before[starts[1:]] - before[starts[:-1]]
    result = np.zeros(len(counts) * BLOCK_BYTES, np.uint8)
    result[_mask(corner, corner + heads, len(result))] = records.view(np.uint8)
    in_names = _mask(corner + heads, corner + heads + name_bytes, len(result))
    result[in_names] = _name_bytes(names)
    return result


def _mask(starts: NDArray[np.int64], ends: NDArray[np.int64], size: int) -> NDArray[np.bool_]:
    """True in [start, end) of each pair; the pairs do not overlap, no start comes twice."""
    steps = np.zeros(size + 1, np.int8)
    steps[starts] += 1
    steps[ends] -= 1
    return np.cumsum(steps[:-1], dtype=np.int8).view(np.bool_)


def _name_lengths(names: pa.Array) -> NDArray[np.int64]:
    return np.diff(_offsets(names))


def _offsets(names: pa.Array) -> NDArray[np.int64]:
    return np.frombuffer(names.buffers()[1], np.int64)[names.offset :][: len(names) + 1]


def _name_bytes(names: pa.Array) -> NDArray[np.uint8]:
    offsets = _offsets(names)
    return np.frombuffer(names.buffers()[2], np.uint8)[offsets[0] : offsets[-1]]
