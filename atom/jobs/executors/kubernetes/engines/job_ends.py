"""Reads from a Job and its pods whether it runs, how it ended and for which cause."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from atom.clusters.engines.documents import (
    Document,
    child,
    condition,
    number,
    text,
)
from atom.jobs.executors.kubernetes.engines.end_causes import (
    Cause,
    EndCause,
    cause,
)
from atom.jobs.executors.kubernetes.engines.pod_ends import (
    PodEnd,
    disruption_of,
    pod_end,
)
from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.waiting import documents, why_waiting

_POLICY: Final = re.compile(
    r"^Container (\S+) for pod (?:[^/\s]+/)?(\S+) failed with exit code (\d{1,9}) "
)
# Waits that explain why a Job reached its deadline without having run.
_BY_WAIT: Final = {
    WaitCode.IMAGE_PULL: EndCause.IMAGE_PULL,
    WaitCode.IMAGE_NAME: EndCause.IMAGE_PULL,
    WaitCode.VOLUME: EndCause.VOLUME,
    WaitCode.VOLUME_MISSING: EndCause.VOLUME,
    WaitCode.CONFIG_MISSING: EndCause.VOLUME,
    WaitCode.UNSCHEDULABLE: EndCause.UNSCHEDULABLE,
    WaitCode.UNSCHEDULABLE_RESOURCES: EndCause.UNSCHEDULABLE,
    WaitCode.UNSCHEDULABLE_OTHER: EndCause.UNSCHEDULABLE,
}


class JobState(StrEnum):
    """The state of a Job as its conditions and pods show it."""

    STARTING = "starting"
    RUNNING = "running"
    SUSPENDING = "suspending"
    SUSPENDED = "suspended"
    # A pod is being taken away; no condition of the Job says so yet.
    DISRUPTED = "disrupted"
    SUCCEEDED = "succeeded"
    FAILED = "failed"
    VANISHED = "vanished"


@dataclass(frozen=True, slots=True)
class JobMeaning:
    """The state of a Job; `cause` says why it failed, or why it will.

    `final` is False while pods of an ended Job still terminate.
    """

    state: JobState
    cause: Cause | None = None
    final: bool = False
    evidence: tuple[str, ...] = field(default=())

    @property
    def params(self) -> Mapping[str, Any]:
        """The values that the cause's sentence names."""
        return self.cause.params if self.cause else {}


def read_job(
    job: object, pods: object = (), events: object = (), workload: object = None
) -> JobMeaning:
    """Return the state of the Job, and the cause of its failure.

    `job` is None once the cluster has no such Job. `pods` has the last known object of each pod,
    removed ones included: a pod is gone seconds after it failed. SUCCEEDED needs the runner's own
    exit report too, which only the caller has. Never raises for malformed objects.
    """
    if job is None:
        return JobMeaning(JobState.VANISHED, cause(EndCause.JOB_VANISHED), final=True)
    ends = [pod_end(pod) for pod in documents(pods)]
    if failure := condition(job, "Failed") or condition(job, "FailureTarget"):
        found = _cause_of(job, failure, ends, (pods, events, workload))
        final = condition(job, "Failed") is not None
        return JobMeaning(JobState.FAILED, found, final, _evidence(failure, found))
    if success := condition(job, "Complete") or condition(job, "SuccessCriteriaMet"):
        return _completed(job, success, ends)
    return _unfinished(job, ends)


def _evidence(row: Document, found: Cause | None) -> tuple[str, ...]:
    said = (text(row, "message"), found.evidence if found else "")
    return tuple(dict.fromkeys(one for one in said if one))


def _completed(job: object, success: Document, ends: list[PodEnd]) -> JobMeaning:
    """Return success, unless an index was ended by a signal and still counts as complete."""
    clean = {end.index for end in ends if end.exit_code == 0 and not end.was_stopped}
    stopped = [end for end in ends if end.succeeded and end.was_stopped and end.index not in clean]
    final = condition(job, "Complete") is not None
    if not stopped:
        return JobMeaning(JobState.SUCCEEDED, None, final, _evidence(success, None))
    found = disruption_of(stopped) or (
        cause(EndCause.PREEMPTED_SUSPENDED)
        if _is_suspended(job)
        else cause(EndCause.POD_DELETED, pod=stopped[0].name)
    )
    return JobMeaning(JobState.FAILED, found, final, _evidence(success, found))


def _is_suspended(job: object) -> bool:
    asked = child(job, "spec").get("suspend") is True
    return asked or condition(job, "Suspended") is not None


def _cause_of(job: object, failure: Document, ends: list[PodEnd], context: Any) -> Cause:
    name, message = text(failure, "reason"), text(failure, "message")
    if name == "DeadlineExceeded":
        return _never_ran(ends, context) or cause(EndCause.DEADLINE, message)
    evicted = condition(context[2], "Evicted")
    own = [end for end in ends if not end.was_stopped]
    if oom := next((end for end in own if end.is_oom), None):
        return oom.cause()
    if _is_suspended(job) or evicted is not None:
        if evicted and "MaximumExecutionTime" in text(evicted, "reason"):
            return cause(EndCause.DEADLINE, text(evicted, "message"))
        return cause(EndCause.PREEMPTED_SUSPENDED, text(evicted, "message") or message)
    named = _POLICY.match(message)
    if named:
        return _named_by_policy(named, message, ends)
    return _without_policy(name, message, ends, own)


def _named_by_policy(named: re.Match[str], message: str, ends: list[PodEnd]) -> Cause:
    """Return the cause of the container that the failure policy names."""
    pod = next((end for end in ends if end.name == named[2]), None)
    if pod is not None:
        earlier = [end for end in ends if end is not pod and end.was_disrupted_before(pod)]
        return disruption_of([pod, *earlier]) or pod.cause(int(named[3]))
    code = int(named[3])
    # Without the pod a signal does not say whether the cluster sent it.
    if code in {137, 143}:
        return disruption_of(ends) or cause(
            EndCause.SIGNAL_UNEXPLAINED, message, pod=named[2], exit_code=code
        )
    return cause(EndCause.USER_CODE, message, exit_code=code, container=named[1])


def _without_policy(name: str, message: str, ends: list[PodEnd], own: list[PodEnd]) -> Cause:
    """Return the cause that the pods show; the Job's own reason does not prove one."""
    failed = [end for end in own if end.failed]
    disrupted = [end for end in ends if end.disruption]
    if failed and not any(not one.ended_before_disruption(failed[0]) for one in disrupted):
        return failed[0].cause()
    if found := disruption_of(disrupted):
        return found
    if deleted := next((end for end in ends if end.failed), None):
        return deleted.cause()
    return cause(EndCause.UNKNOWN, f"{name}: {message}", said=message or name or "?")


def _never_ran(ends: list[PodEnd], context: Any) -> Cause | None:
    """Return why no container started before the deadline; None if one did."""
    pods, events, workload = context
    if not ends or any(end.has_run for end in ends):
        return None
    kept = [_as_before_deletion(pod) for pod in documents(pods)]
    wait = why_waiting({}, kept, events, workload)
    found = _BY_WAIT.get(wait.code) if wait else None
    if wait is None or found is None:
        return None
    params = {**wait.params, "said": wait.evidence or str(wait.sentence)}
    return cause(found, wait.evidence, **params)


def _as_before_deletion(pod: Document) -> dict[str, Any]:
    """Return the pod without its deletion, and pending again if the deadline failed it."""
    metadata = {k: v for k, v in child(pod, "metadata").items() if k != "deletionTimestamp"}
    status = {**child(pod, "status"), "phase": "Pending"}
    return {**pod, "metadata": metadata, "status": status}


def _unfinished(job: object, ends: list[PodEnd]) -> JobMeaning:
    living = number(job, "status", "active") + number(job, "status", "terminating")
    if child(job, "spec").get("suspend") is True:
        return JobMeaning(JobState.SUSPENDING if living else JobState.SUSPENDED)
    replaced = {end.index for end in ends if not end.was_stopped}
    lost = [end for end in ends if end.disruption and end.index not in replaced]
    if found := disruption_of(lost):
        return JobMeaning(JobState.DISRUPTED, found, evidence=(found.evidence,))
    is_ready = number(job, "status", "ready") > 0
    return JobMeaning(JobState.RUNNING if is_ready else JobState.STARTING)
