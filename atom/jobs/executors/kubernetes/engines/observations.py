"""The meaning of what a watcher wrote about a placement."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any

from atom.clusters.engines.documents import (
    condition,
    last_condition,
    moment,
    rows,
    text,
)
from atom.jobs.executors.base import Observation, RankObservation
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.end_causes import Cause, EndCause, cause
from atom.jobs.executors.kubernetes.engines.job_ends import JobState, read_job
from atom.jobs.executors.kubernetes.engines.pod_ends import pod_end
from atom.jobs.failures.engines.failures import Failure, Limits
from atom_sdk.runner.pod_exits import NO_LONGER_OURS, NOT_REPORTED, REFUSED, TERMINATED

# A Job with one of these ends: FailureTarget and SuccessCriteriaMet come before its pods are gone.
_ENDS = frozenset({"FailureTarget", "Failed", "SuccessCriteriaMet", "Complete"})
POD_ENDS = frozenset({"Succeeded", "Failed"})
_KILLED = 137
_SIGNALS = frozenset({TERMINATED, _KILLED})
_UNREPORTED = frozenset({NO_LONGER_OURS, NOT_REPORTED})


def slim_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a Job that are kept."""
    metadata, status = job.get("metadata") or {}, job.get("status") or {}
    spec = job.get("spec") or {}
    return {
        "metadata": _metadata_of(metadata),
        "spec": {
            "suspend": bool(spec.get("suspend")),
            **{key: spec[key] for key in ("completions",) if key in spec},
        },
        "status": {key: status[key] for key in _KEPT_JOB_STATUS if key in status},
    }


def slim_pod(pod: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a pod that are kept."""
    metadata, spec = pod.get("metadata") or {}, pod.get("spec") or {}
    status = pod.get("status") or {}
    annotations = metadata.get("annotations") or {}
    index = annotations.get(names.JOB_INDEX)
    return {
        "metadata": {
            **_metadata_of(metadata),
            "annotations": {} if index is None else {names.JOB_INDEX: index},
        },
        "spec": {"nodeName": spec.get("nodeName") or "", **_kept_pod_spec(spec)},
        "status": {key: status[key] for key in _KEPT_POD_STATUS if key in status},
    }


def _kept_pod_spec(spec: Mapping[str, Any]) -> dict[str, Any]:
    """Return the gates that hold the pod back, and the images that its kubelet waits for."""
    kept: dict[str, Any] = {}
    if gates := rows(spec, "schedulingGates"):
        kept["schedulingGates"] = [{"name": text(gate, "name")} for gate in gates]
    for kind in ("initContainers", "containers"):
        if found := rows(spec, kind):
            kept[kind] = [{key: text(row, key) for key in ("name", "image")} for row in found]
    return kept


def _metadata_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    labels = metadata.get("labels") or {}
    kept = {key: metadata[key] for key in _KEPT_METADATA if metadata.get(key)}
    own = {names.PLACEMENT: str(labels.get(names.PLACEMENT) or "")}
    if queue := labels.get(names.QUEUE):
        own[names.QUEUE] = str(queue)
    return {**kept, "labels": own}


def placement_of(slim: Mapping[str, Any]) -> str:
    """Return the id of the placement that a slim object belongs to, "" if it has none."""
    return str(slim["metadata"]["labels"][names.PLACEMENT])


def uids_of(observed: Mapping[str, Any]) -> set[str]:
    """Return the uids of the Job and the pods that the cluster had; none of a Job that is gone."""
    if observed.get("gone"):
        return set()
    found = [observed.get("job") or {}, *(observed.get("pods") or ())]
    return {uid for one in found if (uid := str((one.get("metadata") or {}).get("uid") or ""))}


_KEPT_METADATA = (
    *("name", "uid", "creationTimestamp", "deletionTimestamp", "deletionGracePeriodSeconds"),
)
_KEPT_JOB_STATUS = (
    *("conditions", "active", "ready", "terminating", "succeeded", "failed"),
    # A suspension takes it away, and the end of the suspension writes it anew.
    "startTime",
)
_KEPT_POD_STATUS = (
    *("phase", "reason", "message", "conditions", "startTime"),
    *("initContainerStatuses", "containerStatuses"),
)


def job_is_over(observed: Mapping[str, Any]) -> bool:
    """Return whether the Job starts no pod any more: it has ended, or is gone."""
    if observed.get("gone"):
        return True
    job = observed.get("job") or {}
    conditions = (job.get("status") or {}).get("conditions") or ()
    return any(
        one.get("type") in _ENDS and one.get("status") == "True" for one in conditions
    ) or bool((job.get("metadata") or {}).get("deletionTimestamp"))


def may_end(observed: Mapping[str, Any]) -> tuple[object, ...]:
    """Return what an attempt's end depends on; what else changes needs nobody's attention."""
    pods = [
        (pod["metadata"].get("uid"), pod["metadata"].get("deletionTimestamp"), is_over(pod))
        for pod in observed.get("pods") or ()
    ]
    is_over_by = (job_is_over(observed), bool(observed.get("gone")), "job" in observed)
    return (*is_over_by, observed.get("nodes"), pods)


def pod_of(observed: Mapping[str, Any], uid: str) -> Mapping[str, Any] | None:
    """Return a pod of the placement, None if the cluster has it no more."""
    pods = observed.get("pods") or ()
    return next((pod for pod in pods if pod["metadata"].get("uid") == uid), None)


def is_over(pod: Mapping[str, Any] | None) -> bool:
    """Return whether nothing of a pod runs any more."""
    return pod is None or (pod.get("status") or {}).get("phase") in POD_ENDS


def observation_of(
    observed: Mapping[str, Any],
    identities: Mapping[int, Mapping[str, Any]],
    limits: Limits,
) -> Observation:
    """Return the ranks of an attempt; `identities` are those that their pods gave, by number.

    A rank without a pod waits for one for as long as its Job may start it. Before the watcher has
    seen the Job, all of them wait.
    """
    over = job_is_over(observed)
    ranks = {
        number: RankObservation(alive=_is_alive(observed, identity, over), identity=identity)
        for number, identity in identities.items()
    }
    pods = observed.get("pods") or ()
    is_final = over and (bool(observed.get("gone")) or all(is_over(pod) for pod in pods))
    joined = {str(one["pod_uid"]) for one in identities.values() if one.get("pod_uid")}
    failure = _failure_of(observed, limits, joined) if over else _disruption_of(observed, limits)
    job = observed.get("job") or {}
    return Observation(
        ranks,
        is_final=is_final,
        failure=failure,
        may_start_since=moment(job, "status", "startTime"),
        is_suspended=bool(job["spec"].get("suspend")) if job.get("spec") else None,
    )


def _failure_of(
    observed: Mapping[str, Any], limits: Limits, joined: Collection[str]
) -> Failure | None:
    """Return why the Job ended, as far as its objects say it; None if they say that it is well.

    `joined`: uids of the pods that were accepted as ranks.
    """
    job = observed.get("job") or None
    context = observed.get("events"), observed.get("workload")
    meaning = read_job(job, observed.get("pods") or (), *context)
    if meaning.cause is None and observed.get("gone"):
        meaning = read_job(None)
    if meaning.cause is None:
        return None
    return _without_codes_of_the_runner(meaning.cause, observed, joined).failure(limits)


def _without_codes_of_the_runner(
    found: Cause, observed: Mapping[str, Any], joined: Collection[str]
) -> Cause:
    """Return the cause, another one if its exit code is that of the runner and not of the program.

    A program's own end is reported, whatever its code, and its own 137 and 143 become 1. So an
    attempt without a report has no code of its program among these.
    """
    code = found.params.get("exit_code")
    if found.code is not EndCause.USER_CODE:
        return found
    said = f"exit code {code}"
    if code in _SIGNALS:
        return cause(EndCause.SIGNAL_UNEXPLAINED, found.evidence, said=said)
    if code in _UNREPORTED:
        return cause(EndCause.POD_NOT_REPORTED, found.evidence, said=said)
    if code == REFUSED:
        accepted = _was_accepted(observed, joined, REFUSED)
        kind = EndCause.POD_NOT_PREPARED if accepted else EndCause.POD_REFUSED
        return cause(kind, found.evidence, said=said)
    return found


def _was_accepted(observed: Mapping[str, Any], joined: Collection[str], code: int) -> bool:
    """Return whether a pod that ended with the code was a rank; any pod, if none is known."""
    ended = {
        str(pod["metadata"].get("uid"))
        for pod in observed.get("pods") or ()
        if pod_end(pod).exit_code == code
    }
    return bool(ended.intersection(joined)) if ended else bool(joined)


def _disruption_of(observed: Mapping[str, Any], limits: Limits) -> Failure | None:
    """Return why pods of a Job that goes on are taken away; None if none is.

    It matters for a rank that ended without a word: its own report says more.
    """
    meaning = read_job(observed.get("job") or {}, observed.get("pods") or ())
    if meaning.state in {JobState.SUSPENDED, JobState.SUSPENDING}:
        said = last_condition(observed.get("workload"), "Evicted") or {}
        found = cause(EndCause.PREEMPTED_SUSPENDED, text(said, "message"))
        return found.failure(limits)
    return meaning.cause.failure(limits) if meaning.cause else None


def _is_alive(observed: Mapping[str, Any], identity: Mapping[str, Any], over: bool) -> bool:
    uid = str(identity.get("pod_uid") or "")
    if observed.get("gone"):
        return False
    if not uid:
        return not over
    if uid in observed.get("seen", ()):
        return not is_over(pod_of(observed, uid))
    # It has joined since the watcher last looked; or it came and went while none did.
    return not _has_finished(observed)


def _has_finished(observed: Mapping[str, Any]) -> bool:
    """Return whether the Job has ended with all its pods."""
    job = observed.get("job") or {}
    return condition(job, "Failed") is not None or condition(job, "Complete") is not None
