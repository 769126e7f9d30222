"""The phase of an attempt in a cluster, from its Job and its pods as its watcher last saw them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Final

from atom.clusters.engines.documents import (
    child,
    condition,
    containers,
    text,
)
from atom.jobs.executors.base import Phase
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.observations import is_over, job_is_over

_ORDER: Final = (Phase.SCHEDULING, Phase.PULLING, Phase.INITIALIZING, Phase.RUNNING)


def phase_of(observed: Mapping[str, Any]) -> Phase:
    """Return the phase. Never raises for malformed objects."""
    job, pods = child(observed, "job"), observed.get("pods") or ()
    if job_is_over(observed):
        return Phase.ENDED
    present = [pod for pod in pods if not is_over(pod)]
    living = [pod for pod in present if not child(pod, "metadata").get("deletionTimestamp")]
    if child(job, "spec").get("suspend") is True:
        return Phase.STOPPING if present else Phase.QUEUED
    if living:
        return min((_phase_of_pod(pod) for pod in living), key=_ORDER.index)
    if present:
        return Phase.STOPPING
    if pods:
        return Phase.ENDED
    is_admitted = condition(observed.get("workload"), "Admitted") is not None
    return Phase.ADMITTED if is_admitted else Phase.SUBMITTED


def _phase_of_pod(pod: Mapping[str, Any]) -> Phase:
    if not text(pod, "spec", "nodeName"):
        return Phase.SCHEDULING
    main = dict(containers(pod)).get(names.MAIN, {})
    if "running" in main or "terminated" in main:
        return Phase.RUNNING
    before = [state for _, state in containers(pod, "initContainerStatuses")]
    has_begun = any("running" in state or "terminated" in state for state in before)
    return Phase.INITIALIZING if has_begun else Phase.PULLING
