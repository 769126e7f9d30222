"""Assigns whole groups of very many files to splits: `groups` in arrays."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from atom_sdk.errors import SplitTooLargeError
from atom_sdk.manifests.splits.groups import order_of_group
from atom_sdk.manifests.splits.rows import NONE, Codes, SplitRows
from atom_sdk.manifests.splits.splits import largest_remainder

_Splits = NDArray[np.int16]
_Ints = NDArray[np.int64]


def assign_group_rows(
    rows: SplitRows,
    labels: tuple[Codes, list[str]],
    scope: NDArray[np.bool_],
    kept: _Splits,
    counts: Mapping[str, int],
    seed: int,
) -> _Splits:
    """Return the split of each file of `scope`, -1 where it has none, as `assign_groups` draws.

    `labels` are numbers by file, -1 for a file that is not drawn, and their names. Raises
    SplitTooLargeError.
    """
    codes, names = labels
    # No copies where all files are meant: of ten million every one counts.
    here = slice(None) if scope.all() else np.flatnonzero(scope)
    named = len(rows.group_names)
    numbers, group = _numbered(rows.groups, scope, here, named)
    sizes = _Sizes.of(group, codes[here], len(numbers), len(names))
    taken = _kept(group, kept[here], len(numbers), rows.split_names.names)
    order = _order(rows, numbers, named, seed)
    shares = Counter(dict(zip(names, sizes.shares(len(names)).tolist(), strict=True)))
    for split, count in counts.items():
        code = rows.split_names.code(split)
        targets = largest_remainder(+shares, min(count, shares.total()))
        _draw(code, [targets.get(name, 0) for name in names], sizes, taken, order)
        available = int(sizes.totals[taken < 0].sum())
        if not sizes.totals[taken == code].sum() and count > 0 and not available:
            raise SplitTooLargeError(split, count, available)
    assigned = np.full(len(rows), NONE, np.int16)
    assigned[here] = taken[group]
    return assigned


def _numbered(
    groups: Codes, scope: NDArray[np.bool_], here: slice | _Ints, named: int
) -> tuple[_Ints, Codes]:
    """Return the groups of the files of `scope`, and for each file the place of its group there.

    A file without a group is a group of its own, which comes after the others: `named` + its row.
    """
    is_there = np.zeros(named + 1, np.bool_)
    is_there[groups[here]] = True
    present = np.flatnonzero(is_there[:named])
    is_own = groups[here] < 0
    place = np.cumsum(is_own, dtype=np.int32)
    place += len(present) - 1
    rank = np.zeros(named + 1, np.int32)
    rank[present] = np.arange(len(present), dtype=np.int32)
    alone = np.flatnonzero((groups < 0) & scope)
    alone += named
    return np.concatenate([present, alone]), np.where(is_own, place, rank[groups[here]])


@dataclass(frozen=True)
class _Sizes:
    """How many samples of which label each group has: those from starts[group] to the next.

    `totals` has shape (groups,), `starts` (groups + 1,).
    """

    labels: _Ints
    counts: _Ints
    starts: _Ints
    totals: _Ints

    @classmethod
    def of(cls, group: Codes, codes: Codes, groups: int, labels: int) -> _Sizes:
        is_drawn = codes >= 0
        width = max(labels, 1)
        keys = group[is_drawn].astype(np.int64)
        keys *= width
        keys += codes[is_drawn]
        keys.sort()
        firsts = np.flatnonzero(np.diff(keys, prepend=-1))
        pairs, counts = keys[firsts], np.diff(firsts, append=len(keys))
        del keys
        starts = np.searchsorted(pairs, np.arange(groups + 1, dtype=np.int64) * width)
        totals = np.bincount(group[is_drawn], minlength=groups)
        return cls(pairs % width, counts, starts, totals)

    def shares(self, labels: int) -> _Ints:
        """Samples of each label, shape (labels,)."""
        return self._sums(np.ones(len(self.labels), np.bool_), labels)

    def shares_of(self, groups: NDArray[np.bool_], labels: int) -> _Ints:
        """Samples of each label in some groups, shape (labels,)."""
        return self._sums(np.repeat(groups, np.diff(self.starts)), labels)

    def _sums(self, which: NDArray[np.bool_], labels: int) -> _Ints:
        found = np.zeros(labels, np.int64)
        np.add.at(found, self.labels[which], self.counts[which])
        return found


def _kept(group: Codes, kept: _Splits, groups: int, names: list[str]) -> _Splits:
    """The split of each group that has one; where it has several, most files decide, then names."""
    taken = np.full(groups, NONE, np.int16)
    has = kept >= 0
    if not has.any():
        return taken
    width = len(names)
    pairs, counts = np.unique(group[has].astype(np.int64) * width + kept[has], return_counts=True)
    rank = np.argsort(np.argsort(np.array(names)))
    best_last = np.lexsort((-rank[pairs % width], counts, pairs // width))
    taken[pairs[best_last] // width] = pairs[best_last] % width
    return taken


def _order(rows: SplitRows, numbers: _Ints, named: int, seed: int) -> _Ints:
    """The groups in the order in which they are taken."""
    names = rows.group_names.names
    hashes = np.array([order_of_group(("group", name), seed) for name in names], np.uint64)
    is_named = numbers < named
    place = np.empty(len(numbers), np.uint64)
    place[is_named] = hashes[numbers[is_named]]
    place[~is_named] = rows.order[numbers[~is_named] - named]
    # At equal places, files come before groups, and each by name.
    by_name = np.argsort(np.argsort(np.array(names, dtype=object))) if names else np.empty(0, "i8")
    rank = np.where(is_named, len(rows), numbers - named)
    rank[is_named] += by_name[numbers[is_named]]
    return np.lexsort((rank, place))


def _draw(code: int, targets: list[int], sizes: _Sizes, taken: _Splits, order: _Ints) -> None:
    """Add groups to a split while they bring it nearer to its targets."""
    held = sizes.shares_of(taken == code, len(targets)).tolist()
    lacking = [target - number for target, number in zip(targets, held, strict=True)]
    free = order[(taken[order] < 0) & (sizes.totals[order] > 0)]
    # Numbers of Python: an array's own are slow one by one.
    starts, labels, counts = sizes.starts.data, sizes.labels.data, sizes.counts.data
    for group in free.data:
        rows = range(starts[group], starts[group + 1])
        gain = 0
        for row in rows:
            lack = lacking[labels[row]]
            gain += abs(lack) - abs(lack - counts[row])
        if gain > 0:
            taken[group] = code
            for row in rows:
                lacking[labels[row]] -= counts[row]
