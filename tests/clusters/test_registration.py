"""Registration of clusters: what is checked, kept, shown and refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import UTC, datetime, timedelta
from email.utils import format_datetime
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
import yaml
from django.db import connection
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, User
from atom.clusters.actions import reserve
from atom.clusters.kubernetes import in_cluster
from atom.clusters.models import Cluster, Node, NodeAccelerator
from atom.clusters.registration.actions import registering
from atom.clusters.registration.engines.nodes import parse_quantity, read_nodes
from atom.clusters.registration.engines.rights import needed_rights
from atom.core import clock
from atom.jobs.scheduling.actions.capacities import capacities
from tests.clusters.api_server import TOKEN, ApiServer, Reply, Seen, api_server
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db

GROUPS = {"kueue.x-k8s.io": ["v1beta2", "v1beta1"], "resource.k8s.io": ["v1"]}


def node(name: Any, labels: dict[str, Any] | None = None, **allocatable: str) -> dict[str, Any]:
    return {
        "metadata": {"name": name, "labels": labels or {}},
        "spec": {"taints": [{"key": "gpu", "effect": "NoSchedule"}]},
        "status": {
            "allocatable": {"cpu": "15500m", "memory": "64Gi", **allocatable},
            "conditions": [{"type": "Ready", "status": "True"}],
        },
    }


def resource_slice(name: str, generation: int, *products: str) -> dict[str, Any]:
    devices = [
        {
            "name": f"gpu-{at}",
            "attributes": {"productName": {"string": product}, "type": {"string": "gpu"}},
        }
        for at, product in enumerate(products)
    ]
    pool = {"name": name, "generation": generation, "resourceSliceCount": 1}
    spec = {"driver": "gpu.nvidia.com", "nodeName": name, "pool": pool, "devices": devices}
    return {"spec": spec}


def device_class(name: str, resource: str, expression: str) -> dict[str, Any]:
    selectors = [{"cel": {"expression": expression}}]
    spec = {"extendedResourceName": resource, "selectors": selectors}
    return {"metadata": {"name": name}, "spec": spec}


@dataclass
class Answers:
    """A cluster as far as registration asks it."""

    minor: str = "36"
    groups: dict[str, list[str]] = field(default_factory=lambda: dict(GROUPS))
    nodes: list[Any] = field(default_factory=list)
    slices: list[Any] = field(default_factory=list)
    classes: list[Any] = field(default_factory=list)
    denied: set[tuple[str, str]] = field(default_factory=set)
    refused: set[str] = field(default_factory=set)
    skew: timedelta = timedelta()
    uid: str = "0e9a8f0c"
    reviews: list[dict[str, Any]] = field(default_factory=list)

    def __call__(self, asked: Seen) -> Reply:
        path = asked.path.partition("?")[0]
        if path in self.refused:
            return Reply(403, {"kind": "Status", "message": "forbidden"})
        if path == "/version":
            date = format_datetime(datetime.now(UTC) + self.skew, usegmt=True)
            body = {"major": "1", "minor": self.minor, "gitVersion": f"v1.{self.minor}.0"}
            return Reply(body=body, headers={"Date": date})
        if path == "/apis":
            rows = [
                {"name": name, "versions": [{"version": it} for it in versions]}
                for name, versions in self.groups.items()
            ]
            return Reply(body={"groups": rows})
        if path.endswith("selfsubjectreviews"):
            user = {"username": "system:serviceaccount:atom:atom-server"}
            return Reply(201, {"status": {"userInfo": user}})
        if path.endswith("selfsubjectaccessreviews"):
            asked_for = asked.body["spec"]["resourceAttributes"]
            self.reviews.append(asked_for)
            allowed = (asked_for["resource"], asked_for["verb"]) not in self.denied
            return Reply(201, {"status": {"allowed": allowed}})
        if path == "/api/v1/namespaces/kube-system":
            return Reply(body={"metadata": {"name": "kube-system", "uid": self.uid}})
        lists = {
            "/api/v1/nodes": self.nodes,
            "/apis/resource.k8s.io/v1/resourceslices": self.slices,
            "/apis/resource.k8s.io/v1/deviceclasses": self.classes,
            "/apis/storage.k8s.io/v1/storageclasses": [{"metadata": {"name": "fast"}}],
        }
        if path in lists:
            return Reply(body={"items": lists[path], "metadata": {}})
        return Reply(404, {"kind": "Status", "message": "not there"})


@pytest.fixture
def answers() -> Answers:
    zone = {
        "topology.kubernetes.io/zone": "zone-a",
        "nvidia.com/gpu.product": "NVIDIA-A100-SXM4-80GB",
    }
    return Answers(nodes=[node("gpu-1", zone, **{"nvidia.com/gpu": "8"}), node("cpu-1")])


@pytest.fixture
def server(answers: Answers, tmp_path: Path, settings: Any) -> Iterator[ApiServer]:
    settings.ATOM_CLUSTER_NETWORKS = ["127.0.0.0/8"]
    with api_server(answers, tmp_path) as served:
        yield served


@pytest.fixture
def boss() -> User:
    return User.objects.create_user("boss", is_superuser=True)


@pytest.fixture
def api(boss: User) -> APIClient:
    client = APIClient()
    client.force_authenticate(boss)
    return client


def body_for(server: ApiServer, **more: Any) -> dict[str, Any]:
    return {"name": "west", "kubeconfig": server.kubeconfig(), **more}


def registered(api: APIClient, server: ApiServer, **more: Any) -> dict[str, Any]:
    answer = api.post("/api/v1/clusters/", body_for(server, **more), format="json")
    assert answer.status_code == 201, answer.content
    data: dict[str, Any] = answer.json()
    return data


def finding(cluster: dict[str, Any], code: str) -> dict[str, Any]:
    return next(row for row in cluster["findings"] if row["code"] == code)


def test_a_cluster_is_registered_with_what_it_offers(api: APIClient, server: ApiServer) -> None:
    cluster = registered(api, server)

    assert (cluster["state"], cluster["server"], cluster["namespace"]) == (
        "ready",
        server.url,
        "jobs",
    )
    assert (cluster["version"], cluster["accelerators"]) == (
        "v1.36.0",
        {"NVIDIA-A100-SXM4-80GB": 8},
    )
    levels = {row["code"]: row["level"] for row in cluster["findings"]}
    assert levels == {
        "version": "ok",
        "clock": "ok",
        "identity": "ok",
        "api_groups": "ok",
        "permissions": "ok",
        "accelerators": "ok",
        "topology": "ok",
        "taints": "warn",
        "storage": "ok",
        "pod_reaches_atom": "warn",
    }
    nodes = {row["name"]: row for row in cluster["nodes"]}
    assert nodes["gpu-1"]["accelerators"] == [
        {"kind": "NVIDIA-A100-SXM4-80GB", "count": 8, "resource": "nvidia.com/gpu"}
    ]
    kept = NodeAccelerator.objects.get()
    assert (kept.label_name, kept.label_value) == (
        "nvidia.com/gpu.product",
        "NVIDIA-A100-SXM4-80GB",
    )
    assert (nodes["gpu-1"]["cpu_count"], nodes["gpu-1"]["memory_bytes"]) == (15, 64 << 30)
    assert AuditEvent.objects.get(verb="cluster.registered").data["name"] == "west"


def test_the_kubeconfig_is_encrypted_and_in_no_answer(api: APIClient, server: ApiServer) -> None:
    cluster = registered(api, server)

    assert TOKEN not in str(cluster)
    assert TOKEN not in str(api.get("/api/v1/clusters/west/").json())
    with connection.cursor() as cursor:
        cursor.execute("SELECT c::text FROM clusters_cluster c")
        assert TOKEN not in str(cursor.fetchall())
    assert TOKEN not in str(list(AuditEvent.objects.values()))
    with registering.open_cluster(Cluster.objects.get(name="west")) as opened:
        assert opened.get("/version").body["minor"] == "36"


def test_a_dry_run_keeps_nothing(api: APIClient, server: ApiServer) -> None:
    body = {"kubeconfig": server.kubeconfig()}
    answer = api.post("/api/v1/clusters/check/", body, format="json").json()

    assert (answer["passed"], answer["server"], answer["context"]) == (True, server.url, "main")
    assert not Cluster.objects.filter(kind="kubernetes").exists()


def test_missing_rights_are_listed_with_the_yaml_that_grants_exactly_them(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.denied = {("leases", "create"), ("leases", "update"), ("nodes", "watch")}

    cluster = registered(api, server)

    assert cluster["state"] == "registering"
    evidence = finding(cluster, "permissions")["evidence"]
    assert {(row["resource"], row["verb"]) for row in evidence["missing"]} == answers.denied
    roles = list(yaml.safe_load_all(evidence["yaml"]))
    kinds = [role["kind"] for role in roles]
    assert kinds == ["ClusterRole", "ClusterRoleBinding", "ClusterRole", "RoleBinding"]
    assert roles[0]["rules"] == [{"apiGroups": [""], "resources": ["nodes"], "verbs": ["watch"]}]
    assert roles[2]["rules"] == [
        {
            "apiGroups": ["coordination.k8s.io"],
            "resources": ["leases"],
            "verbs": ["create", "update"],
        }
    ]
    assert roles[3]["metadata"]["namespace"] == "jobs"
    account = {"kind": "ServiceAccount", "namespace": "atom", "name": "atom-server"}
    assert roles[1]["subjects"] == roles[3]["subjects"] == [account]
    answers.denied = set()
    assert api.post("/api/v1/clusters/west/check/").json()["state"] == "ready"


def test_each_right_is_asked_once_and_inside_its_namespace(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    registered(api, server)

    needed = needed_rights(GROUPS)
    assert len(answers.reviews) == len(needed) == len(set(needed))
    for right, asked in zip(needed, answers.reviews, strict=True):
        assert asked.get("namespace") == ("jobs" if right.namespaced else None)
    assert {"group": "", "resource": "pods", "subresource": "log", "verb": "get"}.items() <= next(
        asked for asked in answers.reviews if "subresource" in asked
    ).items()


def test_devices_of_resource_slices_count_where_nodes_do_not_name_them(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.slices = [
        resource_slice("gpu-1", 2, *["NVIDIA A100-SXM4-80GB"] * 8),
        resource_slice("cpu-1", 1, "NVIDIA T4", "NVIDIA T4", "NVIDIA T4"),
        resource_slice("cpu-1", 2, "NVIDIA T4"),
        resource_slice("nowhere", 1, "NVIDIA T4"),
    ]

    cluster = registered(api, server)

    assert cluster["accelerators"] == {"NVIDIA-A100-SXM4-80GB": 8, "NVIDIA-T4": 1}
    # No class gives the devices of the slice a resource; the plugin's have one.
    resources = dict(NodeAccelerator.objects.values_list("kind", "resource"))
    assert resources == {"NVIDIA-A100-SXM4-80GB": "nvidia.com/gpu", "NVIDIA-T4": ""}
    said = finding(cluster, "device_classes")
    assert (said["level"], said["detail_params"]["kinds"]) == ("warn", "NVIDIA-T4")


def test_devices_of_slices_are_asked_for_by_the_resource_of_their_class(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.slices = [resource_slice("cpu-1", 1, "NVIDIA T4")]
    own = "device.driver == 'gpu.nvidia.com'"
    answers.classes = [
        device_class("a", "example.com/other", "device.driver == 'gpu.amd.com'"),
        device_class("b", "example.com/huge", f"{own} && device.capacity['x'].memory > 3"),
        device_class("c", "no name", own),
        device_class(
            "d", "example.com/t4", f"{own} && device.attributes['gpu.nvidia.com'].type == 'gpu'"
        ),
        {"metadata": {"name": "e"}, "spec": {"selectors": "x"}},
        "no class",
    ]

    cluster = registered(api, server)

    assert NodeAccelerator.objects.get(kind="NVIDIA-T4").resource == "example.com/t4"
    assert not [row for row in cluster["findings"] if row["code"] == "device_classes"]


def test_names_and_labels_that_are_none_are_left_out_and_named(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.nodes += [
        node("Bad_Name"),
        node("../../etc"),
        node("a" * 300),
        node({"x": 1}),
        node("<script>\u202e"),
        node("fine-1", {"topology.kubernetes.io/zone": "a b", "no/good/key": "x", "k": 7}),
        "not a node",
    ]

    cluster = registered(api, server)

    assert sorted(row["name"] for row in cluster["nodes"]) == ["cpu-1", "fine-1", "gpu-1"]
    invalid = finding(cluster, "names")["evidence"]["invalid"]
    assert len(invalid) == 9
    assert "../../etc" in invalid
    assert "fine-1: topology.kubernetes.io/zone" in invalid
    assert all(text.isprintable() for text in invalid)


def test_numbers_of_a_stranger_have_limits() -> None:
    for text in ("1e999999999", "9" * 400, "-1", "NaN", "", "1Zi", None, {"a": 1}):
        assert parse_quantity(text) == 0
    huge = read_nodes([node("n", memory="9" * 18 + "Ei", cpu="9" * 18 + "E")]).nodes["n"]
    assert (huge.cpus, huge.memory_bytes) == (1_000_000, 1 << 62)


@pytest.mark.parametrize(("seconds", "level"), [(1, "ok"), (30, "warn"), (-3600, "fail")])
def test_a_clock_that_differs(
    seconds: int, level: str, api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.skew = timedelta(seconds=seconds)
    assert finding(registered(api, server), "clock")["level"] == level


def test_lists_that_are_refused_are_findings(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    answers.refused = {"/api/v1/nodes", "/apis/storage.k8s.io/v1/storageclasses"}
    answers.groups, answers.minor = {}, "29+"

    cluster = registered(api, server)

    failed = {row["code"] for row in cluster["findings"] if row["level"] == "fail"}
    assert failed == {"version", "accelerators", "storage"}
    assert finding(cluster, "api_groups")["level"] == "warn"
    assert (cluster["state"], cluster["nodes"]) == ("registering", [])


def test_nothing_is_kept_of_a_cluster_that_cannot_be_used(
    api: APIClient, server: ApiServer, settings: Any
) -> None:
    exec_config = server.kubeconfig({"exec": {"command": "id"}})
    proxied = server.kubeconfig(None, **{"proxy-url": "http://p"})
    bodies: list[tuple[dict[str, Any], int, str]] = [
        (body_for(server, kubeconfig=exec_config), 422, "kubeconfig_refused"),
        (body_for(server, kubeconfig=proxied), 422,
         "kubeconfig_refused"),
        ({"name": "west", "in_cluster": True}, 422, "in_cluster_account_missing"),
        ({"name": "west"}, 400, "invalid"),
        (body_for(server, in_cluster=True), 400, "invalid"),
        (body_for(server, name="check"), 409, "cluster_name_taken"),
        (body_for(server, name="local"), 409, "cluster_name_taken"),
        (body_for(server, name="We st"), 400, "invalid"),
        (body_for(server, prices=[{"kind": "a", "per_hour": "-1", "currency": "EUR"}]), 400,
         "invalid"),
    ]  # fmt: skip
    for body, status, code in bodies:
        answer = api.post("/api/v1/clusters/", body, format="json")
        assert (answer.status_code, answer.json()["code"]) == (status, code), body
    assert server.seen == []
    settings.ATOM_CLUSTER_NETWORKS = []
    answer = api.post("/api/v1/clusters/", body_for(server), format="json")
    assert (answer.status_code, answer.json()["code"]) == (422, "cluster_address_refused")
    assert (server.seen, Cluster.objects.filter(kind="kubernetes").count()) == ([], 0)


def test_prices_and_ways_to_stores_are_kept_and_replaced(api: APIClient, server: ApiServer) -> None:
    price = {"kind": "NVIDIA-T4", "per_hour": "0.3500", "currency": "EUR"}
    route = {
        "store": "atom",
        "bandwidth_bytes_per_s": 10**9,
        "egress_per_gib": "0.080000",
        "currency": "EUR",
    }
    cluster = registered(api, server, prices=[price], stores=[route])
    assert (cluster["prices"], cluster["stores"]) == ([price], [route])
    changes = {"prices": [{**price, "per_hour": "0.4000"}]}
    changed = api.patch("/api/v1/clusters/west/", changes, format="json").json()
    assert [row["per_hour"] for row in changed["prices"]] == ["0.4000"]
    assert changed["stores"] == [route]
    twice = api.patch("/api/v1/clusters/west/", {"prices": [price, price]}, format="json")
    assert twice.status_code == 400


def test_others_see_clusters_of_their_projects_without_addresses(
    api: APIClient, server: ApiServer
) -> None:
    member = APIClient()
    member.force_authenticate(make_member(make_project("vision"), "admin", "anna"))
    stranger = APIClient()
    stranger.force_authenticate(make_member(make_project("other"), "admin", "bert"))
    registered(api, server, projects=["vision"])

    shown = member.get("/api/v1/clusters/west/").json()
    assert (shown["server"], shown["findings"], shown["facts"]) == (None, None, None)
    assert server.url.removeprefix("https://") not in str(shown)
    assert [it["name"] for it in member.get("/api/v1/clusters/").json()["results"]] == ["west"]
    assert stranger.get("/api/v1/clusters/").json()["results"] == []
    assert stranger.get("/api/v1/clusters/west/").status_code == 404
    for client in (member, stranger):
        writes = [
            client.post("/api/v1/clusters/", body_for(server), format="json"),
            client.post("/api/v1/clusters/check/", {}, format="json"),
            client.patch("/api/v1/clusters/west/", {}, format="json"),
            client.delete("/api/v1/clusters/west/"),
            *(
                client.post(f"/api/v1/clusters/west/{verb}/")
                for verb in ("check", "drain", "resume")
            ),
        ]
        assert {answer.status_code for answer in writes} == {404}
    api.patch("/api/v1/clusters/west/", {"projects": None}, format="json")
    assert stranger.get("/api/v1/clusters/west/").status_code == 200


def test_a_cluster_that_stops_to_answer_is_unreachable_until_it_answers(
    api: APIClient, server: ApiServer, settings: Any
) -> None:
    registered(api, server)
    normal, server.answers = server.answers, lambda _: Reply(200, b"<html>")
    Cluster.objects.update(checked_at=clock.now() - timedelta(minutes=2))

    assert registering.tick() == 1

    cluster = api.get("/api/v1/clusters/west/").json()
    assert (cluster["state"], cluster["problem"]["code"]) == ("unreachable", "cluster_answer_wrong")
    assert cluster["problem"]["detail_code"] == "clusters.answer_html"
    assert cluster["accelerators"] == {"NVIDIA-A100-SXM4-80GB": 8}
    assert registering.tick() == 0
    server.answers = normal
    cluster = api.post("/api/v1/clusters/west/check/").json()
    assert (cluster["state"], cluster["problem"]) == ("ready", None)


def test_drain_resume_and_removal(api: APIClient, server: ApiServer) -> None:
    registered(api, server)
    assert api.post("/api/v1/clusters/west/drain/").json()["state"] == "draining"
    assert api.post("/api/v1/clusters/west/check/").json()["state"] == "draining"
    assert api.post("/api/v1/clusters/west/resume/").json()["state"] == "ready"
    host = Node.objects.get(name="gpu-1")
    held = reserve(host.pk, uuid4(), cpus=1, memory_bytes=1, gpus=0)
    refused = api.delete("/api/v1/clusters/west/")
    assert (refused.status_code, refused.json()["code"]) == (409, "cluster_in_use")
    assert held is not None
    held.delete()
    assert api.delete("/api/v1/clusters/west/").status_code == 204
    row = Cluster.objects.get(name="west")
    assert (row.state, row.encrypted_kubeconfig, row.nodes.count()) == ("removed", "", 0)
    assert api.get("/api/v1/clusters/west/").status_code == 404
    verbs = set(AuditEvent.objects.values_list("verb", flat=True))
    assert {"cluster.drained", "cluster.resumed", "cluster.removed"} <= verbs
    registered(api, server)


def test_nodes_that_left_go_and_the_local_scheduler_places_nothing_on_the_others(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    registered(api, server)
    answers.nodes.pop()
    cluster = api.post("/api/v1/clusters/west/check/").json()
    assert [row["name"] for row in cluster["nodes"]] == ["gpu-1"]
    assert [it.name for it in capacities() if it.name == "gpu-1"] == []


def test_another_kubeconfig_is_checked_before_it_takes_the_place(
    api: APIClient, server: ApiServer
) -> None:
    registered(api, server)
    before = Cluster.objects.get(name="west").encrypted_kubeconfig
    nowhere = server.kubeconfig(server="https://127.0.0.1:9")
    answer = api.patch("/api/v1/clusters/west/", {"kubeconfig": nowhere}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (502, "cluster_unreachable")
    assert Cluster.objects.get(name="west").encrypted_kubeconfig == before


def test_the_account_of_the_servers_own_pod(
    api: APIClient,
    server: ApiServer,
    tmp_path: Path,
    monkeypatch: pytest.MonkeyPatch,
    settings: Any,
) -> None:
    settings.ATOM_CLUSTER_NETWORKS = []
    files = {"token": TOKEN, "ca.crt": server.authority.pem, "namespace": "atom-jobs"}
    for name, text in files.items():
        (tmp_path / name).write_text(text)
    monkeypatch.setattr(in_cluster, "FOLDER", tmp_path)
    monkeypatch.setenv("KUBERNETES_SERVICE_HOST", "127.0.0.1")
    monkeypatch.setenv("KUBERNETES_SERVICE_PORT", server.url.rsplit(":", 1)[1])

    answer = api.post("/api/v1/clusters/", {"name": "own", "in_cluster": True}, format="json")

    assert (answer.status_code, answer.json()["namespace"]) == (201, "atom-jobs")
    (tmp_path / "token").write_text("rotated")
    api.post("/api/v1/clusters/own/check/")
    assert server.seen[-1].headers["Authorization"] == "Bearer rotated"
    (tmp_path / "token").unlink()
    Cluster.objects.update(checked_at=None)
    assert registering.tick() == 1
    assert api.get("/api/v1/clusters/own/").json()["state"] == "unreachable"


def test_the_machine_itself_has_no_registration(api: APIClient) -> None:
    Cluster.objects.get_or_create(name="local", defaults={"kind": "local"})
    for verb in ("check", "drain", "resume"):
        answer = api.post(f"/api/v1/clusters/local/{verb}/")
        assert (answer.status_code, answer.json()["code"]) == (409, "cluster_is_local")
    assert api.delete("/api/v1/clusters/local/").status_code == 409
