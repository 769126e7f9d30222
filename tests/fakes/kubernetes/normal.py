"""Fields that the server always writes, even when they are empty."""

from __future__ import annotations

from typing import Any

from .resources import Resource

Json = dict[str, Any]

_TIMED = {"Job", "Pod"}


def normalize(status: Json | None, resource: Resource) -> Json:
    """Return a status with its always written fields."""
    status = dict(status or {})
    if resource.kind in _TIMED and "conditions" in status:
        empty: Json = {"lastProbeTime": None, "lastTransitionTime": None}
        status["conditions"] = [empty | condition for condition in status["conditions"]]
    if resource.kind == "Pod":
        for key in ("containerStatuses", "initContainerStatuses"):
            if key in status:
                status[key] = [_container(item) for item in status[key]]
    return status


def _container(item: Json) -> Json:
    item = {"lastState": dict[str, Any](), **item}
    state: Json = item.get("state") or {}
    if "terminated" in state:
        ended: Json = {"startedAt": None, "finishedAt": None} | state["terminated"]
        item["state"] = state | {"terminated": ended}
    return item
