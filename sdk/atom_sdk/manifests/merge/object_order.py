"""Merges the orders in which two sides keep the objects of one picture."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterator, Sequence

Id = bytes


def merge_order(
    base: Sequence[Id], ours: Sequence[Id], theirs: Sequence[Id], kept: Collection[Id]
) -> tuple[list[Id], bool]:
    """Return the kept ids in their order, and whether both sides put them into another one.

    An object that one side added stays behind the object that it was put behind. If both added
    something there, the ids decide, so the sides may change places. In a dispute the order is ours.
    """
    both = set(kept).intersection(base, ours, theirs)
    was, mine, other = ([each for each in side if each in both] for side in (base, ours, theirs))
    is_disputed = mine not in (was, other) and other != was
    spine = other if mine == was else mine
    runs = [_runs(side, both, kept) for side in (ours, theirs)]
    order = dict.fromkeys(_laid_out(spine, runs))
    return list(order), is_disputed


def _runs(side: Sequence[Id], spine: Collection[Id], kept: Collection[Id]) -> dict[Id, list[Id]]:
    """Return what a side added behind each id of the spine; b"" is before all of them."""
    runs = defaultdict[Id, list[Id]](list)
    behind = b""
    for each in side:
        if each in spine:
            behind = each
        elif each in kept:
            runs[behind].append(each)
    return runs


def _laid_out(spine: Sequence[Id], runs: Sequence[dict[Id, list[Id]]]) -> Iterator[Id]:
    for behind in (b"", *spine):
        if behind:
            yield behind
        for run in sorted(run[behind] for run in runs if behind in run):
            yield from run
