"""The protocol of node agents over HTTP, against a cluster of the stand-in."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import kubernetes_validate
import pytest
import yaml
from rest_framework.test import APIClient

from atom.accounts.models import User
from atom.cache.models import NodeAgent, PackFetch
from atom.core import clock
from atom.datasets.models import Version
from tests.cache.agents.world import AgentWorld, agent_world
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member, make_user

NOTHING: dict[str, Any] = {"done": [], "failed": [], "progress": [], "removed": [], "verified": []}


@pytest.fixture
def world(pusher: Pusher, settings: Any) -> Iterator[AgentWorld]:
    with agent_world(settings, "n1", "n2") as world:
        yield world


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


def test_an_agent_joins_reports_and_works(world: AgentWorld, version: Version) -> None:
    agent = world.joined("n1")
    assert agent.report(packs=None).json() == {"send_packs": True, "limit_bytes": None}
    assert agent.report(packs={}).json() == {"send_packs": False, "limit_bytes": None}
    base = f"projects/{version.dataset.project.slug}/"
    researcher = world.client(make_member(version.dataset.project, "researcher"))
    path = f"{base}datasets/{version.dataset.name}/versions/{version.ref}/warm-plans/"
    made = researcher.post(f"/api/v1/{path}", {"cluster": "east", "nodes": ["n1"]}, format="json")
    assert made.status_code == 201, made.content
    plan = f"/api/v1/{base}warm-plans/{made.json()['id']}/"
    answer = agent.work(room=8)
    assert answer.status_code == 200, answer.content
    fetches = answer.json()["fetches"]
    assert {fetch["source"]["kind"] for fetch in fetches} == {"origin"}
    progress = [{"fetch": row["fetch"], "bytes": row["size_bytes"]} for row in fetches]
    agent.work(room=0, progress=progress)
    (shown,) = researcher.get(plan).json()["nodes"]
    assert shown["bytes_present"] == shown["bytes_total"]
    done = [{**row, "seconds": 0.1} for row in progress]
    assert agent.work(room=8, done=done).json()["fetches"] == []
    assert researcher.get(plan).json()["state"] == "done"
    listed = researcher.get(f"/api/v1/{base}warm-plans/").json()["results"]
    assert [row["nodes"][0]["state"] for row in listed] == ["warm"]


@pytest.mark.parametrize(
    "claim",
    [
        {"pod_uid": "another"},
        {"pod": "another"},
        {"node": "n2"},
        {"token": "made-up"},
        {"address": "http://10.0.0.9:7480"},
        {"cluster": "0195a3f2-7c41-7b3e-9d52-4f1c8a6e2b90"},
    ],
)
def test_an_agent_that_claims_to_be_another_is_refused(
    world: AgentWorld, claim: dict[str, str]
) -> None:
    answer = world.join(world.pod("n1"), "n1", **claim)
    assert (answer.status_code, answer.json()["code"]) == (401, "agent_not_accepted")
    assert not NodeAgent.objects.exists()


def test_a_pod_that_no_agents_daemon_set_made_is_refused(world: AgentWorld) -> None:
    assert world.join(world.pod("n1", owner="another"), "n1").status_code == 401
    assert world.join(world.pod("n1", account="another"), "n1").status_code == 401


def test_an_agent_joins_once_its_pod_has_an_address(world: AgentWorld) -> None:
    answer = world.join(world.pod("n1", address=""), "n1")
    assert (answer.status_code, answer.json()["code"]) == (503, "cluster_away")
    six = world.join(world.pod("n2", address="fd00::7"), "n2", address="http://[fd00::7]:7480")
    assert six.status_code == 200


def test_a_second_join_ends_the_token_before(world: AgentWorld) -> None:
    pod = world.pod("n1")
    first, second = world.agent_of(pod, "n1"), world.agent_of(pod, "n1")
    assert first.work(room=1).json()["code"] == "agent_not_accepted"
    assert second.work(room=1).status_code == 200
    NodeAgent.objects.update(token_expires_at=clock.now() - timedelta(seconds=1))
    assert second.work(room=1).status_code == 401


@pytest.mark.parametrize(
    "body",
    [
        {"room": -1, **NOTHING},
        {"room": 1},
        {"room": 1, **NOTHING, "unknown": 1},
        {"room": 1, **NOTHING, "removed": [{"project": "../..", "pack": "0" * 64}]},
        {"room": 1, **NOTHING, "done": [{"fetch": "x", "bytes": 1, "seconds": 1}]},
        {"room": 1, **NOTHING, "done": [{}] * 10_001},
    ],
)
def test_strange_work_is_refused(world: AgentWorld, body: dict[str, Any]) -> None:
    answer = world.joined("n1").post("work", body)
    assert (answer.status_code, answer.json()["code"]) == (400, "invalid")


@pytest.mark.parametrize(
    "address", ["http://n1:7480", "https://10.0.0.1:1", "http://10.0.0.1", "http://10.0.0.1:1/a"]
)
def test_an_address_is_an_ip_and_a_port(world: AgentWorld, address: str) -> None:
    assert world.join(world.pod("n1"), "n1", address=address).status_code == 400


def test_only_a_pack_that_was_ordered_is_trusted_again(world: AgentWorld, version: Version) -> None:
    project = version.dataset.project_id
    agent = world.joined("n1")
    row = {"project": str(project), "pack": "0" * 64, "verify": True}
    NodeAgent.objects.update(removals=[row])
    other = {"project": str(project), "pack": "1" * 64}
    assert agent.work(room=0, verified=[other]).json()["remove"] == [row]
    named = {"project": str(project), "pack": "0" * 64}
    assert agent.work(room=0, verified=[named]).json()["remove"] == []


def test_the_manifest_is_for_administrators(world: AgentWorld, settings: Any) -> None:
    address = "/api/v1/clusters/east/agent-manifest/"
    boss = world.client(User.objects.get(username="admin-of-east"))
    assert boss.get(address).json()["code"] == "agent_image_unset"
    settings.ATOM_AGENT_IMAGE = "registry.example/atom-agent:1"
    _, account, daemon_set = yaml.safe_load_all(boss.get(address).content)
    assert account["metadata"]["name"] == "atom-agent"
    pod = daemon_set["spec"]["template"]["spec"]
    env = {row["name"]: row for row in pod["containers"][0]["env"]}
    assert env["ATOM_AGENT_CLUSTER"]["value"] == str(world.cluster.pk)
    assert env["ATOM_AGENT_NODE"]["valueFrom"]["fieldRef"]["fieldPath"] == "spec.nodeName"
    stranger = world.client(make_user("stranger"))
    assert stranger.get(address).status_code == 404
    world.joined("n1").report(packs={})
    agents = "/api/v1/clusters/east/agents/"
    (row,) = boss.get(agents).json()
    assert (row["is_reporting"], row["has_volumes"], row["volumes"]) == (True, False, 0)
    assert stranger.get(agents).status_code == 404


@pytest.mark.parametrize("volumes", ["false", "true"])
def test_kubernetes_knows_every_field_of_the_manifest(
    world: AgentWorld, settings: Any, volumes: str
) -> None:
    settings.ATOM_AGENT_IMAGE = "registry.example/atom-agent:1"
    boss = world.client(User.objects.get(username="admin-of-east"))
    text = boss.get(f"/api/v1/clusters/east/agent-manifest/?volumes={volumes}").content
    objects = {item["kind"]: item for item in yaml.safe_load_all(text)}
    for item in objects.values():
        kubernetes_validate.validate(item, "1.34", strict=True)
    pod = objects["DaemonSet"]["spec"]["template"]["spec"]
    (container,) = pod["containers"]
    has_volumes = volumes == "true"
    assert container["securityContext"].get("privileged", False) == has_volumes
    assert container["securityContext"]["readOnlyRootFilesystem"]
    propagated = [row for row in container["volumeMounts"] if "mountPropagation" in row]
    assert len(propagated) == has_volumes
    assert ("CSIDriver" in objects) == has_volumes
    if has_volumes:
        driver = objects["CSIDriver"]
        assert driver["metadata"]["name"] == "csi.atom.dev"
        assert driver["spec"]["podInfoOnMount"]
        assert driver["spec"]["volumeLifecycleModes"] == ["Ephemeral"]


def test_a_new_pod_of_a_node_fetches_anew(world: AgentWorld, version: Version) -> None:
    first = world.joined("n1")
    first.report(packs={})
    project = version.dataset.project
    boss = world.client(make_member(project, "researcher"))
    path = f"projects/{project.slug}/datasets/{version.dataset.name}/versions/{version.ref}"
    body = {"cluster": "east", "copies": 1}
    assert boss.post(f"/api/v1/{path}/warm-plans/", body, format="json").status_code == 201
    before = {row["fetch"] for row in first.work(room=8).json()["fetches"]}
    again = world.joined("n1", pod="second")
    assert not PackFetch.objects.exists()
    again.report(packs={})
    after = {row["fetch"] for row in again.work(room=8).json()["fetches"]}
    assert len(after) == len(before)
    assert not before & after


def test_a_plan_needs_a_cluster_of_the_project(world: AgentWorld, version: Version) -> None:
    project = version.dataset.project
    member = world.client(make_member(project, "researcher"))
    path = f"/api/v1/projects/{project.slug}/datasets/{version.dataset.name}/versions/"
    address = f"{path}{version.ref}/warm-plans/"
    answer = member.post(address, {"cluster": "west"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (404, "cluster_not_found")
    both = member.post(address, {"cluster": "east", "nodes": ["n1"], "copies": 2}, format="json")
    assert both.json()["error_codes"]["copies"][0]["code"] == "cache.copies_or_nodes"
    viewer: APIClient = world.client(make_member(project, "viewer"))
    assert viewer.post(address, {"cluster": "east"}, format="json").status_code == 403
