"""Nodes that the pods of a run prefer, since the data is there."""

from __future__ import annotations

from collections.abc import Mapping

# Below this part on the best node, the place of the data decides nothing.
LEAST_PART = 0.05
MOST_NODES = 50
_STEP = 10


def preferred_nodes(cached_bytes: Mapping[str, int], total_bytes: int) -> list[tuple[str, int]]:
    """Return nodes with weights of 1 to 100, best first and then by name.

    `cached_bytes` are over all inputs together, by node; `total_bytes` is their size. The weight is
    the percentage, in steps of ten, since Kubernetes overstates small differences. A node
    of 1 to 4 % keeps weight 1. There are none if the best node holds under 5 %.
    """
    if not total_bytes or max(cached_bytes.values(), default=0) / total_bytes < LEAST_PART:
        return []
    best = sorted(cached_bytes.items(), key=lambda pair: (-pair[1], pair[0]))
    weights = [(name, _weight(cached / total_bytes)) for name, cached in best]
    return [(name, weight) for name, weight in weights if weight][:MOST_NODES]


def _weight(part: float) -> int:
    percent = min(100, round(100 * part))
    if percent < 1:
        return 0
    return max(1, (percent + _STEP // 2) // _STEP * _STEP)
