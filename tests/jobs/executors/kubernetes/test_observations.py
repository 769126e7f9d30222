"""The meaning of what a watcher wrote: which ranks live, and why a Job ended."""

from __future__ import annotations

from typing import Any

import pytest

from atom.jobs.executors.kubernetes.engines.observations import observation_of
from atom.jobs.failures.engines.failure_codes import RUNNER_LOST, USER_CODE
from atom.jobs.failures.engines.failures import Limits

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
    [(137, RUNNER_LOST), (143, RUNNER_LOST), (79, RUNNER_LOST), (80, RUNNER_LOST), (1, USER_CODE)],
)
def test_a_code_that_only_the_runner_gives_is_no_failure_of_the_program(
    code: int, failure_class: str
) -> None:
    seen = observation_of(observed(job("FailureTarget", "Failed"), ended(code)), JOINED, LIMITS)
    assert seen.failure is not None
    assert seen.failure.failure_class == failure_class


def test_a_container_without_memory_stays_out_of_memory() -> None:
    seen = observation_of(
        observed(job("FailureTarget", "Failed"), ended(137, "OOMKilled")), JOINED, LIMITS
    )
    assert seen.failure is not None
    assert seen.failure.failure_class == "OOM_HOST"
