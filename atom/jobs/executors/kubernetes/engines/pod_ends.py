"""Reads how a pod ended: by itself, or because the cluster took it away."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from datetime import datetime
from typing import Final

from atom.clusters.engines.documents import (
    Document,
    child,
    condition,
    containers,
    deletion_requested_at,
    moment,
    name_of,
    number,
    text,
)
from atom.jobs.executors.kubernetes.engines.end_causes import Cause, EndCause, cause

_DISRUPTIONS: Final = {
    "PreemptionByScheduler": EndCause.PREEMPTED,
    "EvictionByEvictionAPI": EndCause.EVICTED,
    "TerminationByKubelet": EndCause.EVICTED_PRESSURE,
    "DeletionByTaintManager": EndCause.NODE_LOST,
    "DeletionByPodGC": EndCause.NODE_LOST,
}
_INDEX: Final = "batch.kubernetes.io/job-completion-index"


@dataclass(frozen=True, slots=True)
class PodEnd:
    """The end of one pod, as far as it has come; times are None where they are not recorded."""

    name: str
    index: str
    node: str = ""
    phase: str = ""
    container: str = ""
    exit_code: int | None = None
    reason: str = ""
    message: str = ""
    is_init: bool = False
    has_run: bool = False
    is_deleted: bool = False
    finished_at: datetime | None = None
    deleted_at: datetime | None = None
    disruption: str = ""
    disruption_text: str = ""
    disrupted_at: datetime | None = None

    @property
    def succeeded(self) -> bool:
        """Whether the cluster counts the pod as a success."""
        return self.phase == "Succeeded" or (self.exit_code == 0 and not self.is_init)

    @property
    def failed(self) -> bool:
        """Whether the pod ended, and not well."""
        return self.phase == "Failed" or self.exit_code not in (0, None)

    @property
    def is_oom(self) -> bool:
        """Whether the kernel ended a container for its memory; code 137 alone proves nothing."""
        return self.reason == "OOMKilled"

    @property
    def was_stopped(self) -> bool:
        """Whether the cluster asked the pod to end before its command ended by itself."""
        if self.disruption:
            return _is_before(self.disrupted_at, self.finished_at)
        return self.is_deleted and _is_before(self.deleted_at, self.finished_at)

    def was_disrupted_before(self, other: PodEnd) -> bool:
        """Return whether the disruption is known to come before the end of the other pod."""
        known = self.disrupted_at is not None and other.finished_at is not None
        return bool(self.disruption) and known and _is_before(self.disrupted_at, other.finished_at)

    def ended_before_disruption(self, other: PodEnd) -> bool:
        """Return whether the other pod is known to have ended before this one was disrupted."""
        if self.disrupted_at is None or other.finished_at is None:
            return False
        return other.finished_at < self.disrupted_at

    def cause(self, exit_code: int | None = None) -> Cause:
        """Return why the pod failed."""
        code = self.exit_code if exit_code is None else exit_code
        if self.is_oom and not self.was_stopped:
            return cause(EndCause.OOM_HOST, self.message or self.reason, container=self.container)
        if self.disruption and self.was_stopped:
            return _disruption(self)
        if self.is_deleted and self.was_stopped:
            return cause(EndCause.POD_DELETED, self.message, pod=self.name)
        said = self.message or self.reason
        if self.reason in {"StartError", "ContainerCannotRun"}:
            return cause(EndCause.NOT_STARTED, said, container=self.container, said=said)
        if self.is_init:
            return cause(EndCause.INIT_FAILED, said, container=self.container, exit_code=code)
        if code is None:
            return cause(EndCause.UNKNOWN, said, said=said or self.name)
        return cause(EndCause.USER_CODE, said, exit_code=code, container=self.container)


def _is_before(stop: datetime | None, end: datetime | None) -> bool:
    """Return whether the stop came first; where a time is unknown, it counts as first."""
    return stop is None or end is None or stop <= end


def pod_end(pod: Document) -> PodEnd:
    """Return how the pod ended, as far as its last known object shows it."""
    target = condition(pod, "DisruptionTarget")
    name, state, is_init = _ended_container(pod)
    ended = child(state, "terminated")
    code = number(ended, "exitCode") if "exitCode" in ended else None
    evicted = text(pod, "status", "reason") == "Evicted"
    disruption = text(target, "reason") or ("?" if target else "")
    return PodEnd(
        name=name_of(pod),
        index=text(pod, "metadata", "annotations", _INDEX) or name_of(pod),
        node=text(pod, "spec", "nodeName"),
        phase=text(pod, "status", "phase"),
        container=name,
        exit_code=code,
        reason=text(ended, "reason"),
        message=text(ended, "message"),
        is_init=is_init,
        has_run=_has_run(pod),
        is_deleted=child(pod, "metadata").get("deletionTimestamp") is not None,
        finished_at=moment(ended, "finishedAt"),
        deleted_at=deletion_requested_at(pod),
        disruption=disruption or ("TerminationByKubelet" if evicted else ""),
        disruption_text=text(target, "message") or text(pod, "status", "message"),
        disrupted_at=moment(target, "lastTransitionTime"),
    )


def _ended_container(pod: Document) -> tuple[str, Document, bool]:
    """Return the container that decides: one without memory, then one that failed, then any."""
    found = [(name, state, False) for name, state in containers(pod)]
    found += [(n, s, True) for n, s in containers(pod, "initContainerStatuses")]
    ended = [one for one in found if child(one[1], "terminated")]
    for is_decisive in (_is_oom, _is_failed):
        for one in ended:
            if is_decisive(one[1]):
                return one
    return next((one for one in ended if not one[2]), ("", {}, False))


def _is_oom(state: Document) -> bool:
    return text(state, "terminated", "reason") == "OOMKilled"


def _is_failed(state: Document) -> bool:
    return number(state, "terminated", "exitCode") != 0


def _has_run(pod: Document) -> bool:
    states = containers(pod) + containers(pod, "initContainerStatuses")
    return any("running" in state or "terminated" in state for _, state in states)


def disruption_of(ends: Sequence[PodEnd]) -> Cause | None:
    """Return the cause of the first pod that the cluster took away; None if there is none."""
    taken = [end for end in ends if end.disruption and end.was_stopped]
    return _disruption(taken[0]) if taken else None


def _disruption(end: PodEnd) -> Cause:
    kind = _DISRUPTIONS.get(end.disruption)
    if kind is None:
        said = f"{end.disruption}: {end.disruption_text}"
        return cause(EndCause.DISRUPTED, said, pod=end.name, said=said)
    return cause(kind, end.disruption_text, pod=end.name, node=end.node or "?",
                 said=end.disruption_text)  # fmt: skip
