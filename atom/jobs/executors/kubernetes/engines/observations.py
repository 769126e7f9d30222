"""The meaning of what a watcher wrote about a placement."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from atom.jobs.executors.base import Observation, RankObservation
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.job_ends import read_job
from atom.jobs.failures.engines.failures import Failure, Limits

# A Job with one of these ends: FailureTarget and SuccessCriteriaMet come before its pods are gone.
_ENDS = frozenset({"FailureTarget", "Failed", "SuccessCriteriaMet", "Complete"})
_POD_ENDS = frozenset({"Succeeded", "Failed"})


def slim_job(job: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parts of a Job that are kept."""
    metadata, status = job.get("metadata") or {}, job.get("status") or {}
    return {
        "metadata": _metadata_of(metadata),
        "spec": {"suspend": bool((job.get("spec") or {}).get("suspend"))},
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
        "spec": {"nodeName": spec.get("nodeName") or ""},
        "status": {key: status[key] for key in _KEPT_POD_STATUS if key in status},
    }


def _metadata_of(metadata: Mapping[str, Any]) -> dict[str, Any]:
    labels = metadata.get("labels") or {}
    kept = {key: metadata[key] for key in _KEPT_METADATA if metadata.get(key)}
    return {**kept, "labels": {names.PLACEMENT: str(labels.get(names.PLACEMENT) or "")}}


def placement_of(slim: Mapping[str, Any]) -> str:
    """Return the id of the placement that a slim object belongs to, "" if it has none."""
    return str(slim["metadata"]["labels"][names.PLACEMENT])


_KEPT_METADATA = ("name", "uid", "creationTimestamp", "deletionTimestamp")
_KEPT_JOB_STATUS = ("conditions", "active", "ready", "terminating", "succeeded", "failed")
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


def pod_of(observed: Mapping[str, Any], uid: str) -> Mapping[str, Any] | None:
    """Return a pod of the placement, None if the cluster has it no more."""
    pods = observed.get("pods") or ()
    return next((pod for pod in pods if pod["metadata"].get("uid") == uid), None)


def is_over(pod: Mapping[str, Any] | None) -> bool:
    """Return whether nothing of a pod runs any more."""
    return pod is None or (pod.get("status") or {}).get("phase") in _POD_ENDS


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
    failure = _failure_of(observed, limits) if over else None
    return Observation(ranks, is_final=is_final, failure=failure)


def _failure_of(observed: Mapping[str, Any], limits: Limits) -> Failure | None:
    """Return why the Job ended, as far as its objects say it; None if they say that it is well."""
    job = observed.get("job") or None
    meaning = read_job(job, observed.get("pods") or ())
    if meaning.cause is None and observed.get("gone"):
        meaning = read_job(None)
    return None if meaning.cause is None else meaning.cause.failure(limits)


def _is_alive(observed: Mapping[str, Any], identity: Mapping[str, Any], over: bool) -> bool:
    uid = str(identity.get("pod_uid") or "")
    if observed.get("gone"):
        return False
    if not uid:
        return not over
    # A pod that the watcher has not seen has joined since it last looked.
    return uid not in observed.get("seen", ()) or not is_over(pod_of(observed, uid))
