"""The parts of the kernel's on-disk format (Documentation/filesystems/erofs.rst) that we write.

All numbers are little endian. Blocks have 4,096 bytes, like the alignment of files in packs.
"""

from __future__ import annotations

import numpy as np

BLOCK_BITS = 12
BLOCK_BYTES = 1 << BLOCK_BITS

SUPERBLOCK_OFFSET = 1024
MAGIC = 0xE0F5E1E2
FEATURE_CHUNKED_FILE = 0x4
FEATURE_DEVICE_TABLE = 0x8

# An inode is found at the 32-byte slot of its number. We use cells of two slots: an extended inode,
# or a compact inode followed by up to four chunk indexes.
SLOT_BYTES = 32
CELL_BYTES = 2 * SLOT_BYTES
COMPACT_BYTES = SLOT_BYTES
SLOTS_PER_CELL = CELL_BYTES // SLOT_BYTES
CHUNKS_PER_CELL = CELL_BYTES // 8
# Cell 0 stays empty, so that no inode has the number 0.
ROOT_CELL = 1

EXTENDED = 1
PLAIN = 0 << 1
# Data right behind the inode, in the same block.
INLINE = 2 << 1
CHUNKED = 4 << 1
# A chunk has 2^19 blocks, 2 GiB: every compact inode then needs at most two indexes.
CHUNK_BLOCK_BITS = 19
CHUNK_BYTES = BLOCK_BYTES << CHUNK_BLOCK_BITS
CHUNK_FORMAT = 0x20 | CHUNK_BLOCK_BITS

REGULAR_FILE, FOLDER, LINK = 1, 2, 7
FILE_MODE, FOLDER_MODE, LINK_MODE = 0o100644, 0o40755, 0o120777

# Limits of the fields below.
MAX_PACKS = 0xFFFF
MAX_PACK_BLOCKS = 0xFFFFFFFE
MAX_IMAGE_BLOCKS = 0xFFFFFFFE
MAX_COMPACT_BYTES = 0xFFFFFFFF
MAX_NAME_BYTES = 255

SUPERBLOCK = np.dtype(
    [
        ("magic", "<u4"),
        ("checksum", "<u4"),
        ("feature_compat", "<u4"),
        ("block_bits", "u1"),
        ("extension_slots", "u1"),
        ("root_inode", "<u2"),
        ("inodes", "<u8"),
        ("build_time_s", "<u8"),
        ("build_time_ns", "<u4"),
        ("blocks", "<u4"),
        ("inodes_block", "<u4"),
        ("xattrs_block", "<u4"),
        ("uuid", "S16"),
        ("volume_name", "S16"),
        ("feature_incompat", "<u4"),
        ("compression", "<u2"),
        ("devices", "<u2"),
        ("device_table_slot", "<u2"),
        ("folder_block_bits", "u1"),
        ("rest", "V37"),
    ]
)
DEVICE = np.dtype([("tag", "S64"), ("blocks", "<u4"), ("mapped_block", "<u4"), ("rest", "V56")])
COMPACT_INODE = np.dtype(
    [
        ("format", "<u2"),
        ("xattrs", "<u2"),
        ("mode", "<u2"),
        ("links", "<u2"),
        ("size", "<u4"),
        ("time", "<u4"),
        ("where", "<u4"),
        ("number", "<u4"),
        ("uid", "<u2"),
        ("gid", "<u2"),
        ("rest", "<u4"),
        ("chunks", "<u8", (4,)),
    ]
)
EXTENDED_INODE = np.dtype(
    [
        ("format", "<u2"),
        ("xattrs", "<u2"),
        ("mode", "<u2"),
        ("rest", "<u2"),
        ("size", "<u8"),
        ("where", "<u4"),
        ("number", "<u4"),
        ("uid", "<u4"),
        ("gid", "<u4"),
        ("time_s", "<u8"),
        ("time_ns", "<u4"),
        ("links", "<u4"),
        ("padding", "V16"),
    ]
)
NAME = np.dtype([("inode", "<u8"), ("name_offset", "<u2"), ("kind", "u1"), ("rest", "u1")])
assert SUPERBLOCK.itemsize == DEVICE.itemsize == 128
assert COMPACT_INODE.itemsize == EXTENDED_INODE.itemsize == CELL_BYTES
assert NAME.itemsize == 12
