"""Where a version may go, the plans of one version, and the sources of its packs, over HTTP."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import User
from atom.cache.models import NodeAgent
from atom.core import clock
from atom.datasets.models import Version
from tests.cache.agents.world import DISK, AgentWorld, agent_world
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member


@pytest.fixture
def world(pusher: Pusher, settings: Any) -> Iterator[AgentWorld]:
    with agent_world(settings, "n1", "n2", "n3") as world:
        yield world


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


@pytest.fixture
def researcher(world: AgentWorld, version: Version) -> APIClient:
    return world.client(make_member(version.dataset.project, "researcher"))


def address_of(version: Version, name: str) -> str:
    dataset = version.dataset
    base = f"/api/v1/projects/{dataset.project.slug}/datasets/{dataset.name}"
    return f"{base}/versions/{version.ref}/{name}/"


def test_each_node_with_an_agent_says_what_it_has_and_lacks(
    world: AgentWorld, version: Version, researcher: APIClient
) -> None:
    world.joined("n1").report(packs={})
    world.joined("n2").report(packs={})
    NodeAgent.objects.filter(node__name="n2").update(
        disk={**DISK, "free_bytes": 10}, reported_at=clock.now() - timedelta(minutes=5)
    )
    (shown,) = researcher.get(address_of(version, "warm-choices")).json()
    assert shown["cluster"] == "east"
    first, second = shown["nodes"]
    assert (first["node"], second["node"]) == ("n1", "n2")
    assert (first["is_reporting"], second["is_reporting"]) == (True, False)
    assert first["bytes_total"] == second["bytes_total"] > 0
    assert (first["bytes_present"], first["lacking_bytes"]) == (0, 0)
    assert second["lacking_bytes"] == second["bytes_total"] - 10


def test_a_stranger_sees_no_choices(world: AgentWorld, version: Version) -> None:
    boss: APIClient = world.client(User.objects.get(username="admin-of-east"))
    assert boss.get(address_of(version, "warm-choices")).status_code == 200
    assert APIClient().get(address_of(version, "warm-choices")).status_code == 401


def test_plans_of_a_version_say_where_their_packs_came_from(
    world: AgentWorld, version: Version, researcher: APIClient
) -> None:
    agents = {name: world.joined(name) for name in ("n1", "n2")}
    for agent in agents.values():
        agent.report(packs={})
    address = address_of(version, "warm-plans")
    assert researcher.get(address).json()["results"] == []
    body = {"cluster": "east", "nodes": ["n1", "n2"]}
    assert researcher.post(address, body, format="json").status_code == 201
    packs = 0
    for name in ("n1", "n2"):
        fetches = agents[name].work(room=8).json()["fetches"]
        packs = packs or len(fetches)
        done = [
            {"fetch": row["fetch"], "bytes": row["size_bytes"], "seconds": 0.1} for row in fetches
        ]
        agents[name].work(room=0, done=done)
    (plan,) = researcher.get(address).json()["results"]
    sources = [
        (row["node"], row["packs_from_origin"], row["packs_from_peers"], row["failures"])
        for row in plan["nodes"]
    ]
    assert sources == [("n1", packs, 0, 0), ("n2", 0, packs, 0)]
    project = f"/api/v1/projects/{version.dataset.project.slug}/warm-plans/"
    assert len(researcher.get(project, {"state": "done"}).json()["results"]) == 1
    assert researcher.get(project, {"state": "running"}).json()["results"] == []
    assert researcher.get(project, {"state": "gone"}).json()["code"] == "invalid"


def test_agents_show_disks_cards_and_errors_by_their_fields(world: AgentWorld) -> None:
    boss = world.client(User.objects.get(username="admin-of-east"))
    agent = world.joined("n1")
    (row,) = boss.get("/api/v1/clusters/east/agents/").json()
    assert (row["disk"], row["gpus"], row["xid_events"]) == (None, [], [])
    card = {
        "index": 0,
        "uuid": "GPU-0",
        "model": "H100",
        "memory_bytes": 80,
        "memory_used_bytes": 8,
        "busy": 0.5,
        "links": [{"to": "GPU-1", "kind": "nvlink"}],
    }
    event = {"gpu": "GPU-0", "xid": 79, "at": "2026-01-01T00:00:00Z"}
    body = {"sequence": 1, "disk": DISK, "packs": None, "gpus": [card], "xid_events": [event]}
    assert agent.post("report", body).status_code == 200
    (row,) = boss.get("/api/v1/clusters/east/agents/").json()
    assert (row["disk"], row["gpus"]) == (DISK, [card])
    assert [(each["gpu"], each["xid"]) for each in row["xid_events"]] == [("GPU-0", 79)]
