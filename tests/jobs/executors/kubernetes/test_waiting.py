"""Waits as real controllers, schedulers and kubelets wrote them: one reason with its evidence."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.jobs.executors.kubernetes.engines.unschedulable import NodeReason, parse_verdict
from atom.jobs.executors.kubernetes.engines.wait_codes import WaitCode
from atom.jobs.executors.kubernetes.engines.wait_sentences import SENTENCES
from atom.jobs.executors.kubernetes.engines.waiting import why_waiting
from tests.fakes.contract.transcripts import FOLDER
from tests.jobs.executors.kubernetes.recorded import OBJECTS, replay

RECORDED: dict[str, dict[str, Any]] = json.loads(OBJECTS.read_text("utf-8"))
NEVER_FITS = json.loads(OBJECTS.with_name("never_fits.json").read_text("utf-8"))

# file/story/Job/seconds: the reason at that moment.
WAITS = {
    "jobs/job-success/at-1@0.12": "pods_to_be_created",
    "jobs/job-success/at-1@0.13": "to_be_scheduled",
    "jobs/job-success/at-1@0.18": "starting",
    "jobs/job-preempted-by-scheduler/high@3.17": "victims_run",
    "jobs/job-suspend-resume-suspend/at-1@2.76": "suspended",
    "jobs/job-resource-quota/at-1@2.1": "quota_exceeded",
    "jobs/job-pod-scheduling-gate/at-1@0.06": "scheduling_gated",
    "jobs/pod-waiting-statuses-by-hand/at-1@0.24": "container_not_started",
    "kubelet/kubelet-success-and-failures/init@25.45": "init_container",
    "kubelet/kubelet-waiting/pull@1000": "image_pull",
    "kubelet/kubelet-waiting/inv@1000": "image_name",
    "kubelet/kubelet-waiting/nev@1000": "image_pull",
    "kubelet/kubelet-waiting/sec@1000": "config_missing",
    "kubelet/kubelet-waiting/vol@1000": "volume",
    "kubelet/kubelet-waiting/csi@1000": "volume",
    "kubelet/kubelet-waiting/root@1000": "config_missing",
    "kueue/kueue-job-without-queue/lost@0.31": "kueue_misconfigured",
    "kueue/kueue-job-without-queue/np@1000": "kueue_misconfigured",
    "kueue/kueue-waiting-for-quota/second@1.46": "kueue_quota",
    "kueue/kueue-borrow-and-reclaim/a2@8.16": "kueue_preempted",
    "kueue/kueue-borrow-and-reclaim/b1@6.78": "kueue_preempting",
    "kueue/kueue-admission-gated-by/g1@1.65": "kueue_gated",
    "kueue/kueue-admission-gated-by/g1@3.88": "kueue_pending",
    "kueue/kueue-deactivated-and-deadline/d1@3.66": "kueue_deactivated",
    "kueue/kueue-preemptor-before-victim-is-gone/high@8.54": "victims_run",
    "kueue/kueue-stop-policy/r2@1000": "kueue_inactive",
    "kueue/kueue-topology/req@4.41": "kueue_topology",
}


@pytest.mark.parametrize("moment", WAITS)
def test_a_recorded_wait_has_its_reason(moment: str) -> None:
    found = why_waiting(**RECORDED[moment])
    assert (found and found.code) == WAITS[moment]
    if found is not None:
        assert found.suggestion
        assert "{" not in found.sentence


@pytest.mark.parametrize(
    ("name", "code"),
    [
        ("job-exceeds-f1ef6", WaitCode.KUEUE_NEVER_FITS),
        ("job-gang-18d2d", WaitCode.KUEUE_NEVER_FITS),
        ("job-aff-1e07f", WaitCode.KUEUE_NO_FLAVOR),
        # Kueue writes no reason for a resource that its queue does not cover.
        ("job-undeclared-5321b", WaitCode.KUEUE_PENDING),
    ],
)
def test_a_workload_that_never_fits_says_why(name: str, code: WaitCode) -> None:
    job = {"spec": {"suspend": True}}
    found = why_waiting(job, workload=NEVER_FITS[name])
    assert found is not None
    assert found.code is code


@pytest.mark.skipif(not FOLDER.is_dir(), reason="../shared has no recordings here")
@pytest.mark.parametrize("moment", WAITS)
def test_the_copied_objects_are_those_of_the_recording(moment: str) -> None:
    place, _, until = moment.partition("@")
    file, story, name = place.split("/")
    assert replay(file, story, name, float(until)) == RECORDED[moment]


def test_the_image_is_named_with_the_words_of_its_registry() -> None:
    found = why_waiting(**RECORDED["kubelet/kubelet-waiting/pull@1000"])
    assert found is not None
    assert found.params["image"] == "<registry>/x:1"
    assert "connection refused" in found.evidence


def test_counts_of_the_scheduler_are_read() -> None:
    message = (
        "0/5 nodes are available: 3 Insufficient nvidia.com/gpu, 2 node(s) had untolerated taint "
        "{a: b, c: d}. preemption: 0/5 nodes are available: 5 Preemption is not helpful."
    )
    verdict = parse_verdict(message)
    assert verdict is not None
    assert (verdict.available, verdict.total) == (0, 5)
    assert verdict.reasons == (
        NodeReason(3, "Insufficient nvidia.com/gpu", "nvidia.com/gpu"),
        NodeReason(2, "node(s) had untolerated taint {a: b, c: d}"),
    )


def test_a_webhook_that_refuses_is_named() -> None:
    said = 'Error creating: admission webhook "policy.example" denied the request: no'
    event = {"involvedObject": {"name": "at"}, "reason": "FailedCreate", "message": said}
    found = why_waiting({"metadata": {"name": "at"}}, [], [event])
    assert found is not None
    assert (found.code, found.params["webhook"]) == (WaitCode.WEBHOOK, "policy.example")


def test_each_code_has_a_sentence() -> None:
    assert set(SENTENCES) == set(WaitCode)


KEYS = st.sampled_from(
    ["metadata", "spec", "status", "conditions", "type", "reason", "message", "state", "name",
     "containerStatuses", "waiting", "involvedObject", "labels", "suspend", "phase", "nodeName"]
)  # fmt: skip
LEAVES = st.none() | st.booleans() | st.integers() | st.text(max_size=20) | st.sampled_from(
    ["PodScheduled", "QuotaReserved", "False", "FailedMount", "ErrImagePull", "{x}", "x" * 100_000]
)  # fmt: skip
HOSTILE = st.recursive(
    LEAVES, lambda inner: st.lists(inner, max_size=4) | st.dictionaries(KEYS, inner, max_size=6)
)


@settings(deadline=None, max_examples=150)
@given(HOSTILE, HOSTILE, HOSTILE, HOSTILE)
def test_malformed_objects_never_raise(job: Any, pods: Any, events: Any, workload: Any) -> None:
    found = why_waiting(job, pods, events, workload)
    assert found is None or found.code in WaitCode


@given(st.text(max_size=300) | st.from_regex(r"0/\d+ nodes are available: .{0,80}"))
def test_any_text_of_a_scheduler_is_read_or_refused(message: str) -> None:
    verdict = parse_verdict(message)
    assert verdict is None or verdict.total >= 0
