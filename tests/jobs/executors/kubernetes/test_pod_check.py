"""Whether a pod of a cluster reaches Atom: its Job, and what becomes of its report."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, User
from atom.clusters.models import Cluster
from atom.clusters.registration.actions import pod_findings
from atom.clusters.registration.actions.registering import check_now
from atom.clusters.registration.engines.findings import pod_finding
from atom.core import clock
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.pod_checks import CheckOrder, judge_report
from atom.jobs.executors.kubernetes.pod_check import try_pod
from tests.factories.accounts import make_member, make_project, make_user
from tests.fakes.kubernetes.cluster import Cluster as StandIn
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import serve, wait_for

Json = dict[str, Any]
ORDER = CheckOrder("n", "ns", "image", "source", {"api": "https://a/x", "store": "https://s/y?sig"})
ATOM = {"status": 200, "start": '{"level":"ok","faults":[]}'}
STORE = {"status": 404, "start": ""}


class Kubelet:
    """Plays the part of the kubelet each time that the worker pauses."""

    def __init__(self, world: World, act: Callable[[World, Json], None]) -> None:
        self.world, self.act = world, act
        self.findings: list[Json] = []

    def __call__(self, _: float) -> None:
        wait_for(lambda: pods(self.world))
        self.findings.append(finding(self.world))
        self.act(self.world, pods(self.world)[0])


def pods(world: World) -> list[Json]:
    found: list[Json] = world.stand_in.store.objects("pods.", world.cluster.namespace)
    return found


def jobs(world: World) -> list[Json]:
    found: list[Json] = world.stand_in.store.objects("jobs.batch")
    return found


def finding(world: World) -> Json:
    found = pod_finding(Cluster.objects.get(pk=world.cluster.pk).findings)
    assert found is not None
    return found


def say(world: World, pod: Json, phase: str, state: Json, **more: Any) -> None:
    machinery, metadata = world.stand_in.machinery, pod["metadata"]
    status = {**pod["status"], "phase": phase, **more}
    status["containerStatuses"] = [{"name": names.MAIN, "state": state}]
    machinery.update_status(
        machinery.kind("pods."), metadata["namespace"], metadata["name"], status
    )


def ended(report: object, code: int = 0) -> Callable[[World, Json], None]:
    text = report if isinstance(report, str) else json.dumps(report)

    def act(world: World, pod: Json) -> None:
        terminated = {"exitCode": code, "message": text}
        say(world, pod, "Failed" if code else "Succeeded", {"terminated": terminated})

    return act


def tried(world: World, act: Callable[[World, Json], None]) -> tuple[Json, Kubelet]:
    boss = make_user(is_superuser=True)
    kubelet = Kubelet(world, act)
    try_pod(world.cluster.pk, pod_findings.begin(world.cluster, boss), kubelet)
    assert not finding(world)["evidence"]["under_way"]
    wait_for(lambda: not jobs(world) and not pods(world))
    return finding(world), kubelet


@pytest.mark.django_db(transaction=True)
def test_a_pod_that_reaches_atom_and_its_store_says_so(
    transactional_db: None, settings: Any, tmp_path: Path
) -> None:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]

    def played(world: World, pod: Json) -> None:
        (main,) = pod["spec"]["containers"]
        message = tmp_path / "message"
        environment = {one["name"]: one["value"] for one in main["env"]}
        subprocess.run(
            [sys.executable, *main["command"][1:]],
            env={"PATH": os.environ["PATH"], "ATOM_MESSAGE_FILE": str(message), **environment},
            check=True,
            capture_output=True,
        )
        ended(message.read_text())(world, pod)

    with serve() as origin, StandIn(tls=True) as stand_in:
        settings.ATOM_POD_API_URL = origin
        stand_in.nodes.add("n1")
        found, kubelet = tried(World(stand_in), played)
        assert (found["level"], found["detail_code"]) == ("ok", "clusters.pod_reaches")
        assert found["detail_params"]["url"] == f"{origin}/api/v1/state/"
        assert kubelet.findings[0]["detail_code"] == "clusters.pod_under_way"


@pytest.mark.django_db
def test_a_pod_has_the_profile_of_a_run_and_a_policy_for_itself_alone(world: World) -> None:
    seen: list[Json] = []

    def look(world: World, pod: Json) -> None:
        seen.append(pod)
        ended({"api": ATOM, "store": STORE})(world, pod)

    tried(world, look)
    (pod,) = seen
    spec = pod["spec"]
    (main,) = spec["containers"]
    assert spec["serviceAccountName"] == names.ACCOUNT
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert main["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert main["securityContext"]["readOnlyRootFilesystem"] is True
    # The watcher of runs does not take it for one of theirs.
    assert names.INSTALLATION not in pod["metadata"]["labels"]
    (policy,) = world.stand_in.store.objects("networkpolicies.networking.k8s.io")
    (selected,) = policy["spec"]["podSelector"]["matchExpressions"]
    assert selected["key"] in pod["metadata"]["labels"]
    again, _ = tried(world, ended({"api": ATOM, "store": STORE}))
    assert again["level"] == "ok"


@pytest.mark.parametrize(
    ("report", "code", "level", "expected", "params"),
    [
        ({"api": ATOM, "store": STORE}, 0, "ok", "clusters.pod_reaches", {"host": "s"}),
        (
            {"api": {"error": "timed out"}, "store": STORE},
            *(0, "fail", "clusters.pod_api_unreached", {"url": "https://a/x", "said": "timed out"}),
        ),
        (
            {"api": {"status": 200, "start": "<html>Log in"}, "store": STORE},
            *(0, "fail", "clusters.pod_api_unreached", {}),
        ),
        (
            {"api": {"status": 502, "start": ""}, "store": STORE},
            *(0, "fail", "clusters.pod_api_unreached", {"said": "HTTP 502"}),
        ),
        (
            {"api": ATOM, "store": {"error": "Name or service not known"}},
            *(0, "fail", "clusters.pod_store_unreached", {"host": "s"}),
        ),
        (
            {"api": ATOM, "store": {"status": 503}},
            *(0, "fail", "clusters.pod_store_unreached", {"said": "HTTP 503"}),
        ),
        ("python3: not found", 127, "fail", "clusters.pod_no_report", {"code": "127"}),
        ("", None, "fail", "clusters.pod_no_report", {"code": "None", "said": "-"}),
        ("[1]", 0, "fail", "clusters.pod_no_report", {}),
        ('{"api": 1, "store": {}}', 0, "fail", "clusters.pod_no_report", {}),
        ('{"api": {"status": true}, "store": {}}', 0, "fail", "clusters.pod_api_unreached", {}),
    ],
)
def test_a_report_means(report: Any, code: Any, level: str, expected: str, params: Json) -> None:
    text = report if isinstance(report, str) else json.dumps(report)
    found, said = judge_report(text, ORDER, code)
    parts = said.as_code()
    assert (found, parts["code"]) == (level, expected)
    assert params.items() <= parts["params"].items()
    # A signature is no text for a page.
    assert "sig" not in str(said)


@pytest.mark.django_db
def test_a_failed_try_keeps_the_cluster_from_runs_until_one_passes(world: World) -> None:
    found, _ = tried(world, ended({"api": {"error": "timed out"}, "store": STORE}))
    assert "ATOM_POD_API_URL" in found["detail"]
    checked = check_now(Cluster.objects.get(pk=world.cluster.pk))
    assert (checked.state, pod_finding(checked.findings)) == ("registering", found)
    tried(world, ended({"api": ATOM, "store": STORE}))
    checked = check_now(Cluster.objects.get(pk=world.cluster.pk))
    others = [one["code"] for one in checked.findings if one["level"] == "fail"]
    assert checked.state == ("registering" if others else "ready")


@pytest.mark.django_db
def test_a_pod_that_never_starts_says_why_in_the_words_of_runs(world: World) -> None:
    message = "0/1 nodes are available: 1 Insufficient cpu."

    def unschedulable(world: World, pod: Json) -> None:
        condition = {
            "type": "PodScheduled",
            "status": "False",
            "reason": "Unschedulable",
            "message": message,
        }
        machinery, metadata = world.stand_in.machinery, pod["metadata"]
        status = {**pod["status"], "phase": "Pending", "conditions": [condition]}
        place = (metadata["namespace"], metadata["name"])
        machinery.update_status(machinery.kind("pods."), *place, status)

    found, kubelet = tried(world, unschedulable)
    assert (found["level"], found["detail_code"]) == ("warn", "clusters.pod_not_started")
    assert "cpu" in found["detail"]
    under_way = {one["detail"] for one in kubelet.findings}
    assert any("cpu" in text for text in under_way)


@pytest.mark.django_db
def test_an_image_that_cannot_be_pulled_is_named(world: World, settings: Any) -> None:
    settings.ATOM_POD_IMAGE = "registry.example/none:1"

    def pulling(world: World, pod: Json) -> None:
        waiting = {"reason": "ImagePullBackOff", "message": "Back-off pulling image"}
        condition = {"type": "PodScheduled", "status": "True"}
        say(world, pod, "Pending", {"waiting": waiting}, conditions=[condition])

    found, _ = tried(world, pulling)
    assert found["level"] == "warn"
    assert "registry.example/none:1" in found["detail"]


@pytest.mark.django_db
def test_a_cluster_that_does_not_answer_or_refuses_is_a_finding(world: World) -> None:
    asked = pod_findings.begin(world.cluster, make_user(is_superuser=True))
    world.stand_in.stop()
    try_pod(world.cluster.pk, asked)
    found = finding(world)
    assert (found["level"], found["detail_code"]) == ("fail", "clusters.pod_refused")


@pytest.fixture
def enqueued(monkeypatch: pytest.MonkeyPatch) -> list[Any]:
    """Messages to workers, which are not ours."""
    sent: list[Any] = []

    def send(task: Any, args: Any = (), **_: Any) -> None:
        sent.append((task.name, args))

    monkeypatch.setattr("celery.app.task.Task.apply_async", send)
    return sent


@pytest.mark.django_db
def test_asking_twice_tries_one_pod_and_a_forgotten_try_can_be_asked_for_anew(
    world: World, enqueued: list[Any], committing_db: None
) -> None:
    client = APIClient()
    client.force_authenticate(make_user(is_superuser=True))
    address = f"/api/v1/clusters/{world.cluster.name}/pod-check/"
    answers = [client.post(address) for _ in range(2)]
    assert [one.status_code for one in answers] == [202, 202]
    mine = [args for name, args in enqueued if name == "jobs.try_pod"]
    assert mine == [(str(world.cluster.pk), finding(world)["evidence"]["asked_at"])]
    assert AuditEvent.objects.filter(verb="cluster.pod_tried").count() == 1
    row = Cluster.objects.get(pk=world.cluster.pk)
    long_ago = (clock.now() - timedelta(minutes=6)).isoformat()
    for one in row.findings:
        if one["code"] == "pod_reaches_atom":
            one["evidence"]["asked_at"] = long_ago
    row.save()
    assert client.post(address).status_code == 202
    assert finding(world)["evidence"]["asked_at"] != long_ago
    # The worker of the first one writes nothing any more, and starts nothing.
    assert not pod_findings.is_pending(row.pk, long_ago)
    try_pod(row.pk, long_ago)
    assert not jobs(world)


@pytest.mark.django_db
def test_only_administrators_of_the_installation_try_pods(world: World) -> None:
    client = APIClient()
    member: User = make_member(make_project("vision"), "admin")
    client.force_authenticate(member)
    answer = client.post(f"/api/v1/clusters/{world.cluster.name}/pod-check/")
    assert answer.status_code == 404
    boss = APIClient()
    boss.force_authenticate(make_user(is_superuser=True))
    assert boss.post("/api/v1/clusters/none/pod-check/").json()["code"] == "cluster_not_found"
