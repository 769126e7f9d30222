"""How much of each pack the versions need, and which packs are worth repacking."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from atom_sdk.packs.plan import TARGET_PACK_BYTES
from atom_sdk.packs.tar import ALIGNMENT_BYTES, BLOCK_BYTES

# Data begins at multiples of 4 KiB, so a pack's number and a place in it fit into one word.
_ALIGNMENT_BITS = ALIGNMENT_BYTES.bit_length() - 1
_PLACE_BITS = 40
_PLACE_MASK = np.uint64((1 << _PLACE_BITS) - 1)
# New rows are sorted in together.
_ROWS_AT_ONCE = 1 << 21


@dataclass(frozen=True)
class PackingRules:
    """Limits of repacking: which packs, and how much in one go.

    A pack is small under `small_bytes`, and worth it if there are `many` of its group; a larger one
    is sparse if at most `sparse_share` of it is needed, and worth it if all free
    `least_gain_bytes`.
    """

    sparse_share: float = 0.5
    least_gain_bytes: int = 1 << 20
    small_bytes: int = TARGET_PACK_BYTES // 8
    many: int = 8
    pass_bytes: int = 1 << 30


@dataclass(frozen=True)
class Needed:
    """The needed part of one pack: where files begin, their groups, their size in a pack."""

    offsets: NDArray[np.int64]
    groups: NDArray[np.int32]
    packed_bytes: int

    @property
    def group(self) -> int:
        """Return the first group that needs something of it."""
        return int(self.groups.min())


class PackUse:
    """Counts what entries name, each place once however many versions name it.

    Its group is that of who named it first. Takes about 50 bytes per file and no more per version.
    """

    def __init__(self) -> None:
        """Nothing is needed yet."""
        self._numbers: dict[bytes, int] = {}
        self._places = np.empty(0, np.uint64)
        self._sizes = np.empty(0, np.int64)
        self._groups = np.empty(0, np.int32)
        self._new: list[tuple[NDArray[np.uint64], NDArray[np.int64], NDArray[np.int32]]] = []
        self._new_rows = 0

    def add(self, entries: pa.Table, group: int = 0) -> None:
        """Take in entries (columns pack, offset, size); what stays at a source has no pack."""
        packed = entries.filter(pc.is_valid(entries["pack"])).combine_chunks()
        if not len(packed):
            return
        packs = packed["pack"].combine_chunks().dictionary_encode()
        numbers = [self._number(pack) for pack in packs.dictionary.to_pylist()]
        number = np.array(numbers, np.uint64)[packs.indices.to_numpy()]
        place = packed["offset"].to_numpy().astype(np.uint64) >> np.uint64(_ALIGNMENT_BITS)
        groups = np.full(len(packed), group, np.int32)
        place |= number << np.uint64(_PLACE_BITS)
        self._new.append((place, packed["size"].to_numpy(), groups))
        self._new_rows += len(packed)
        if self._new_rows >= _ROWS_AT_ONCE:
            self._sort_in()

    def needed(self) -> Iterator[tuple[bytes, Needed]]:
        """Yield each pack of which something is needed."""
        self._sort_in()
        packs = list(self._numbers)
        firsts = np.arange(len(packs) + 1, dtype=np.uint64) << np.uint64(_PLACE_BITS)
        bounds = np.searchsorted(self._places, firsts)
        for number, pack in enumerate(packs):
            rows = slice(bounds[number], bounds[number + 1])
            places = (self._places[rows] & _PLACE_MASK).astype(np.int64)
            packed_bytes = int(_packed(self._sizes[rows]).sum())
            yield pack, Needed(places << _ALIGNMENT_BITS, self._groups[rows], packed_bytes)

    def _number(self, pack: bytes) -> int:
        return self._numbers.setdefault(pack, len(self._numbers))

    def _sort_in(self) -> None:
        if not self._new:
            return
        places, sizes, groups = zip(*self._new, strict=True)
        # `unique` returns the first row of each place, which is the earlier one.
        found, rows = np.unique(np.concatenate([self._places, *places]), return_index=True)
        self._sizes = np.concatenate([self._sizes, *sizes])[rows]
        self._groups = np.concatenate([self._groups, *groups])[rows]
        self._places = found
        self._new, self._new_rows = [], 0


def worth_packing(
    sizes: Mapping[bytes, int], needed: Mapping[bytes, Needed], rules: PackingRules
) -> list[bytes]:
    """Return the packs to repack in one go: those that free most first, then the smallest.

    `sizes` are those of the packs that may be taken, in bytes.
    """
    known = {pack: size for pack, size in sizes.items() if pack in needed}
    gains = {pack: size - needed[pack].packed_bytes for pack, size in known.items()}
    small = [pack for pack, size in known.items() if size < rules.small_bytes]
    sparse = [
        pack
        for pack, size in known.items()
        if size >= rules.small_bytes and needed[pack].packed_bytes <= rules.sparse_share * size
    ]
    if sum(gains[pack] for pack in sparse) < rules.least_gain_bytes:
        sparse = []
    of_group = Counter(needed[pack].group for pack in small)
    small = [pack for pack in small if of_group[needed[pack].group] >= rules.many]
    sparse.sort(key=lambda pack: (-gains[pack], pack))
    small.sort(key=lambda pack: (needed[pack].group, known[pack], pack))
    chosen = _within([*sparse, *small], needed, rules.pass_bytes)
    # One small pack by itself would be the same again.
    return [] if len(chosen) == 1 and chosen[0] in small else chosen


def _within(packs: list[bytes], needed: Mapping[bytes, Needed], limit_bytes: int) -> list[bytes]:
    totals = np.cumsum([needed[pack].packed_bytes for pack in packs])
    return packs[: max(int(np.searchsorted(totals, limit_bytes, "right")), 1)] if packs else []


def _packed(sizes: NDArray[np.int64]) -> NDArray[np.int64]:
    """Return what files take in a pack with their headers, in bytes; long paths take more."""
    return -(-(sizes + BLOCK_BYTES) // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
