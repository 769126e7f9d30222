"""Parts of what is listed elsewhere, and digests in its order: a few bits of memory for a file."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from itertools import chain, compress
from pathlib import Path
from typing import TypeVar

import numpy as np

T = TypeVar("T")
_DIGEST_BYTES = 32
_READ_BYTES = _DIGEST_BYTES << 12
_MASK_BYTES = 1 << 12


class Subset(Collection[T]):
    """Those items of a collection whose byte in `mask` is 1, in its order."""

    def __init__(self, items: Collection[T], mask: bytes | bytearray) -> None:
        """`mask` has a byte for each item; a bit of each is kept."""
        self._items = items
        self._bits = np.packbits(np.frombuffer(mask, np.uint8))
        self._length = mask.count(1)

    def __len__(self) -> int:
        """How many are selected."""
        return self._length

    def __iter__(self) -> Iterator[T]:
        """The selected items."""
        return compress(self._items, self._mask()) if self._length else iter(())

    def __contains__(self, item: object) -> bool:
        """Whether an item is selected; all of them are looked through."""
        return any(each == item for each in self)

    def _mask(self) -> Iterator[int]:
        starts = range(0, len(self._bits), _MASK_BYTES)
        pieces = (self._bits[start : start + _MASK_BYTES] for start in starts)
        return chain.from_iterable(np.unpackbits(piece).tobytes() for piece in pieces)


class WithDigests(Collection[tuple[T, bytes]]):
    """Items, each with its digest (32 bytes) from a file that holds these in the same order."""

    def __init__(self, items: Collection[T], digests: Path) -> None:
        """The file stays where it is for as long as this is read."""
        self._items = items
        self._digests = digests

    def __len__(self) -> int:
        """Number of items."""
        return len(self._items)

    def __iter__(self) -> Iterator[tuple[T, bytes]]:
        """Pairs of item and digest."""
        return zip(self._items, self._read(), strict=True)

    def __contains__(self, pair: object) -> bool:
        """Whether an item has a digest; all of them are looked through."""
        return any(each == pair for each in self)

    def _read(self) -> Iterator[bytes]:
        with self._digests.open("rb") as file:
            while data := file.read(_READ_BYTES):
                for start in range(0, len(data), _DIGEST_BYTES):
                    yield data[start : start + _DIGEST_BYTES]
