"""The second level of large roots: groups of ranges, read when a path in them is asked for.

Where groups begin depends on paths only, as with ranges, so equal groups of two versions are one
object and a comparison skips them unread. Format: README.md.
"""

from __future__ import annotations

import threading
from bisect import bisect_right
from collections import OrderedDict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import accumulate
from typing import overload

from blake3 import blake3
from xxhash import xxh3_64_intdigest

from atom_sdk.errors import ManifestCorruptError
from atom_sdk.manifests.canonical import decode_json, encode_canonical
from atom_sdk.manifests.objects import ObjectStore, digest_of, get_verified, group_key
from atom_sdk.manifests.ranges.refs import RangeRef, ranges_json, ranges_of

GROUP_FORMAT = "atom-group/1"
GROUP_FIELDS = ("min", "max", "count", "size_bytes", "ranges", "content", "object", "links")
_CONTENT_DOMAIN = b"atom-group-content/1\n"
_CACHED_GROUPS = 64


@dataclass(frozen=True, slots=True)
class GroupRule:
    """A root with more than `flat` ranges is written in groups.

    A group begins at each range whose first path has xxh3_64(path) % modulus == 0, and after `cap`
    ranges. The format fixes the defaults; tests use smaller numbers.
    """

    flat: int = 4096
    modulus: int = 4096 * 256
    cap: int = 2048


DEFAULT_GROUP_RULE = GroupRule()


@dataclass(frozen=True, slots=True)
class GroupRef:
    """Some ranges in path order: sums over them, their number, digests of 32 bytes.

    `content` covers the content digests of the ranges.
    """

    min: str
    max: str
    count: int
    size_bytes: int
    ranges: int
    content: bytes
    object: bytes
    links: int = 0


class GroupedRanges(Sequence[RangeRef]):
    """All ranges of a root, of which only the groups in use are in memory. For several threads."""

    def __init__(
        self, groups: Iterable[GroupRef], store: ObjectStore, rule: GroupRule = DEFAULT_GROUP_RULE
    ) -> None:
        """Nothing is read until a range is asked for. `rule` says where the groups begin."""
        self.groups = tuple(groups)
        self.rule = rule
        self._store = store
        self._ends = list(accumulate(group.ranges for group in self.groups))
        self._read: OrderedDict[int, tuple[RangeRef, ...]] = OrderedDict()
        self._lock = threading.Lock()

    def __len__(self) -> int:
        """Number of ranges."""
        return self._ends[-1] if self._ends else 0

    def __eq__(self, other: object) -> bool:
        """Whether both are made of the same objects."""
        return isinstance(other, GroupedRanges) and self.groups == other.groups

    def __hash__(self) -> int:
        """Of the groups."""
        return hash(self.groups)

    @overload
    def __getitem__(self, index: int) -> RangeRef: ...

    @overload
    def __getitem__(self, index: slice) -> Sequence[RangeRef]: ...

    def __getitem__(self, index: int | slice) -> RangeRef | Sequence[RangeRef]:
        """The range with this number. Raises IndexError, ManifestCorruptError."""
        if isinstance(index, slice):
            return [self[number] for number in range(*index.indices(len(self)))]
        if not -len(self) <= index < len(self):
            raise IndexError(f"range {index} of {len(self)}")
        index %= len(self)
        group = bisect_right(self._ends, index)
        return self.group(group)[index - self._start(group)]

    def __iter__(self) -> Iterator[RangeRef]:
        """All ranges; one group after the other is read."""
        for number in range(len(self.groups)):
            yield from self.group(number)

    def position_of(self, path: str) -> int:
        """The number of the last range that begins at or before a path, 0 if none does."""
        number = bisect_right(self.groups, path, key=lambda group: group.min) - 1
        if number < 0:
            return 0
        within = bisect_right(self.group(number), path, key=lambda part: part.min) - 1
        return self._start(number) + max(within, 0)

    def group(self, number: int) -> tuple[RangeRef, ...]:
        """The ranges of a group. Raises ObjectNotFoundError, ManifestCorruptError."""
        with self._lock:
            if number in self._read:
                self._read.move_to_end(number)
                return self._read[number]
        parts = read_group(self.groups[number], self._store)
        with self._lock:
            self._read[number] = parts
            if len(self._read) > _CACHED_GROUPS:
                self._read.popitem(last=False)
        return parts

    def _start(self, group: int) -> int:
        return self._ends[group - 1] if group else 0


def range_position(ranges: Sequence[RangeRef], path: str) -> int:
    """The number of the last range that begins at or before a path, 0 if none does."""
    if isinstance(ranges, GroupedRanges):
        return ranges.position_of(path)
    return max(bisect_right(ranges, path, key=lambda part: part.min) - 1, 0)


def ranges_from(ranges: Sequence[RangeRef], path: str) -> Iterator[RangeRef]:
    """The ranges that may hold a path or one after it, in order."""
    for number in range(range_position(ranges, path), len(ranges)):
        part = ranges[number]
        if part.max >= path:
            yield part


def unshared(
    old: Sequence[RangeRef], new: Sequence[RangeRef]
) -> tuple[list[RangeRef], list[RangeRef]]:
    """The ranges of either side whose content the other side lacks; equal groups are not read."""
    if isinstance(old, GroupedRanges) and isinstance(new, GroupedRanges):
        common = {group.content for group in old.groups} & {group.content for group in new.groups}
        left, right = (_ranges_without(side, common) for side in (old, new))
    else:
        left, right = list(old), list(new)
    both = {part.content for part in left} & {part.content for part in right}
    return (
        [part for part in left if part.content not in both],
        [part for part in right if part.content not in both],
    )


def _ranges_without(ranges: GroupedRanges, contents: set[bytes]) -> list[RangeRef]:
    return [
        part
        for number, group in enumerate(ranges.groups)
        if group.content not in contents
        for part in ranges.group(number)
    ]


def grouped(
    ranges: Iterable[RangeRef], rule: GroupRule = DEFAULT_GROUP_RULE
) -> Iterator[tuple[GroupRef, bytes]]:
    """Groups over ranges in path order, each with the bytes of its object."""
    open_group: list[RangeRef] = []
    for part in ranges:
        begins = xxh3_64_intdigest(part.min.encode()) % rule.modulus == 0
        if open_group and (begins or len(open_group) == rule.cap):
            yield _group(open_group)
            open_group = []
        open_group.append(part)
    if open_group:
        yield _group(open_group)


def _group(parts: Sequence[RangeRef]) -> tuple[GroupRef, bytes]:
    data = encode_canonical({"format": GROUP_FORMAT, **ranges_json(parts)})
    return _group_ref(parts, digest_of(data)), data


def _group_ref(parts: Sequence[RangeRef], digest: bytes) -> GroupRef:
    return GroupRef(
        min=parts[0].min,
        max=parts[-1].max,
        count=sum(part.count for part in parts),
        size_bytes=sum(part.size_bytes for part in parts),
        ranges=len(parts),
        content=blake3(_CONTENT_DOMAIN + b"".join(part.content for part in parts)).digest(),
        object=digest,
        links=sum(part.links for part in parts),
    )


def read_group(group: GroupRef, store: ObjectStore) -> tuple[RangeRef, ...]:
    """Read and check the ranges of a group. Raises ObjectNotFoundError, ManifestCorruptError."""
    key = group_key(group.object)
    value = decode_json(get_verified(store, key, group.object), key, GROUP_FORMAT)
    try:
        parts = ranges_of(value)
        fits = bool(parts) and _group_ref(parts, group.object) == group
    except (IndexError, KeyError, TypeError, ValueError) as error:
        raise ManifestCorruptError(key, "a field is missing or has the wrong type") from error
    if not fits:
        raise ManifestCorruptError(key, "its root says other things about it")
    return parts
