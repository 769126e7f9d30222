"""Queues of Kueue in a cluster: what is kept, what the check says of them, and refused runs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project
from atom.clusters.models import Cluster, ClusterProfile, RunQueue
from atom.clusters.queues.actions.queues import queue_of, queue_offer
from atom.clusters.queues.engines.choices import QueueChoice
from atom.clusters.registration.engines.cluster_queues import (
    read_cluster_queues,
    version_in,
)
from tests.clusters.answers import Answers, finding, node, registered
from tests.clusters.api_server import ApiServer, Reply, Seen
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
ADDRESS = "/api/v1/clusters/west/queues/"
GPU = "nvidia.com/gpu"
QUEUES = "/apis/kueue.x-k8s.io/v1beta2/clusterqueues"
# Recorded: `kueue-admission-gated-by`, "a gate name that is no qualified name".
REFUSED_GATE = (
    'admission webhook "vjob.kb.io" denied the request: '
    "metadata.annotations[kueue.x-k8s.io/admission-gated-by]: Invalid value: "
    '"Not Valid!": must be a domain-prefixed path (such as "acme.io/foo")'
)


def cluster_queue(name: str, *covered: str, active: bool = True, said: str = "") -> Json:
    condition = {"type": "Active", "status": "True" if active else "False", "message": said}
    groups = [{"coveredResources": list(covered), "flavors": []}]
    return {
        "metadata": {"name": name},
        "spec": {"resourceGroups": groups},
        "status": {"conditions": [condition]},
    }


def refused_gate() -> Reply:
    return Reply(403, {"kind": "Status", "message": REFUSED_GATE})


@dataclass
class KueueAnswers(Answers):
    """A cluster with Kueue; `gate` is the answer to a dry run of a Job with a wrong gate."""

    queues: list[Any] = field(default_factory=list)
    gate: Reply = field(default_factory=refused_gate)
    dry_runs: list[Seen] = field(default_factory=list)

    def __call__(self, asked: Seen) -> Reply:
        path = asked.path.partition("?")[0]
        if path == QUEUES and path not in self.refused:
            return Reply(body={"items": self.queues, "metadata": {}})
        if path.endswith("/jobs") and asked.method == "POST":
            self.dry_runs.append(asked)
            return self.gate
        return super().__call__(asked)


@pytest.fixture
def answers() -> KueueAnswers:
    queues = [
        cluster_queue("team-a", "cpu", "memory", GPU),
        cluster_queue("cpus", "cpu", "memory"),
        cluster_queue("held", "cpu", "memory", GPU, active=False, said="is stopped"),
    ]
    return KueueAnswers(nodes=[node("gpu-1", None, **{GPU: "8"})], queues=queues)


@pytest.fixture
def vision(committing_db: None) -> Project:
    return make_project("vision")


@pytest.fixture
def west(api: APIClient, server: ApiServer, vision: Project) -> APIClient:
    """Return an administrator's client; the cluster west is registered."""
    registered(api, server)
    return api


def put(api: APIClient, common: Json | None, *projects: Json) -> Any:
    return api.put(ADDRESS, {"every_project": common, "projects": projects}, format="json")


def found(api: APIClient) -> Json:
    return finding(api.get("/api/v1/clusters/west/").json(), "queues")


def test_a_project_has_its_own_queue_in_place_of_the_one_for_all(
    west: APIClient, answers: KueueAnswers
) -> None:
    nothing: Json = {"version": "v1beta2", "gates": None, "cluster_queues": []}
    assert west.get(ADDRESS).json() == {"every_project": None, "projects": [], "kueue": nothing}
    cluster = Cluster.objects.get(name="west")
    assert queue_of(cluster, "vision") is None
    make_project("audio")
    make_project("text")
    own = {"project": "vision", "cluster_queue": "team-a", "local_queue": "runs"}
    shown = put(west, {"cluster_queue": "cpus"}, own, {"project": "text"}).json()
    assert shown == west.get(ADDRESS).json()
    assert shown["every_project"]["cluster_queue"] == "cpus"
    assert shown["kueue"]["gates"] is True
    states = {one["name"]: one["state"] for one in shown["kueue"]["cluster_queues"]}
    assert states == {"cpus": "ready", "team-a": "ready"}
    choice = queue_of(cluster, "vision")
    assert choice == QueueChoice("team-a", "runs")
    assert choice.local_name == "runs"
    audio = queue_of(cluster, "audio")
    assert audio is not None
    assert audio.local_name == "cpus"
    # A row without a queue frees its project of the queue for all.
    assert queue_of(cluster, "text") is None
    (asked,) = answers.dry_runs
    assert asked.path.endswith("/namespaces/jobs/jobs?dryRun=All")
    put(west, None)
    assert not RunQueue.objects.exists()
    assert AuditEvent.objects.filter(verb="cluster.queues_changed").count() == 2
    codes = [one["code"] for one in west.get("/api/v1/clusters/west/").json()["findings"]]
    assert "queues" not in codes


@pytest.mark.parametrize(
    ("common", "projects", "name"),
    [
        ({"cluster_queue": ""}, [], "every_project.cluster_queue"),
        ({"cluster_queue": "Team A"}, [], "every_project.cluster_queue"),
        ({"cluster_queue": "a", "local_queue": "-"}, [], "every_project.local_queue"),
        ({"cluster_queue": "a" * 60 + ".bcdef"}, [], "every_project.local_queue"),
        ({"cluster_queue": "a", "uncounted": ["a b"]}, [], "every_project.uncounted.0"),
        ({"cluster_queue": "a", "uncounted": "cpu"}, [], "every_project.uncounted"),
        ({"cluster_queue": "a", "queue": "b"}, [], "every_project.queue"),
        (None, [{"project": "none"}], "projects.0.project"),
        (None, [{"project": "vision"}, {"project": "vision"}], "projects"),
    ],
)
def test_a_wrong_queue_is_refused_at_its_field(
    west: APIClient, common: Any, projects: list[Json], name: str
) -> None:
    answer = put(west, common, *projects)
    assert answer.status_code == 400, answer.content
    assert name in answer.json()["errors"]
    assert not RunQueue.objects.exists()


def test_members_see_the_queues_of_their_own_projects_and_write_none(
    west: APIClient, vision: Project
) -> None:
    make_project("audio")
    own = {"project": "vision", "cluster_queue": "cpus"}
    put(west, {"cluster_queue": "team-a"}, own, {"project": "audio", "cluster_queue": "held"})
    member = APIClient()
    member.force_authenticate(make_member(vision, "admin"))
    shown = member.get(ADDRESS).json()
    assert [one["project"] for one in shown["projects"]] == ["vision"]
    assert [one["name"] for one in shown["kueue"]["cluster_queues"]] == ["cpus", "team-a"]
    assert member.put(ADDRESS, {}, format="json").status_code == 404


@pytest.mark.parametrize(
    ("queue", "level", "code"),
    [
        ({"cluster_queue": "team-a"}, "ok", "clusters.queues_ready"),
        ({"cluster_queue": "none"}, "warn", "clusters.queues_missing"),
        ({"cluster_queue": "held"}, "warn", "clusters.queue_inactive"),
        ({"cluster_queue": "cpus"}, "warn", "clusters.queue_lacks"),
        ({"cluster_queue": "cpus", "uncounted": [GPU]}, "ok", "clusters.queues_ready"),
    ],
)
def test_the_check_says_what_is_wrong_with_a_queue(
    west: APIClient, queue: Json, level: str, code: str
) -> None:
    put(west, queue)
    shown = found(west)
    assert (shown["level"], shown["detail_code"]) == (level, code)
    assert west.get("/api/v1/clusters/west/").json()["state"] == "ready"


def test_an_account_that_may_not_read_queues_knows_nothing_of_them(
    west: APIClient, answers: KueueAnswers
) -> None:
    answers.refused.add(QUEUES)
    shown = put(west, {"cluster_queue": "team-a"}).json()
    (state,) = shown["kueue"]["cluster_queues"]
    assert (state["state"], state["covered"]) == ("unknown", None)
    assert found(west)["detail_code"] == "clusters.queues_unknown"


@pytest.mark.parametrize("versions", [[], ["v1"], ["v1alpha1", "v2"]])
def test_without_kueue_a_cluster_with_queues_takes_no_run(
    west: APIClient, answers: KueueAnswers, versions: list[str]
) -> None:
    answers.groups = {"kueue.x-k8s.io": versions} if versions else {}
    shown = put(west, {"cluster_queue": "team-a"}).json()
    assert shown["kueue"]["version"] == ""
    assert found(west)["level"] == "fail"
    assert west.get("/api/v1/clusters/west/").json()["state"] == "registering"
    put(west, None)
    assert west.get("/api/v1/clusters/west/").json()["state"] == "ready"


@pytest.mark.parametrize(
    ("gate", "expected"),
    [
        (refused_gate(), True),
        # An older Kueue does not read the annotation.
        (Reply(201, {"kind": "Job"}), False),
        (Reply(403, {"kind": "Status", "message": "jobs is forbidden"}), None),
        (Reply(404, {"kind": "Status", "message": "no such namespace"}), None),
        (
            Reply(
                500,
                {"kind": "Status", "message": 'failed calling webhook "mjob.kb.io": refused'},
            ),
            None,
        ),
    ],
)
def test_a_dry_run_tells_whether_kueue_knows_gates(
    west: APIClient, answers: KueueAnswers, gate: Reply, expected: bool | None
) -> None:
    answers.gate = gate
    assert put(west, {"cluster_queue": "team-a"}).json()["kueue"]["gates"] is expected


@pytest.mark.parametrize(
    "document",
    [
        None,
        {},
        {"metadata": {"name": "q"}, "spec": {"resourceGroups": "cpu"}, "status": []},
        {"metadata": {"name": "q"}, "spec": {"resourceGroups": [{"coveredResources": 7}]}},
        {"metadata": {"name": "q"}, "spec": {"resourceGroups": [{"coveredResources": [{}, 1]}]}},
        {"metadata": {"name": ["q"]}, "status": {"conditions": [{"type": "Active"}]}},
    ],
)
def test_a_strange_queue_covers_nothing(document: Any) -> None:
    row = read_cluster_queues(["q"], [document])["q"]
    assert row["state"] in {"missing", "inactive"}
    assert not row["covered"]


def test_the_newest_version_that_atom_speaks_is_used() -> None:
    assert version_in({"api_groups": {"kueue": ["v1beta1", "v1beta2"]}}) == "v1beta2"
    assert version_in({"api_groups": {"kueue": ["v1beta1"]}}) == "v1beta1"
    assert version_in({}) == ""


def test_a_run_that_its_queue_never_admits_is_refused_before_it_is_queued(
    west: APIClient, answers: KueueAnswers
) -> None:
    put(west, {"cluster_queue": "cpus"})
    address = "/api/v1/projects/vision/runs/"
    body: Json = {"name": "r", "command": ["true"], "cluster": "west"}
    body["resources"] = {"cpus": 1, "memory_bytes": 1 << 30, "gpus": 1}
    refused = west.post(address, body, format="json").json()
    assert refused["code"] == "resources_never_fit", refused
    (why,) = refused["error_codes"]["cluster"]
    assert why["code"] == "clusters.queue_uncovered"
    assert why["params"] == {"queue": "cpus", "cluster": "west", "resources": GPU}
    choices = west.get("/api/v1/projects/vision/cluster-choices/", {"gpus": 1}).json()["results"]
    (row,) = [one for one in choices if one["name"] == "west"]
    assert (row["fits"], row["reason"]["code"]) == ("never", "clusters.queue_uncovered")
    # A run that asks for what is covered is taken.
    body["resources"]["gpus"] = 0
    assert west.post(f"{address}preview/", body, format="json").json()["valid"]
    put(west, {"cluster_queue": "none"})
    refused = west.post(address, body, format="json").json()
    assert refused["error_codes"]["cluster"][0]["code"] == "clusters.queue_missing"


def test_rdma_devices_of_pods_must_be_covered_too(west: APIClient) -> None:
    put(west, {"cluster_queue": "team-a"})
    cluster = Cluster.objects.get(name="west")
    ClusterProfile.objects.create(
        cluster=cluster, rdma_resource="rdma/hca", rdma_passed=True,
        rdma_tested_at="2026-01-01T00:00:00Z",
    )  # fmt: skip
    offer = queue_offer(cluster, "vision")
    assert offer is not None
    refusal = offer.refusal_of("west", [GPU])
    assert refusal is not None
    assert refusal.as_code()["params"]["resources"] == "rdma/hca"
    assert offer.refusal_of("west", []) is None
    put(west, {"cluster_queue": "team-a", "uncounted": ["rdma/hca"]})
    cluster.refresh_from_db()
    offer = queue_offer(cluster, "vision")
    assert offer is not None
    assert offer.refusal_of("west", [GPU]) is None
