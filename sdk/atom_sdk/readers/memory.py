"""Blocks of packs for which there is no room on the disk."""

from __future__ import annotations

import threading
from collections import OrderedDict

from atom_sdk.packs.partial import BLOCK_BYTES

_MEMORY_BLOCKS = 128

Key = tuple[int, int]


class MemoryBlocks:
    """The last 128 blocks by (pack number, block). Thread-safe."""

    def __init__(self) -> None:
        """Empty."""
        self._blocks: OrderedDict[Key, memoryview] = OrderedDict()
        self._lock = threading.Lock()

    def __contains__(self, key: Key) -> bool:
        """Whether a block is here."""
        return key in self._blocks

    def put(self, pack_id: int, first: int, data: memoryview) -> None:
        """Keep blocks, the first of which is `first`."""
        with self._lock:
            for number, start in enumerate(range(0, len(data), BLOCK_BYTES)):
                self._blocks[pack_id, first + number] = data[start : start + BLOCK_BYTES]
            while len(self._blocks) > _MEMORY_BLOCKS:
                self._blocks.popitem(last=False)

    def discard(self, pack_id: int, first: int, last: int) -> None:
        """Forget blocks whose bytes are wrong."""
        with self._lock:
            for block in range(first, last + 1):
                self._blocks.pop((pack_id, block), None)

    def view(self, pack_id: int, offset: int, size: int) -> memoryview | None:
        """Bytes of a pack, copied when they cross blocks; None if a block is not here."""
        first, last = offset // BLOCK_BYTES, (offset + size - 1) // BLOCK_BYTES
        with self._lock:
            found = [self._blocks.get((pack_id, block)) for block in range(first, last + 1)]
            for block in range(first, last + 1):
                if (pack_id, block) in self._blocks:
                    self._blocks.move_to_end((pack_id, block))
        blocks = [block for block in found if block is not None]
        if len(blocks) != len(found):
            return None
        start = offset - first * BLOCK_BYTES
        joined = blocks[0] if len(blocks) == 1 else memoryview(b"".join(blocks))
        return joined[start : start + size]
