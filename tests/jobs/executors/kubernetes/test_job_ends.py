"""Ends of Jobs as real controllers wrote them: state, cause and the failure that people read."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.jobs.executors.kubernetes.engines.end_causes import Cause, EndCause
from atom.jobs.executors.kubernetes.engines.job_ends import JobState, read_job
from atom.jobs.failures.engines.cluster_failures import CLUSTER_FAILURES, cluster_failure
from atom.jobs.failures.engines.failure_codes import FAILURE_CLASSES, RETRIED, UNCOUNTED
from atom.jobs.failures.engines.failures import Limits
from tests.fakes.contract.transcripts import FOLDER
from tests.jobs.executors.kubernetes.recorded import OBJECTS, replay

Json = dict[str, Any]
RECORDED: dict[str, Json] = json.loads(OBJECTS.read_text("utf-8"))
LIMITS = Limits(1 << 30, 60)

# file/story/Job: state, cause and class.
ENDS = {
    "jobs/job-success/at-1": ("succeeded", None, None),
    "jobs/job-user-exit-1/at-1": ("failed", "user_code", "USER_CODE"),
    "jobs/job-evicted-143/at-1": ("failed", "evicted", "EVICTED"),
    "jobs/job-user-exit-143/at-1": ("failed", "user_code", "USER_CODE"),
    "jobs/job-evicted-exit-0/at-1": ("failed", "evicted", "EVICTED"),
    "jobs/job-evicted-before-start/at-1": ("failed", "evicted", "EVICTED"),
    "jobs/job-node-taint-noexecute/at-1": ("failed", "node_lost", "NODE_LOST"),
    "jobs/job-preempted-by-scheduler/low": ("failed", "preempted", "PREEMPTED"),
    "jobs/job-suspend-resume-suspend/at-1": ("succeeded", None, None),
    "jobs/job-node-deleted-podgc/at-1": ("failed", "node_lost", "NODE_LOST"),
    "jobs/job-node-unreachable-then-back/at-1": ("failed", "node_lost", "NODE_LOST"),
    "jobs/job-two-pods-one-index/at-1": ("succeeded", None, None),
    "jobs/job-force-deleted-pod/count": ("failed", "pod_deleted", "NODE_LOST"),
    "jobs/job-force-deleted-pod/ignore": ("succeeded", None, None),
    "jobs/job-active-deadline/at-1": ("failed", "deadline", "DEADLINE"),
    "jobs/job-ttl/at-1": ("succeeded", None, None),
    "jobs/job-oom-killed/at-1": ("failed", "oom_host", "OOM_HOST"),
    "jobs/job-kubelet-evicts/at-1": ("failed", "evicted_pressure", "EVICTED"),
    "jobs/job-retries-backoff-limit/at-1": ("failed", "user_code", "USER_CODE"),
    "jobs/job-backoff-limit-per-index/at-1": ("failed", "user_code", "USER_CODE"),
    "jobs/job-success-policy-rank-0/at-1": ("succeeded", None, None),
    "jobs/pod-waiting-statuses-by-hand/at-1": ("failed", "not_started", "COMMAND_NOT_FOUND"),
    "kubelet/kubelet-success-and-failures/ok": ("succeeded", None, None),
    "kubelet/kubelet-success-and-failures/bad": ("failed", "user_code", "USER_CODE"),
    "kubelet/kubelet-success-and-failures/ev143": ("failed", "evicted", "EVICTED"),
    "kubelet/kubelet-success-and-failures/ev0": ("failed", "evicted", "EVICTED"),
    "kubelet/kubelet-success-and-failures/ev137": ("failed", "evicted", "EVICTED"),
    "kubelet/kubelet-success-and-failures/oom": ("failed", "oom_host", "OOM_HOST"),
    "kubelet/kubelet-success-and-failures/init": ("succeeded", None, None),
    "kubelet/kubelet-success-and-failures/initbad": ("failed", "init_failed", "PREPARATION"),
    "kubelet/kubelet-waiting/cmd": ("failed", "not_started", "COMMAND_NOT_FOUND"),
    "kubelet/kubelet-suspend-races-policy-slow-volume/s143-0": (
        "failed", "preempted_suspended", "PREEMPTED",
    ),
    "kubelet/kubelet-frozen-then-back/two": ("disrupted", "node_lost", "NODE_LOST"),
    "kubelet/kubelet-frozen-then-back/ours": ("failed", "node_lost", "NODE_LOST"),
    "kueue/kueue-preempted-rank-ends-by-itself/low": (
        "failed", "preempted_suspended", "PREEMPTED",
    ),
    "kueue/kueue-deactivated-and-deadline/d3": ("failed", "user_code", "USER_CODE"),
}  # fmt: skip


@pytest.mark.parametrize("story", ENDS)
def test_a_recorded_end_has_its_cause_and_class(story: str) -> None:
    state, code, failure_class = ENDS[story]
    meaning = read_job(**RECORDED[story])
    assert (meaning.state, meaning.cause and meaning.cause.code) == (state, code)
    if meaning.cause is not None:
        failure = meaning.cause.failure(LIMITS)
        assert failure.failure_class == failure_class
        assert "{" not in failure.reason


@pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared has no recordings here")
@pytest.mark.parametrize("story", ENDS)
def test_the_copied_objects_are_those_of_the_recording(story: str) -> None:
    file, name, job = story.split("/")
    assert replay(file, name, job, 1e9) == RECORDED[story]


def test_the_exit_code_of_the_command_is_told() -> None:
    story = RECORDED["kubelet/kubelet-success-and-failures/bad"]
    assert read_job(**story).params["exit_code"] == 3


def test_a_job_that_is_gone_vanished() -> None:
    meaning = read_job(None)
    assert (meaning.state, meaning.final) == (JobState.VANISHED, True)
    assert meaning.cause is not None
    assert meaning.cause.code is EndCause.JOB_VANISHED


def test_an_image_that_never_came_explains_a_deadline() -> None:
    job = RECORDED["jobs/job-active-deadline/at-1"]["job"]
    pod = {
        "metadata": {"name": "at-1-0-x", "deletionTimestamp": "2026-11-25T15:36:11Z"},
        "spec": {"nodeName": "n1", "containers": [{"name": "main", "image": "train:1"}]},
        "status": {
            "phase": "Failed",
            "containerStatuses": [
                {"name": "main", "state": {"waiting": {"reason": "ErrImagePull", "message": "no"}}}
            ],
        },
    }
    meaning = read_job(job, [pod])
    assert meaning.cause is not None
    assert meaning.cause.code is EndCause.IMAGE_PULL


def test_137_of_an_unseen_pod_is_neither_memory_nor_user_code() -> None:
    message = "Container main for pod ns/at-0-x failed with exit code 137 matching FailJob rule"
    row = {"type": "Failed", "status": "True", "reason": "PodFailurePolicy", "message": message}
    meaning = read_job({"status": {"conditions": [row]}})
    assert meaning.cause is not None
    assert meaning.cause.code is EndCause.SIGNAL_UNEXPLAINED


@pytest.mark.parametrize("code", EndCause)
def test_each_cause_has_a_failure_of_a_known_class(code: EndCause) -> None:
    failure = Cause(code, {"exit_code": 3, "said": "x", "pod": "p", "node": "n"}).failure(LIMITS)
    assert failure.failure_class in FAILURE_CLASSES


def test_texts_are_cut_and_uncounted_classes_are_retried() -> None:
    for code in CLUSTER_FAILURES:
        assert len(cluster_failure(code, {"said": "x" * 10**6}).reason) < 1000
    assert UNCOUNTED < RETRIED


KEYS = st.sampled_from(
    ["metadata", "spec", "status", "conditions", "type", "reason", "message", "state", "name",
     "containerStatuses", "terminated", "exitCode", "finishedAt", "deletionTimestamp", "suspend"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(
    ["Failed", "Complete", "True", "DeadlineExceeded", "9999-12-31T23:59:59Z", "x" * 100_000]
)  # fmt: skip
HOSTILE = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6)
)


@settings(deadline=None, max_examples=150)
@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_malformed_objects_never_raise(job: Any, pods: Any, events: Any, workload: Any) -> None:
    meaning = read_job(job, pods, events, workload)
    assert meaning.state in JobState
    if meaning.cause is not None:
        assert meaning.cause.failure(LIMITS).reason
