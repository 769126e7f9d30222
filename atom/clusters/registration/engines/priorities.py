"""PriorityClasses of a cluster: which of them preempt the pods of runs."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from atom.clusters.registration.engines.nodes import is_node_name, mapping

# Each cluster has these for its own parts. They preempt anything, and need next to nothing.
_OF_SYSTEM: Final = frozenset({"system-cluster-critical", "system-node-critical"})
_MOST: Final = 100


def read_priority_classes(items: Iterable[object]) -> list[dict[str, Any]]:
    """Return the classes of a cluster as facts, at most 100, the highest value first.

    Each has its `name`, its `value`, whether it `preempts`, and whether it is the `default` of
    pods that name none. A malformed one is left out.
    """
    rows: list[dict[str, Any]] = []
    for item in map(mapping, items):
        name, value = mapping(item.get("metadata")).get("name"), item.get("value", 0)
        if not is_node_name(name) or name in _OF_SYSTEM or type(value) is not int:
            continue
        rows.append(
            {
                "name": name,
                "value": value,
                "preempts": item.get("preemptionPolicy") != "Never",
                "default": item.get("globalDefault") is True,
            }
        )
    return sorted(rows, key=lambda row: (-row["value"], row["name"]))[:_MOST]


def preemptors_of(facts: Mapping[str, Any], priority_class: str) -> list[str] | None:
    """Return the classes whose pods preempt those of a class, the highest first; None if unknown.

    `facts` are those of the cluster's last check. "" is the class that the cluster gives by itself.
    """
    classes = facts.get("priority_classes")
    if classes is None:
        return None
    values = {row["name"]: row["value"] for row in classes}
    if not priority_class:
        own = next((row["value"] for row in classes if row["default"]), 0)
    elif priority_class in values:
        own = values[priority_class]
    else:
        return None
    return [row["name"] for row in classes if row["preempts"] and row["value"] > own]
