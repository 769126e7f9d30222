"""Changes to a root in groups: only the groups that hold a changed path are read and written."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain
from typing import NamedTuple

from xxhash import xxh3_64_intdigest

from atom_sdk.manifests.objects import ObjectStore, group_key
from atom_sdk.manifests.ranges.ranges import BoundaryRule
from atom_sdk.manifests.ranges.refs import RangeRef
from atom_sdk.manifests.roots.contents import contents_of, read_contents, write_contents
from atom_sdk.manifests.roots.groups import GroupedRanges, GroupRef, grouped
from atom_sdk.manifests.roots.roots import Root, make_root

# Rewrites ranges, when given all that may change.
Rewrite = Callable[[Sequence[RangeRef]], list[RangeRef]]


class PathsOfChanges(NamedTuple):
    """Paths whose entries are put, and those that no entry has any more."""

    put: Collection[str]
    gone: Collection[str]


@dataclass(frozen=True, slots=True)
class _Block:
    """Groups from `first` to before `end` that are made again together, or left as they are."""

    first: int
    end: int
    is_touched: bool


def change_groups(
    root: Root,
    paths: PathsOfChanges,
    rewrite: Rewrite,
    store: ObjectStore,
    rule: BoundaryRule,
) -> Root:
    """The root with the ranges around some `paths` rewritten; the groups of others are not read.

    The groups that change are stored. The ranges are none if no file is left.
    """
    ranges = root.ranges
    if not isinstance(ranges, GroupedRanges):
        return make_root(rewrite(ranges), root.layers)
    blocks = list(_blocks(ranges, paths, rule))
    if len(ranges) > ranges.rule.flat and not any(block.is_touched for block in blocks):
        return root
    before = [part for block in blocks if block.is_touched for part in _ranges_in(ranges, block)]
    after = iter(_by_block(rewrite(before), blocks, ranges.groups))
    parts = [next(after) if block.is_touched else None for block in blocks]
    count = sum(
        sum(group.ranges for group in ranges.groups[block.first : block.end])
        if made is None
        else len(made)
        for block, made in zip(blocks, parts, strict=True)
    )
    if count <= ranges.rule.flat:
        listed = (
            _ranges_in(ranges, block) if made is None else made
            for block, made in zip(blocks, parts, strict=True)
        )
        return make_root((part for some in listed for part in some), root.layers)
    return _joined(root, ranges, zip(blocks, parts, strict=True), store)


def _joined(
    root: Root,
    ranges: GroupedRanges,
    made: Iterable[tuple[_Block, Sequence[RangeRef] | None]],
    store: ObjectStore,
) -> Root:
    groups: list[GroupRef] = []
    contents: list[bytes] = []
    known = read_contents(root.content, ranges, store)
    for block, parts in made:
        if parts is None:
            groups += ranges.groups[block.first : block.end]
            contents += known[block.first : block.end]
            continue
        for group, data in grouped(parts, ranges.rule):
            store.put(group_key(group.object), data)
            groups.append(group)
        contents.append(contents_of(parts))
    return Root(
        ranges=GroupedRanges(groups, store, ranges.rule),
        layers=root.layers,
        count=sum(group.count for group in groups),
        size_bytes=sum(group.size_bytes for group in groups),
        content=write_contents(b"".join(contents), store),
        links=sum(group.links for group in groups),
    )


def _blocks(ranges: GroupedRanges, paths: PathsOfChanges, rule: BoundaryRule) -> Iterator[_Block]:
    """All groups in order, cut where a group begins whatever is before it."""
    groups = ranges.groups
    starts = _fixed_starts(ranges, rule)
    firsts = [groups[start].min for start in starts]
    touched = {max(bisect_right(firsts, path) - 1, 0) for path in chain(paths.put, paths.gone)}
    # A group whose first path goes loses its beginning, and its rest belongs to the one before.
    joins = {number for number in touched if number and firsts[number] in paths.gone}
    touched |= {number - 1 for number in joins}
    first = 0
    for number in range(len(starts)):
        if number + 1 in joins:
            continue
        end = starts[number + 1] if number + 1 < len(starts) else len(groups)
        yield _Block(first, end, number in touched)
        first = end


def _fixed_starts(ranges: GroupedRanges, rule: BoundaryRule) -> list[int]:
    """The numbers of the groups that begin because of their first path, and of the first group."""
    modulus = ranges.rule.modulus
    return [
        number
        for number, group in enumerate(ranges.groups)
        if not number
        or (xxh3_64_intdigest(group.min.encode()) % modulus == 0 and rule.begins(group.min))
    ]


def _ranges_in(ranges: GroupedRanges, block: _Block) -> Iterator[RangeRef]:
    for number in range(block.first, block.end):
        yield from ranges.group(number)


def _by_block(
    parts: Sequence[RangeRef], blocks: Iterable[_Block], groups: Sequence[GroupRef]
) -> Iterator[Sequence[RangeRef]]:
    """The ranges of each touched block; one whose files are all gone has none."""
    ends = [
        groups[block.end].min for block in blocks if block.is_touched and block.end < len(groups)
    ]
    start = 0
    for end in ends:
        stop = start
        while stop < len(parts) and parts[stop].min < end:
            stop += 1
        yield parts[start:stop]
        start = stop
    yield parts[start:]
