"""The meaning of what a watcher wrote: which ranks live, and why a Job ended."""

from __future__ import annotations

from typing import Any

import pytest

from atom.jobs.executors.kubernetes.engines.observations import observation_of
from atom.jobs.failures.engines.failure_codes import RUNNER_LOST, USER_CODE, FailureCode
from atom.jobs.failures.engines.failures import ExitReport, Limits, classify

LIMITS = Limits(1 << 30, None, ["python", "train.py"])
JOINED = {0: {"pod": "atom-0", "pod_uid": "u1", "node": "n1"}}


def job(*conditions: str, reason: str = "BackoffLimitExceeded") -> dict[str, Any]:
    rows = [{"type": one, "status": "True", "reason": reason, "message": ""} for one in conditions]
    return {"metadata": {"uid": "j"}, "spec": {}, "status": {"conditions": rows}}


def ended(code: int, reason: str = "Error") -> dict[str, Any]:
    state = {"terminated": {"exitCode": code, "reason": reason}}
    metadata = {"name": "atom-0", "uid": "u1", "labels": {"atom.dev/placement": "p"}}
    status = {"phase": "Failed", "containerStatuses": [{"name": "main", "state": state}]}
    return {"metadata": metadata, "spec": {"nodeName": "n1"}, "status": status}


def observed(of: dict[str, Any], *pods: dict[str, Any]) -> dict[str, Any]:
    return {"job": of, "pods": list(pods), "seen": [pod["metadata"]["uid"] for pod in pods]}


def test_a_pod_that_came_and_went_unseen_is_gone_once_its_job_has_ended() -> None:
    seen = observation_of(observed(job("FailureTarget", "Failed")), JOINED, LIMITS)
    assert not seen.alive
    assert seen.is_final


@pytest.mark.parametrize("conditions", [(), ("FailureTarget",), ("SuccessCriteriaMet",)])
def test_a_pod_that_no_watcher_saw_lives_while_its_job_has_not_ended(
    conditions: tuple[str, ...],
) -> None:
    assert observation_of(observed(job(*conditions)), JOINED, LIMITS).alive


@pytest.mark.parametrize(
    ("code", "failure_class"),
    [
        (137, RUNNER_LOST),
        (143, RUNNER_LOST),
        (79, RUNNER_LOST),
        (80, RUNNER_LOST),
        (78, RUNNER_LOST),
        (1, USER_CODE),
    ],
)
def test_a_code_that_only_the_runner_gives_is_no_failure_of_the_program(
    code: int, failure_class: str
) -> None:
    seen = observation_of(observed(job("FailureTarget", "Failed"), ended(code)), JOINED, LIMITS)
    assert seen.failure is not None
    assert seen.failure.failure_class == failure_class


@pytest.mark.parametrize(
    ("code", "uid", "failure_code"),
    [
        (78, "u1", FailureCode.POD_NOT_PREPARED),
        (78, "another", FailureCode.POD_REFUSED),
        (79, "u1", FailureCode.POD_NOT_REPORTED),
        (80, "u1", FailureCode.POD_NOT_REPORTED),
    ],
)
def test_a_refusal_of_the_runner_says_whether_the_pod_was_ever_accepted(
    code: int, uid: str, failure_code: FailureCode
) -> None:
    pod = ended(code)
    pod["metadata"]["uid"] = uid
    seen = observation_of(observed(job("FailureTarget", "Failed"), pod), JOINED, LIMITS)
    assert seen.failure is not None
    assert (seen.failure.failure_class, seen.failure.code) == (RUNNER_LOST, failure_code)
    assert f"exit code {code}" in seen.failure.reason


@pytest.mark.parametrize(
    ("identity", "failure_code"),
    [({}, FailureCode.POD_REFUSED), (JOINED[0], FailureCode.POD_NOT_PREPARED)],
)
def test_without_the_pod_the_ranks_say_whether_any_was_accepted(
    identity: dict[str, Any], failure_code: FailureCode
) -> None:
    failed = job("FailureTarget", "Failed", reason="PodFailurePolicy")
    for condition in failed["status"]["conditions"]:
        condition["message"] = "Container main for pod jobs/a failed with exit code 78 matching"
    seen = observation_of(observed(failed), {0: identity}, LIMITS)
    assert seen.failure is not None
    assert seen.failure.code == failure_code


def test_a_programs_own_code_78_that_was_reported_stays_its_own() -> None:
    failure = classify(ExitReport("exited", 78), LIMITS)
    assert failure is not None
    assert (failure.failure_class, failure.params["exit_code"]) == (USER_CODE, 78)


def test_a_container_without_memory_stays_out_of_memory() -> None:
    seen = observation_of(
        observed(job("FailureTarget", "Failed"), ended(137, "OOMKilled")), JOINED, LIMITS
    )
    assert seen.failure is not None
    assert seen.failure.failure_class == "OOM_HOST"
