"""Registration of clusters: what is kept, shown and refused."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any
from uuid import uuid4

import pytest
from django.db import connection
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent
from atom.clusters.actions import reserve
from atom.clusters.kubernetes import in_cluster
from atom.clusters.models import Cluster, Node, NodeAccelerator
from atom.clusters.registration.actions import registering
from atom.core import clock
from atom.jobs.scheduling.actions.capacities import capacities
from tests.clusters.answers import (
    Answers,
    body_for,
    registered,
)
from tests.clusters.api_server import TOKEN, ApiServer, Reply
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db


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
        {
            "kind": "NVIDIA-A100-SXM4-80GB",
            "count": 8,
            "resource": "nvidia.com/gpu",
            "used": 0,
        }
    ]
    kept = NodeAccelerator.objects.get()
    assert (kept.label_name, kept.label_value) == (
        "nvidia.com/gpu.product",
        "NVIDIA-A100-SXM4-80GB",
    )
    assert (nodes["gpu-1"]["cpu_count"], nodes["gpu-1"]["memory_bytes"]) == (15, 64 << 30)
    assert AuditEvent.objects.get(verb="cluster.registered").data["name"] == "west"


def test_priority_classes_are_kept_where_the_account_may_list_them(
    api: APIClient, server: ApiServer, answers: Answers
) -> None:
    urgent = {"name": "urgent", "value": 100, "preempts": True, "default": False}
    answers.priorities = [{"metadata": {"name": "urgent"}, "value": 100}, {"metadata": "?"}]
    assert registered(api, server)["facts"]["priority_classes"] == [urgent]
    answers.refused.add("/apis/scheduling.k8s.io/v1/priorityclasses")
    facts = api.post("/api/v1/clusters/west/check/").json()["facts"]
    assert "priority_classes" not in facts


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
