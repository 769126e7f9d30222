"""Whether a pod of a cluster reaches Atom: its Job, and what becomes of its report."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, User
from atom.clusters.models import Cluster
from atom.clusters.registration.actions import pod_findings
from atom.clusters.registration.actions.registering import check_now
from atom.clusters.registration.engines.findings import pod_finding
from atom.core import clock
from atom.core.storage import objects
from atom.jobs.executors.kubernetes.engines import names
from atom.jobs.executors.kubernetes.engines.pod_checks import CheckOrder, judge_report
from atom.jobs.executors.kubernetes.pod_check import try_pod
from tests.factories.accounts import make_member, make_project, make_user
from tests.jobs.executors.kubernetes.world import World
from tests.jobs.live import wait_for

Json = dict[str, Any]
ORDER = CheckOrder("n", "ns", "image", "source", {"api": "https://a/x", "store": "https://s/y?sig"})
ATOM = {"status": 200, "start": '{"level":"ok","faults":[]}'}
STORE = {"status": 404, "start": ""}


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


@dataclass
class Watched:
    """Findings and pods, as they were each time that the worker paused."""

    world: World
    findings: list[Json] = field(default_factory=list)
    pods: list[Json] = field(default_factory=list)

    def __call__(self, _: float) -> None:
        time.sleep(0.02)
        self.findings.append(finding(self.world))
        self.pods += pods(self.world)

    @property
    def details(self) -> list[str]:
        """Return the codes of the findings, each once."""
        return list(dict.fromkeys(one["detail_code"] for one in self.findings))


def tried(world: World) -> tuple[Json, Watched]:
    """Try a pod; return the last finding, and what was seen until then."""
    watched = Watched(world)
    boss = make_user(is_superuser=True)
    try_pod(world.cluster.pk, pod_findings.begin(world.cluster, boss), watched)
    assert not finding(world)["evidence"]["under_way"]
    wait_for(lambda: not jobs(world) and not pods(world))
    return finding(world), watched


@pytest.mark.django_db(transaction=True)
def test_a_pod_that_reaches_atom_and_its_store_says_so(running_world: World, origin: str) -> None:
    found, watched = tried(running_world)
    assert (found["level"], found["detail_code"]) == ("ok", "clusters.pod_reaches")
    assert found["detail_params"]["url"] == f"{origin}/api/v1/state/"
    assert watched.details == ["clusters.pod_under_way"]


@pytest.mark.django_db(transaction=True)
def test_a_pod_has_the_profile_of_a_run_and_a_policy_for_itself_alone(running_world: World) -> None:
    _, watched = tried(running_world)
    pod = watched.pods[0]
    spec = pod["spec"]
    (main,) = spec["containers"]
    assert spec["serviceAccountName"] == names.ACCOUNT
    assert spec["automountServiceAccountToken"] is False
    assert spec["securityContext"]["runAsNonRoot"] is True
    assert main["securityContext"]["capabilities"] == {"drop": ["ALL"]}
    assert main["securityContext"]["readOnlyRootFilesystem"] is True
    # The watcher of runs does not take it for one of theirs.
    assert names.INSTALLATION not in pod["metadata"]["labels"]
    (policy,) = running_world.stand_in.store.objects("networkpolicies.networking.k8s.io")
    (selected,) = policy["spec"]["podSelector"]["matchExpressions"]
    assert selected["key"] in pod["metadata"]["labels"]
    again, _ = tried(running_world)
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


@pytest.mark.django_db(transaction=True)
def test_a_failed_try_keeps_the_cluster_from_runs_until_one_passes(
    running_world: World, settings: Any, origin: str
) -> None:
    # Pods find no server at this port.
    settings.ATOM_POD_API_URL = "http://127.0.0.1:9"
    found, _ = tried(running_world)
    assert "ATOM_POD_API_URL" in found["detail"]
    checked = check_now(Cluster.objects.get(pk=running_world.cluster.pk))
    assert (checked.state, pod_finding(checked.findings)) == ("registering", found)
    settings.ATOM_POD_API_URL = origin
    tried(running_world)
    checked = check_now(Cluster.objects.get(pk=running_world.cluster.pk))
    others = [one["code"] for one in checked.findings if one["level"] == "fail"]
    assert checked.state == ("registering" if others else "ready")


@pytest.fixture
def store_out_of_reach(settings: Any) -> Iterator[None]:
    """Give pods an address at which there is no store."""
    settings.S3_PUBLIC_ENDPOINT_URL = "http://127.0.0.1:9"
    objects.cache_clear()
    yield
    objects.cache_clear()


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("store_out_of_reach")
def test_a_pod_that_finds_no_store_names_its_host(running_world: World) -> None:
    found, _ = tried(running_world)
    assert (found["level"], found["detail_code"]) == ("fail", "clusters.pod_store_unreached")
    assert found["detail_params"]["host"] == "127.0.0.1:9"


@pytest.mark.django_db(transaction=True)
def test_a_pod_that_never_starts_says_why_in_the_words_of_runs(running_world: World) -> None:
    stand_in = running_world.stand_in
    stand_in.store.remove("nodes.", ("", "n1"))
    stand_in.nodes.add("small", {"cpu": "50m"})
    found, watched = tried(running_world)
    assert (found["level"], found["detail_code"]) == ("warn", "clusters.pod_not_started")
    assert "cpu" in found["detail"]
    assert any("cpu" in one["detail"] for one in watched.findings)


@pytest.mark.django_db(transaction=True)
def test_an_image_that_cannot_be_pulled_is_named(running_world: World, settings: Any) -> None:
    settings.ATOM_POD_IMAGE = image = "registry.example/none:1"
    running_world.stand_in.kubelet.images.forbid(image)
    found, _ = tried(running_world)
    assert found["level"] == "warn"
    assert image in found["detail"]


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
