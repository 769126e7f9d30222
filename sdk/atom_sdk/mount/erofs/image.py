"""Writes the image of a view: superblock, devices, inodes, folders; bytes stay in packs."""

from __future__ import annotations

import os
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from blake3 import blake3
from numpy.typing import NDArray

from atom_sdk.errors import PackMissingError
from atom_sdk.mount.erofs import layout
from atom_sdk.mount.erofs.folders import iter_block_bytes, plan_blocks
from atom_sdk.mount.erofs.inodes import InodeTable
from atom_sdk.mount.erofs.layout import BLOCK_BYTES
from atom_sdk.mount.erofs.tree import Tree, build_tree
from atom_sdk.mount.errors import ImageLimitError, PackTooShortError, UnalignedPackError
from atom_sdk.readers.folder_view import FolderView


@dataclass(frozen=True, slots=True)
class ImageSummary:
    """The numbers that an image shows, and its own size. `folders` counts the top as well."""

    files: int
    folders: int
    image_bytes: int
    links: int = 0


def write_image(
    view: FolderView, pack_dir: Path, path: Path, modified_at_s: int = 0
) -> ImageSummary:
    """Write the image of a view whose packs are in `pack_dir`; files get one modification time.

    The same view gives the same bytes. Raises PackMissingError, PackTooShortError,
    UnalignedPackError, NameConflictError, ImageLimitError.
    """
    pack_blocks = _pack_blocks(view, pack_dir)
    tree = build_tree(view.path_array())
    inodes = InodeTable(view, tree.folders, modified_at_s)
    blocks = plan_blocks(tree)
    table_end = layout.SUPERBLOCK_OFFSET + 128 * (1 + len(view.index.packs))
    inodes_block = -(-table_end // BLOCK_BYTES)
    first_folder_block = inodes_block + inodes.blocks
    total_blocks = first_folder_block + len(blocks.starts) - 1 + inodes.links.blocks
    _limit("blocks of metadata", layout.MAX_IMAGE_BLOCKS, total_blocks)
    head = _head(view, tree, modified_at_s, pack_blocks)
    head["blocks"], head["inodes_block"] = total_blocks, inodes_block
    with path.open("wb") as out:
        out.write(bytes(layout.SUPERBLOCK_OFFSET) + head.tobytes())
        out.write(_device_table(view, pack_blocks).tobytes())
        out.seek(inodes_block * BLOCK_BYTES)
        out.write(inodes.fill(tree, blocks, first_folder_block).data)
        for part in iter_block_bytes(tree, blocks, inodes.numbers(tree), inodes.kinds(tree)):
            out.write(part.data)
        out.writelines(inodes.links.iter_blocks())
    return ImageSummary(len(view), tree.folders, total_blocks * BLOCK_BYTES, len(view.links))


def _head(
    view: FolderView, tree: Tree, modified_at_s: int, pack_blocks: NDArray[np.int64]
) -> NDArray[np.void]:
    head = np.zeros(1, layout.SUPERBLOCK)
    head["magic"], head["block_bits"] = layout.MAGIC, layout.BLOCK_BITS
    head["root_inode"] = layout.ROOT_CELL * layout.SLOTS_PER_CELL
    head["inodes"] = len(view) + tree.folders + len(view.links)
    head["build_time_s"] = modified_at_s
    head["uuid"] = blake3(view.index.content + b"".join(view.index.packs)).digest(16)
    head["volume_name"] = b"atom"
    head["feature_incompat"] = layout.FEATURE_CHUNKED_FILE | layout.FEATURE_DEVICE_TABLE
    head["devices"] = len(pack_blocks)
    head["device_table_slot"] = (layout.SUPERBLOCK_OFFSET + 128) // 128
    return head


def _device_table(view: FolderView, pack_blocks: NDArray[np.int64]) -> NDArray[np.void]:
    table = np.zeros(len(view.index.packs), layout.DEVICE)
    # 64 hex digits fill the tag; the kernel reads at most 64 bytes of it.
    table["tag"] = [pack.hex().encode() for pack in view.index.packs]
    table["blocks"] = pack_blocks
    return table


def _pack_blocks(view: FolderView, pack_dir: Path) -> NDArray[np.int64]:
    """Blocks of each pack on disk, shape (packs,); checks that every file lies in its pack."""
    packs = view.index.packs
    _limit("packs", layout.MAX_PACKS, len(packs))
    filled = view.sizes > 0
    unaligned = np.flatnonzero(filled & (view.offsets % BLOCK_BYTES != 0))
    if len(unaligned):
        file = int(unaligned[0])
        raise UnalignedPackError(view.path_of(file), int(view.offsets[file]))
    ends = np.zeros(len(packs), np.int64)
    np.maximum.at(ends, view.pack_ids[filled], (view.offsets + view.sizes)[filled])
    # The kernel reads whole blocks.
    needed = -(-ends // BLOCK_BYTES)
    sizes = [_size_bytes(pack_dir / f"{pack.hex()}.tar", pack) for pack in packs]
    blocks = np.array(sizes, np.int64) // BLOCK_BYTES
    for number in np.flatnonzero(blocks < needed).tolist():
        expected = int(needed[number]) * BLOCK_BYTES
        raise PackTooShortError(packs[number].hex(), expected, sizes[number])
    if len(blocks):
        _limit("blocks in a pack", layout.MAX_PACK_BLOCKS, int(blocks.max()))
    return blocks


def _size_bytes(path: Path, pack: bytes) -> int:
    try:
        return os.stat(path).st_size
    except FileNotFoundError as error:
        raise PackMissingError(pack.hex()) from error


def _limit(what: str, limit: int, actual: int) -> None:
    if actual > limit:
        raise ImageLimitError(what, limit, actual)
