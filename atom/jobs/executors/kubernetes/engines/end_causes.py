"""Causes of the end of a Job of Kubernetes, and the failure that people read for each."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any, Final

from atom.jobs.failures.engines.cluster_failures import cluster_failure
from atom.jobs.failures.engines.failure_codes import FailureCode
from atom.jobs.failures.engines.failures import (
    ExitReport,
    Failure,
    Limits,
    classify,
    deadline,
    node_lost,
)


class EndCause(StrEnum):
    """Why a Job failed."""

    USER_CODE = "user_code"
    OOM_HOST = "oom_host"
    NOT_STARTED = "not_started"
    INIT_FAILED = "init_failed"
    # By the scheduler, for a pod of higher priority.
    PREEMPTED = "preempted"
    # Its Job was suspended: by Kueue, or by a person.
    PREEMPTED_SUSPENDED = "preempted_suspended"
    # By the Eviction API, as a drain of a node does it.
    EVICTED = "evicted"
    EVICTED_PRESSURE = "evicted_pressure"
    NODE_LOST = "node_lost"
    POD_DELETED = "pod_deleted"
    DISRUPTED = "disrupted"
    SIGNAL_UNEXPLAINED = "signal_unexplained"
    DEADLINE = "deadline"
    IMAGE_PULL = "image_pull"
    VOLUME = "volume"
    UNSCHEDULABLE = "unschedulable"
    JOB_VANISHED = "job_vanished"
    # The runner's own codes: it got no attempt, could not prepare it, or could not report its end.
    POD_REFUSED = "pod_refused"
    POD_NOT_PREPARED = "pod_not_prepared"
    POD_NOT_REPORTED = "pod_not_reported"
    UNKNOWN = "unknown"


@dataclass(frozen=True, slots=True)
class Cause:
    """A cause with the values that it names and the recorded text."""

    code: EndCause
    params: Mapping[str, Any] = field(default_factory=dict)
    evidence: str = ""

    def failure(self, limits: Limits) -> Failure:
        """Return class, sentence and suggestion; `limits` are those of the attempt."""
        own = self._failure_of_the_command(limits)
        if own is not None:
            return own
        return cluster_failure(_CODES.get(self.code, FailureCode.CLUSTER_ENDED_IT), self.params)

    def _failure_of_the_command(self, limits: Limits) -> Failure | None:
        """Return the failure of a cause that attempts of one machine have too."""
        if self.code is EndCause.OOM_HOST:
            return classify(ExitReport("oom"), limits)
        if self.code is EndCause.DEADLINE:
            return deadline(limits.timeout_s)
        if self.code is EndCause.NODE_LOST:
            return node_lost(str(self.params.get("node", "?")))
        if self.code is EndCause.USER_CODE:
            return classify(ExitReport("exited", self.params.get("exit_code")), limits)
        if self.code is EndCause.INIT_FAILED:
            said = self.evidence or f"exit code {self.params.get('exit_code')}"
            report = ExitReport("exited", 1, traceback=said, stage="preparation")
            return classify(report, limits)
        return None


_CODES: Final = {
    EndCause.NOT_STARTED: FailureCode.CONTAINER_NOT_STARTED,
    EndCause.PREEMPTED: FailureCode.PREEMPTED,
    EndCause.PREEMPTED_SUSPENDED: FailureCode.PREEMPTED,
    EndCause.EVICTED: FailureCode.EVICTED,
    EndCause.EVICTED_PRESSURE: FailureCode.NODE_PRESSURE,
    EndCause.POD_DELETED: FailureCode.POD_DELETED,
    EndCause.DISRUPTED: FailureCode.DISRUPTED,
    EndCause.IMAGE_PULL: FailureCode.IMAGE_NOT_PULLED,
    EndCause.VOLUME: FailureCode.VOLUME_NOT_MOUNTED,
    EndCause.UNSCHEDULABLE: FailureCode.UNSCHEDULABLE,
    EndCause.JOB_VANISHED: FailureCode.JOB_VANISHED,
    EndCause.POD_REFUSED: FailureCode.POD_REFUSED,
    EndCause.POD_NOT_PREPARED: FailureCode.POD_NOT_PREPARED,
    EndCause.POD_NOT_REPORTED: FailureCode.POD_NOT_REPORTED,
}


def cause(code: EndCause, evidence: str = "", **params: Any) -> Cause:
    """Return the cause of this code."""
    return Cause(code, {**params, "said": params.get("said") or evidence or "?"}, evidence)
