"""Failures that a cluster causes: its words are the evidence, the code of the run has no part."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, Final

from atom.jobs.failures.engines import failure_codes as classes
from atom.jobs.failures.engines.failure_codes import FailureCode
from atom.jobs.failures.engines.failures import Failure

# Longest text of a cluster that a failure repeats, in characters.
MAX_TEXT: Final = 500
_STARTS_AGAIN: Final = (
    "Nothing to correct: the run starts again by itself, from its last saved checkpoint."
)
_POD_LOG: Final = (
    "Read the pod's log in the cluster, or show this to an administrator of the cluster. The run "
    "starts again by itself while it has retries left."
)


@dataclass(frozen=True, slots=True)
class _Text:
    failure_class: str
    reason: str
    suggestion: str


CLUSTER_FAILURES: Final[Mapping[FailureCode, _Text]] = {
    FailureCode.PREEMPTED: _Text(
        classes.PREEMPTED, "The cluster stopped the job to make room: {said}", _STARTS_AGAIN
    ),
    FailureCode.EVICTED: _Text(
        classes.EVICTED, "The cluster moved the job off its machine: {said}", _STARTS_AGAIN
    ),
    FailureCode.NODE_PRESSURE: _Text(
        classes.EVICTED,
        "The machine ran short of a resource and stopped the job: {said}",
        _STARTS_AGAIN,
    ),
    FailureCode.POD_DELETED: _Text(
        classes.NODE_LOST,
        "The job's pod {pod} was deleted in the cluster while it ran.",
        _STARTS_AGAIN,
    ),
    FailureCode.DISRUPTED: _Text(
        classes.NODE_LOST, "The cluster took the job's machine away: {said}", _STARTS_AGAIN
    ),
    FailureCode.JOB_VANISHED: _Text(
        classes.JOB_VANISHED,
        "The job's object is gone from the cluster, so its end could not be observed.",
        "The run starts again by itself while it has retries left. If this happens again, ask an "
        "administrator which program deletes it.",
    ),
    FailureCode.IMAGE_NOT_PULLED: _Text(
        classes.IMAGE_PULL,
        "The job's image could not be pulled: {said}",
        "Check the image's name and tag, and that the cluster may read its registry.",
    ),
    FailureCode.VOLUME_NOT_MOUNTED: _Text(
        classes.VOLUME,
        "A volume, secret or configuration of the job could not be brought to the machine: {said}",
        "Create what the text names, or show it to an administrator of the cluster.",
    ),
    FailureCode.UNSCHEDULABLE: _Text(
        classes.UNSCHEDULABLE,
        "The cluster found no machine for the job before its time limit: {said}",
        "Ask for less, choose other kinds of machines, or wait until other work ends.",
    ),
    FailureCode.CONTAINER_NOT_STARTED: _Text(
        classes.COMMAND_NOT_FOUND,
        "The job's container could not be started: {said}",
        "Check that the image contains the command and may execute it.",
    ),
    FailureCode.CLUSTER_ENDED_IT: _Text(
        classes.RUNNER_LOST,
        "The cluster ended the job, and its objects do not say why: {said}",
        "Show this text to an administrator of the cluster; the run starts again by itself while "
        "it has retries left.",
    ),
    FailureCode.POD_REFUSED: _Text(
        classes.RUNNER_LOST,
        "Atom did not accept the job's pod, so its command was not started: {said}",
        _POD_LOG,
    ),
    FailureCode.POD_NOT_PREPARED: _Text(
        classes.RUNNER_LOST,
        "The runner in the job's pod could not prepare the attempt, so its command was not "
        "started: {said}",
        _POD_LOG,
    ),
    FailureCode.POD_NOT_REPORTED: _Text(
        classes.RUNNER_LOST,
        "The runner in the job's pod ended, and Atom has no report about the command: {said}",
        _POD_LOG,
    ),
}


def cluster_failure(code: FailureCode, params: Mapping[str, Any]) -> Failure:
    """Return the failure of a code of CLUSTER_FAILURES; texts are cut to MAX_TEXT characters."""
    known = CLUSTER_FAILURES[code]
    named = {
        name: str(params.get(name) or "?")[:MAX_TEXT]
        for name in ("said", "pod")
        if "{" + name + "}" in known.reason
    }
    return Failure(
        known.failure_class, known.reason.format(**named), known.suggestion, code, dict(named)
    )
