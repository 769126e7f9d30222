"""Faults of nodes, containers, volumes and removal, as Jobs and their pods show them."""

from __future__ import annotations

from typing import Any

import httpx
import pytest

from .kubelet.playground import Playground, conditions_of, state_of
from .kubelet.waiting import until, wait_for
from .kubernetes.cluster import ADMIN_TOKEN

Json = dict[str, Any]

_OBEYS = 'trap "exit 143" TERM; echo up; while :; do sleep 0.05; done'
_POLICY = {
    "rules": [
        {"action": "Count", "onPodConditions": [{"type": "DisruptionTarget", "status": "True"}]},
        {
            "action": "FailJob",
            "onExitCodes": {"containerName": "main", "operator": "NotIn", "values": [0]},
        },
    ]
}


def job(ground: Playground, script: str, **spec: Any) -> Json:
    """Make a Job of one rank and return its pod once that has written a word."""
    space = ground.namespace()
    pod_spec = {
        "restartPolicy": "Never",
        "automountServiceAccountToken": False,
        "terminationGracePeriodSeconds": 20,
        "containers": [{"name": "main", "image": "train:1", "command": ["sh", "-c", script]}],
    }
    whole: Json = {
        "completions": 1, "parallelism": 1, "completionMode": "Indexed", "backoffLimit": 0,
        "podFailurePolicy": _POLICY, "podReplacementPolicy": "Failed",
        "template": {"spec": pod_spec},
    }  # fmt: skip
    body = {"metadata": {"name": "j"}, "spec": whole | spec}
    ground.cluster.create("jobs.batch", body, space)
    pod = ground.kubelet.wait_for("Running", "j-", space)
    wait_for(lambda: "up" in ground.output(pod))
    return pod


def end_of_job(ground: Playground, pod: Json) -> tuple[str, str]:
    """Return type and reason of the condition with which a Job ended."""
    store, space = ground.cluster.store, pod["metadata"]["namespace"]

    def look() -> tuple[str, str] | None:
        stored = store.get("jobs.batch", space, "j") or {"status": {}}
        for item in stored["status"].get("conditions") or ():
            if item["type"] in ("Complete", "Failed"):
                return item["type"], item["reason"]
        return None

    return until(store, look, ("jobs.batch",))


def test_a_killed_container_ends_with_137(ground: Playground) -> None:
    pod = job(ground, _OBEYS)
    ground.kubelet.kill(pod)
    ended = state_of(ground.until_ended(pod))["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "Error")
    assert end_of_job(ground, pod) == ("Failed", "PodFailurePolicy")


def test_a_container_out_of_memory_says_so(ground: Playground) -> None:
    pod = job(ground, _OBEYS)
    ground.kubelet.oom(pod)
    ended = state_of(ground.until_ended(pod))["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (137, "OOMKilled")


def test_an_evicted_pod_is_marked_and_its_job_fails_without_the_policy(ground: Playground) -> None:
    pod = job(ground, _OBEYS)
    marks: list[tuple[str, str]] = []
    end = ground.cluster.store.subscribe(
        "pods.",
        lambda event: (
            marks.append(conditions_of(event.after.obj).get("DisruptionTarget", ("", "")))
            if event.after and event.place == place(pod)
            else None
        ),
    )
    ground.kubelet.evict(pod)
    ground.until_gone(pod)
    end()
    assert set(marks) == {("True", "EvictionByEvictionAPI")}
    assert end_of_job(ground, pod) == ("Failed", "BackoffLimitExceeded")


def place(pod: Json) -> tuple[str, str]:
    """Return the namespace and name of a pod."""
    return pod["metadata"]["namespace"], pod["metadata"]["name"]


@pytest.mark.parametrize("resource", ["memory", "ephemeral-storage"])
def test_a_node_under_pressure_evicts_a_pod(ground: Playground, resource: Any) -> None:
    pod = job(ground, _OBEYS)
    ground.kubelet.evict_for(resource, pod)
    pod = ground.until_ended(pod)
    assert (pod["status"]["phase"], pod["status"]["reason"]) == ("Failed", "Evicted")
    assert pod["status"]["message"].startswith(f"The node was low on resource: {resource}.")
    assert conditions_of(pod)["DisruptionTarget"] == ("True", "TerminationByKubelet")
    assert end_of_job(ground, pod) == ("Failed", "BackoffLimitExceeded")


def test_a_lost_node_says_nothing_until_it_is_back(ground: Playground) -> None:
    pod = job(ground, _OBEYS)
    node = pod["spec"]["nodeName"]
    ground.kubelet.lose_node(node)
    lost = ground.current(pod)
    assert lost is not None
    assert lost["status"]["phase"] == "Running"
    assert conditions_of(lost)["Ready"][0] == "False"
    assert conditions_of(lost)["DisruptionTarget"][1] == "DeletionByTaintManager"
    worker = ground.kubelet.worker_of(pod)
    # The container lives on, though its pod is deleted.
    assert all(process.is_alive for process in worker.processes.values())
    space, name = place(pod)
    url = f"{ground.cluster.url}/api/v1/namespaces/{space}/pods/{name}/log"
    answer = httpx.get(url, headers={"Authorization": f"Bearer {ADMIN_TOKEN}"})
    assert (answer.status_code, "connection refused" in answer.text) == (500, True)
    assert lost["metadata"]["deletionTimestamp"]
    ground.kubelet.bring_back(node)
    ground.until_gone(pod)
    assert end_of_job(ground, pod) == ("Failed", "BackoffLimitExceeded")


def test_the_processes_of_a_node_without_power_are_gone_and_told_of_later(
    ground: Playground,
) -> None:
    pod = job(ground, _OBEYS)
    worker, node = ground.kubelet.worker_of(pod), pod["spec"]["nodeName"]
    (process,) = worker.processes.values()
    ground.kubelet.lose_node(node, processes="die", evict=False)
    assert not process.is_alive
    lost = ground.current(pod)
    assert lost is not None
    assert "running" in state_of(lost)
    ground.kubelet.bring_back(node)
    ended = state_of(ground.until_ended(pod))["terminated"]
    assert (ended["exitCode"], ended["reason"]) == (255, "Unknown")


def test_a_pod_that_is_bound_while_its_node_is_lost_starts_later(ground: Playground) -> None:
    ground.kubelet.lose_node("n2", evict=False)
    pod = ground.pod("echo late", tolerations=[{"operator": "Exists"}], nodeSelector=_on("n2"))
    until(ground.cluster.store, lambda: _node_of(ground, pod), ("pods.",))
    current = ground.current(pod)
    assert current is not None
    assert "containerStatuses" not in current["status"]
    ground.kubelet.bring_back("n2")
    assert ground.output(ground.until_ended(pod)) == "late\n"


def _on(node: str) -> Json:
    return {"kubernetes.io/hostname": node}


def _node_of(ground: Playground, pod: Json) -> str:
    return str((ground.current(pod) or pod)["spec"].get("nodeName", ""))


def test_slow_volumes_keep_a_pod_from_starting(ground: Playground) -> None:
    gate = ground.kubelet.hold_volumes()
    pod = ground.pod("echo in time")
    ground.until_waiting(pod, "ContainerCreating")
    assert ground.output(pod) == ""
    gate.set()
    assert ground.output(ground.until_ended(pod)) == "in time\n"


def test_a_pod_whose_volumes_are_slow_can_be_deleted(ground: Playground) -> None:
    gate = ground.kubelet.hold_volumes()
    pod = ground.pod("echo never")
    ground.until_waiting(pod, "ContainerCreating")
    ended: list[Json] = []
    end = ground.cluster.store.subscribe("pods.", lambda e: ended.append(e.after.obj))  # type: ignore[union-attr]
    ground.cluster.deletion.delete(ground.cluster.pods.resource, *place(pod), {})
    ground.until_gone(pod)
    end()
    gate.set()
    assert ended[-1]["status"]["phase"] == "Failed"
    assert state_of(ended[-1])["terminated"]["reason"] == "ContainerStatusUnknown"
    assert ground.output(pod) == ""


def test_a_suspended_job_fails_when_its_ended_pod_stays(ground: Playground) -> None:
    gate = ground.kubelet.hold_removal()
    pod = job(ground, _OBEYS)
    ground.cluster.nodes.suspend(pod["metadata"]["namespace"], "j")
    ended = ground.until_ended(pod)
    assert state_of(ended)["terminated"]["exitCode"] == 143
    store, space = ground.cluster.store, pod["metadata"]["namespace"]

    def target() -> bool:
        stored = store.get("jobs.batch", space, "j") or {"status": {}}
        conditions = stored["status"].get("conditions") or ()
        return any(item["type"] == "FailureTarget" for item in conditions)

    until(store, target, ("jobs.batch",))
    gate.set()
    ground.until_gone(pod)
    ground.cluster.nodes.suspend(space, "j", suspended=False)
    assert end_of_job(ground, pod) == ("Failed", "PodFailurePolicy")


def test_two_pods_of_one_index_run_at_once() -> None:
    with Playground() as ground:
        pod = job(ground, _OBEYS)
        twin = ground.until(ground.kubelet.duplicate(pod), "Running")
        index = "batch.kubernetes.io/job-completion-index"
        assert twin["metadata"]["annotations"][index] == pod["metadata"]["annotations"][index]
        assert twin["status"]["podIP"] != pod["status"]["podIP"]
        assert len(ground.kubelet.workers()) == 2


def test_an_end_during_each_fault_leaves_nothing() -> None:
    with Playground() as ground:
        ground.kubelet.images.hold("slow:1")
        waiting = ground.pod("echo never", main={"image": "slow:1"}, name="image")
        pod = job(ground, _OBEYS)
        ground.kubelet.lose_node(pod["spec"]["nodeName"])
        ground.kubelet.hold_volumes()
        ground.pod("echo never", name="volume", tolerations=[{"operator": "Exists"}])
        assert ground.output(waiting) == ""
        workers = ground.kubelet.workers()
    assert not any(worker.is_alive() for worker in workers)


def test_no_fault_of_an_unknown_pod_passes_silently(ground: Playground) -> None:
    with pytest.raises(LookupError, match="no kubelet runs the pod p"):
        ground.kubelet.kill({"metadata": {"name": "p", "uid": "none"}})
