"""Assigns whole groups of files to splits: no group is in two splits."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping

from xxhash import xxh3_64_intdigest

from atom_sdk.errors import SplitTooLargeError
from atom_sdk.manifests.splits.splits import SplitPlan, largest_remainder

# Ordered as text, so a file without a group never meets a group of its name.
_OWN, _SHARED = "file", "group"
_Group = tuple[str, str]


def assign_groups(
    labels: Mapping[str, str | None],
    groups: Mapping[str, str],
    plan: SplitPlan,
    existing: Mapping[str, str] | None = None,
) -> dict[str, str]:
    """Split of each path in `labels` (path → label or None), in path order.

    Files of one group come into one split; a file that `groups` does not name is a group of its
    own. A group that has a split keeps it. The others are taken in the order of a seeded hash of
    their names, each if it brings the split nearer to its number of samples of each label (largest
    remainder of the labels' shares), so a split is as near to its count as whole groups allow.
    Raises SplitTooLargeError if a split asks for more samples than there are.
    """
    members: defaultdict[_Group, list[str]] = defaultdict(list)
    for path in sorted(labels):
        members[_group(path, groups)].append(path)
    kept = _kept(members, existing or {})
    sizes = {group: _sizes(paths, labels) for group, paths in members.items()}
    shares = Counter(label for label in labels.values() if label is not None)
    for split, count in plan.counts.items():
        _draw(split, largest_remainder(shares, min(count, shares.total())), sizes, kept, plan.seed)
        held = sum(sizes[group].total() for group, taken in kept.items() if taken == split)
        available = sum(sizes[group].total() for group in members if group not in kept)
        if not held and count > 0 and not available:
            raise SplitTooLargeError(split, count, available)
    found = {path: kept.get(_group(path, groups), plan.rest) for path in sorted(labels)}
    return {path: taken for path, taken in found.items() if taken is not None}


def _draw(
    split: str,
    targets: Mapping[str, int],
    sizes: Mapping[_Group, Counter[str]],
    kept: dict[_Group, str],
    seed: int,
) -> None:
    """Add groups to a split while they bring it nearer to its targets."""
    lacking = Counter(targets)
    for group, taken in kept.items():
        if taken == split:
            lacking.subtract(sizes[group])
    free = [group for group in sizes if group not in kept and sizes[group].total()]
    # One pass is enough: what does not help now helps less when more is held.
    for group in sorted(free, key=lambda group: (order_of_group(group, seed), group)):
        if _gain(lacking, sizes[group]) > 0:
            kept[group] = split
            lacking.subtract(sizes[group])


def _gain(lacking: Counter[str], group: Counter[str]) -> int:
    """By how much the distance to the targets falls, summed over labels."""
    return sum(abs(lacking[label]) - abs(lacking[label] - count) for label, count in group.items())


def _kept(members: Mapping[_Group, list[str]], existing: Mapping[str, str]) -> dict[_Group, str]:
    """The split of each group that has one; where it has several, most files decide, then names."""
    kept: dict[_Group, str] = {}
    for group, paths in members.items():
        found = Counter(existing[path] for path in paths if path in existing)
        if found:
            kept[group] = min(found, key=lambda split: (-found[split], split))
    return kept


def _group(path: str, groups: Mapping[str, str]) -> _Group:
    name = groups.get(path)
    return (_OWN, path) if name is None else (_SHARED, name)


def _sizes(paths: list[str], labels: Mapping[str, str | None]) -> Counter[str]:
    return Counter(label for path in paths if (label := labels[path]) is not None)


def order_of_group(group: _Group, seed: int) -> int:
    """Return the place of ("group", name) or ("file", path) in the draw, smallest first."""
    return xxh3_64_intdigest("\0".join(group).encode(), seed=seed)
