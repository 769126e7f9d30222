"""Ancestors of commits, from the parents of each."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence

Parents = Mapping[str, Sequence[str]]


def ancestors(parents: Parents, commit: str) -> set[str]:
    """Return the commit and everything that it came from; commits that are not known are left."""
    found: set[str] = set()
    waiting = [commit] if commit in parents else []
    while waiting:
        present = waiting.pop()
        if present not in found and present in parents:
            found.add(present)
            waiting += parents[present]
    return found


def merge_base(parents: Parents, one: str, other: str) -> str | None:
    """Return the best common ancestor of two commits, None if they share none.

    Best is one that no other common ancestor came from. Branches merged crosswise may have several:
    we take the one with the smallest digest, so that every worker takes the same. Content that both
    sides took from the others is equal in both and cannot conflict.
    """
    common = ancestors(parents, one) & ancestors(parents, other)
    behind = {parent for commit in common for parent in parents[commit]}
    return min(common - behind, default=None)


def fork_points(parents: Parents, trunk: str, heads: Iterable[str]) -> set[str]:
    """Return the commits of the trunk where the branches with these heads left it.

    The merge base of any two branches that lies on the trunk is among them. The cost follows what
    the branches have of their own.
    """
    on_trunk = ancestors(parents, trunk)
    found: set[str] = set()
    seen: set[str] = set()
    waiting = list(heads)
    while waiting:
        present = waiting.pop()
        if present in on_trunk:
            found.add(present)
        elif present not in seen:
            seen.add(present)
            waiting += parents.get(present, ())
    return found


def distances(
    parents: Parents, numbers: Mapping[str, int], trunk: str, heads: Iterable[str]
) -> dict[str, tuple[int, int]]:
    """Return of each head how many commits it has that the trunk has not, and the reverse.

    The trunk's own commits are numbered, each after the one before it, and only these count as
    missing. The cost follows what the heads have of their own.
    """
    on_trunk = ancestors(parents, trunk)
    newest = numbers.get(trunk, 0)
    found = {}
    for head in set(heads):
        own, reached = 0, 0
        seen: set[str] = set()
        waiting = [head]
        while waiting:
            present = waiting.pop()
            if present in seen or present not in parents:
                continue
            seen.add(present)
            if present in numbers:
                # It has the ones before it too.
                reached = max(reached, numbers[present])
                continue
            own += present not in on_trunk
            waiting += parents[present]
        found[head] = own, newest - reached
    return found


def parents_first(parents: Parents) -> list[str]:
    """Return the commits of `parents`, each after those of its parents that are among them."""
    ordered: dict[str, None] = {}
    waiting = list(parents)[::-1]
    while waiting:
        commit = waiting[-1]
        missing = [each for each in parents[commit] if each in parents and each not in ordered]
        if missing:
            waiting += missing
        else:
            ordered.setdefault(waiting.pop())
    return list(ordered)
