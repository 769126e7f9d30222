"""Kueue's ClusterQueues as a check of the cluster reads and keeps them. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterable, Mapping
from typing import Any, Final

from atom.clusters.engines.documents import last_condition, name_of, rows, text
from atom.clusters.registration.engines.nodes import sequence, shown

# The name of these facts among those of a cluster, and of Kueue among its API groups.
QUEUES: Final = "queues"
KUEUE: Final = "kueue"
READY: Final = "ready"
INACTIVE: Final = "inactive"
MISSING: Final = "missing"
UNKNOWN: Final = "unknown"
STATES: Final = (READY, INACTIVE, MISSING, UNKNOWN)

# Pods of runs always ask for these.
ALWAYS: Final = ("cpu", "memory")
_MAX_RESOURCES = 64
_KNOWN_VERSIONS: Final = ("v1beta2", "v1beta1")


def version_in(facts: Mapping[str, Any]) -> str:
    """Return the version of Kueue's API that a cluster serves and Atom speaks, "" if none."""
    return known_version((facts.get("api_groups") or {}).get(KUEUE) or ())


def known_version(served: Collection[str]) -> str:
    """Return the newest of the served versions that Atom speaks, "" if it speaks none."""
    return next((one for one in _KNOWN_VERSIONS if one in served), "")


def holds_gates(facts: Mapping[str, Any]) -> bool:
    """Return whether Kueue holds a Job back that was made with an admission gate."""
    return (facts.get(QUEUES) or {}).get("gates") is True


def read_cluster_queues(
    names: Collection[str], documents: Iterable[object] | None
) -> dict[str, dict[str, Any]]:
    """Return state, reason and covered resources of each named queue; None: they are not shown."""
    if documents is None:
        return {name: _row(UNKNOWN) for name in names}
    there = {name_of(one): one for one in documents}
    return {name: _read(there[name]) if name in there else _row(MISSING) for name in names}


def _read(document: object) -> dict[str, Any]:
    active = last_condition(document, "Active") or {}
    is_active = active.get("status") == "True"
    groups = rows(document, "spec", "resourceGroups")
    covered = {
        shown(name)
        for group in groups
        for name in sequence(group.get("coveredResources"))
        if isinstance(name, str)
    }
    said = "" if is_active else shown(text(active, "message"))
    return _row(READY if is_active else INACTIVE, said, sorted(covered)[:_MAX_RESOURCES])


def _row(state: str, reason: str = "", covered: list[str] | None = None) -> dict[str, Any]:
    return {"state": state, "reason": reason, "covered": covered}
