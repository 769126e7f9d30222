"""Events and Kueue's Workloads as they are kept: they say why a Job waits."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any, Final

from atom.clusters.engines.documents import (
    child,
    condition,
    name_of,
    rows,
    text,
)
from atom.jobs.executors.base import Phase
from atom.jobs.executors.kubernetes.engines.phases import phase_of

Json = dict[str, Any]

# The newest are kept for each placement.
MOST_EVENTS: Final = 30
# Ordinary events that explain a wait; of the others only warnings do.
_TELLING: Final = frozenset({"PreemptedWorkload", "Pulling", "BackOff", "Preempted", "Stopped"})
_KEPT_CONDITION: Final = ("type", "status", "reason", "message", "lastTransitionTime")


def slim_event(event: Mapping[str, Any]) -> Json:
    """Return the parts of an Event that are kept; `at` is when it was last seen, for the order."""
    involved = child(event, "involvedObject")
    return {
        "involvedObject": {key: text(involved, key) for key in ("kind", "name", "uid")},
        "reason": text(event, "reason"),
        "message": text(event, "message"),
        "type": text(event, "type"),
        "firstTimestamp": text(event, "firstTimestamp") or text(event, "eventTime"),
        "at": text(event, "series", "lastObservedTime")
        or text(event, "lastTimestamp")
        or text(event, "eventTime"),
    }


def slim_workload(workload: Mapping[str, Any]) -> Json:
    """Return the parts of a Workload that are kept."""
    owners = rows(workload, "metadata", "ownerReferences")
    return {
        "metadata": {"name": name_of(workload), "job_uid": _job_of(owners)},
        "spec": {"queueName": text(workload, "spec", "queueName")},
        "status": {
            "conditions": [
                {key: text(row, key) for key in _KEPT_CONDITION}
                for row in rows(workload, "status", "conditions")
            ]
        },
    }


def _job_of(owners: Iterable[Mapping[str, Any]]) -> str:
    jobs = [text(owner, "uid") for owner in owners if owner.get("kind") == "Job"]
    return jobs[0] if jobs else ""


def may_wait(observed: Mapping[str, Any]) -> bool:
    """Return whether events and Workloads can say anything about a placement now."""
    phase = phase_of(observed)
    if phase is not Phase.ENDED:
        return phase is not Phase.RUNNING
    # Kueue's reason for the end of a Job comes with that end.
    workload = observed.get("workload")
    return workload is not None and condition(workload, "Finished") is None


def wait_objects_of(
    observed: Mapping[str, Any], events: Iterable[Json], workloads: Iterable[Json]
) -> Json:
    """Return `events` and `workload` of a placement, from all that its namespace has.

    Events keep the order in which they were last seen; one that only came again changes nothing.
    """
    job_uid = text(observed, "job", "metadata", "uid")
    own = [row for row in workloads if job_uid and row["metadata"]["job_uid"] == job_uid]
    workload = own[-1] if own else None
    uids = {job_uid, *(text(pod, "metadata", "uid") for pod in observed.get("pods") or ())}
    named = {name_of(workload)} if workload else set()
    mine = [event for event in events if _is_about(event, uids, named)]
    kept: dict[tuple[str, str, str], Json] = {}
    for event in sorted(mine, key=lambda one: str(one["at"])):
        key = (event["involvedObject"]["name"], event["reason"], event["message"])
        first = kept.pop(key, event)
        kept[key] = {name: value for name, value in first.items() if name != "at"}
    found: Json = {"events": list(kept.values())[-MOST_EVENTS:]}
    return found | ({"workload": workload} if workload else {})


def _is_about(event: Json, uids: set[str], workloads: set[str]) -> bool:
    if event["type"] != "Warning" and event["reason"] not in _TELLING:
        return False
    involved = event["involvedObject"]
    if involved["kind"] == "Workload":
        return involved["name"] in workloads
    return bool(involved["uid"]) and involved["uid"] in uids
