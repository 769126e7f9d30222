"""Assigns entries to splits: exact counts, stratified, seeded, stable under later changes."""

from __future__ import annotations

from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field

from xxhash import xxh3_64_intdigest

from atom_sdk.errors import SplitTooLargeError


@dataclass(frozen=True, slots=True)
class SplitPlan:
    """How many samples each split gets; everything else goes to `rest`.

    Only labelled samples are drawn for `counts`; those without a label go to `rest`, or to no split
    at all if `rest` is None.
    """

    counts: Mapping[str, int] = field(default_factory=dict)
    seed: int = 0
    rest: str | None = "train"


def assign_splits(
    labels: Mapping[str, str | None], plan: SplitPlan, existing: Mapping[str, str] | None = None
) -> dict[str, str]:
    """Split of each path in `labels` (path → label or None), in path order.

    A path with an existing assignment keeps it, and counts towards its split's number. The others
    are drawn in the order of a seeded hash of their paths, per label in proportion to the label's
    share (largest remainder), so the same input gives the same splits everywhere. Raises
    SplitTooLargeError.
    """
    assigned = {path: split for path, split in (existing or {}).items() if path in labels}
    for split, count in plan.counts.items():
        assigned |= dict.fromkeys(_draw(labels, assigned, split, count, plan.seed), split)
    if plan.rest is not None:
        assigned = dict.fromkeys(labels, plan.rest) | assigned
    return dict(sorted(assigned.items()))


def _draw(
    labels: Mapping[str, str | None], assigned: Mapping[str, str], split: str, count: int, seed: int
) -> list[str]:
    """Paths that must join a split so that it has `count`."""
    held = Counter(
        label for path, label in labels.items() if label is not None and assigned.get(path) == split
    )
    free: defaultdict[str, list[str]] = defaultdict(list)
    for path, label in labels.items():
        if label is not None and path not in assigned:
            free[label].append(path)
    wanted = count - sum(1 for path in labels if assigned.get(path) == split)
    available = sum(map(len, free.values()))
    if wanted > available:
        raise SplitTooLargeError(split, wanted, available)
    shares = {label: len(paths) + held[label] for label, paths in free.items()}
    drawn: list[str] = []
    for label, number in quotas_of(
        shares, held, {k: len(v) for k, v in free.items()}, wanted
    ).items():
        drawn += sorted(free[label], key=lambda path: (order_of_path(path, seed), path))[:number]
    return drawn


def quotas_of(
    shares: Mapping[str, int], held: Mapping[str, int], capacity: Mapping[str, int], wanted: int
) -> dict[str, int]:
    """How many to draw per label, `wanted` in all, so that held + drawn follows the shares."""
    total = wanted + sum(held.get(label, 0) for label in shares)
    targets = largest_remainder(shares, max(total, 0))
    quotas = {
        label: min(max(targets[label] - held.get(label, 0), 0), capacity[label]) for label in shares
    }
    # Labels that already hold more than their share leave a difference; settle it one by one.
    while (excess := sum(quotas.values()) - max(wanted, 0)) != 0:
        step = -1 if excess > 0 else 1
        label = _most_off(quotas, targets, held, capacity, step)
        quotas[label] += step
    return quotas


def _most_off(
    quotas: Mapping[str, int],
    targets: Mapping[str, int],
    held: Mapping[str, int],
    capacity: Mapping[str, int],
    step: int,
) -> str:
    """The label that may take the step and most lacks it; ties by name."""
    movable = [label for label in quotas if 0 <= quotas[label] + step <= capacity[label]]
    return min(
        movable,
        key=lambda label: (step * (quotas[label] + held.get(label, 0) - targets[label]), label),
    )


def largest_remainder(shares: Mapping[str, int], count: int) -> dict[str, int]:
    """Divide `count` in proportion to the shares, exactly (Hamilton's method); ties by name."""
    total = sum(shares.values())
    if not total:
        return dict.fromkeys(shares, 0)
    numbers = {name: share * count // total for name, share in shares.items()}
    remainders = sorted(shares, key=lambda name: (-(shares[name] * count % total), name))
    for name in remainders[: count - sum(numbers.values())]:
        numbers[name] += 1
    return numbers


def order_of_path(path: str, seed: int) -> int:
    """Return the place of a file in the draw: the smallest come first."""
    return xxh3_64_intdigest(path.encode(), seed=seed)
