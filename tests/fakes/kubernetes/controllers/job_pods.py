"""The pods of a Job: their template, their indexes, and which of them count."""

from __future__ import annotations

from typing import Any

from ..defaults import suffix
from ..patches import copy

Json = dict[str, Any]

TRACKING = "batch.kubernetes.io/job-tracking"
INDEX = "batch.kubernetes.io/job-completion-index"
FAILURES = "batch.kubernetes.io/job-index-failure-count"


def index_of(pod: Json) -> int | None:
    """Return the index of a pod, or None."""
    text = (pod["metadata"].get("annotations") or {}).get(INDEX)
    return None if text is None else int(text)


def has_ended(pod: Json) -> bool:
    """Return whether a pod's containers run no more."""
    return pod["status"].get("phase") in ("Failed", "Succeeded")


def is_active(pod: Json) -> bool:
    """Return whether a pod runs or will run."""
    return not has_ended(pod) and not pod["metadata"].get("deletionTimestamp")


def is_terminating(pod: Json) -> bool:
    """Return whether a pod is deleted and has not ended yet."""
    return not has_ended(pod) and bool(pod["metadata"].get("deletionTimestamp"))


def is_ready(pod: Json) -> bool:
    """Return whether a pod is ready."""
    conditions = pod["status"].get("conditions") or ()
    return any(item["type"] == "Ready" and item["status"] == "True" for item in conditions)


def is_tracked(pod: Json) -> bool:
    """Return whether a pod is still to be counted."""
    return TRACKING in (pod["metadata"].get("finalizers") or ())


def has_failed(pod: Json, job: Json) -> bool:
    """Return whether a pod counts as failed under the Job's replacement policy."""
    if pod["status"].get("phase") == "Failed":
        return True
    late = job["spec"]["podReplacementPolicy"] == "Failed"
    return not late and is_terminating(pod)


def new_pod(job: Json, index: int | None, failures: int | None) -> Json:
    """Return a pod of a Job's template."""
    template = copy(job["spec"]["template"])
    metadata: Json = template.get("metadata") or {}
    name = job["metadata"]["name"]
    prefix = f"{name}-" if index is None else f"{name}-{index}-"
    labels = metadata.get("labels") or {}
    annotations = metadata.get("annotations") or {}
    spec = template["spec"]
    if index is not None:
        annotations[INDEX] = labels[INDEX] = str(index)
        spec.setdefault("hostname", f"{name}-{index}")
        _set_index(spec)
    if failures is not None:
        annotations[FAILURES] = str(failures)
    owner = {
        "apiVersion": "batch/v1",
        "kind": "Job",
        "name": name,
        "uid": job["metadata"]["uid"],
        "controller": True,
        "blockOwnerDeletion": True,
    }
    body: Json = {
        "generateName": prefix,
        "name": prefix + suffix(),
        "labels": labels,
        "ownerReferences": [owner],
        "finalizers": [*(metadata.get("finalizers") or ()), TRACKING],
    }
    if annotations:
        body["annotations"] = annotations
    return {"metadata": body, "spec": spec}


def _set_index(spec: Json) -> None:
    path = f"metadata.labels['{INDEX}']"
    variable = {"name": "JOB_COMPLETION_INDEX", "valueFrom": {"fieldRef": {"fieldPath": path}}}
    for item in (*(spec.get("initContainers") or ()), *spec["containers"]):
        if all(known["name"] != variable["name"] for known in item.get("env") or ()):
            item.setdefault("env", []).append(copy(variable))


def parse_indexes(text: str) -> set[int]:
    """Return the indexes of a text such as `0,2-4`."""
    indexes: set[int] = set()
    for part in filter(None, text.split(",")):
        first, _, last = part.partition("-")
        indexes.update(range(int(first), int(last or first) + 1))
    return indexes


def show_indexes(indexes: set[int]) -> str:
    """Return indexes as a Job's status shows them."""
    parts: list[str] = []
    run: list[int] = []
    for index in [*sorted(indexes), -1]:
        if run and index == run[-1] + 1:
            run.append(index)
            continue
        if run:
            joint = "," if len(run) == 2 else "-"
            parts.append(str(run[0]) if len(run) == 1 else f"{run[0]}{joint}{run[-1]}")
        run = [index]
    return ",".join(parts)
