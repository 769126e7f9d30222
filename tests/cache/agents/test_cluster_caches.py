"""Schedules, settings, coverage and eviction of clusters' caches over HTTP and the command line."""

from __future__ import annotations

import json
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from click.testing import CliRunner, Result

from atom.accounts.actions import create_token
from atom.accounts.models import User
from atom.cache.agents.actions.coverage import sized_packs
from atom.cache.models import NodeAgent, WarmSchedule
from atom.core import clock
from atom.datasets.models import Version
from atom_sdk.cli.context import Context
from atom_sdk.cli.main import cli
from atom_sdk.client import Client
from tests.cache.agents.world import AgentWorld, JoinedAgent, agent_world
from tests.datasets.pushing import Pusher
from tests.factories.accounts import make_member, make_project, make_user


@pytest.fixture
def world(pusher: Pusher, settings: Any) -> Iterator[AgentWorld]:
    with agent_world(settings, "n1", "n2") as world:
        yield world


@pytest.fixture
def version(pusher: Pusher) -> Version:
    return Version.objects.select_related("dataset__project").get()


def boss_of(world: AgentWorld) -> Any:
    return world.client(User.objects.get(username="admin-of-east"))


def fill(world: AgentWorld, version: Version, node: str) -> JoinedAgent:
    agent = world.joined(node)
    agent.report(packs={})
    path = f"/api/v1/projects/{version.dataset.project.slug}/datasets/{version.dataset.name}"
    body = {"cluster": "east", "nodes": [node], "priority": 80}
    made = boss_of(world).post(f"{path}/versions/{version.ref}/warm-plans/", body, format="json")
    assert made.status_code == 201, made.content
    assert made.json()["priority"] == 80
    fetches = agent.work(room=8).json()["fetches"]
    done = [{"fetch": row["fetch"], "bytes": row["size_bytes"], "seconds": 1} for row in fetches]
    agent.work(room=0, done=done)
    return agent


def test_the_map_shows_each_node_and_version(world: AgentWorld, version: Version) -> None:
    agent = fill(world, version, "n1")
    shown = boss_of(world).get("/api/v1/clusters/east/coverage/").json()
    assert [row["node"] for row in shown["nodes"]] == ["n1", "n2"]
    assert [row["is_reporting"] for row in shown["nodes"]] == [True, False]
    (cell,) = shown["cells"]
    assert (cell["node"], cell["coverage"], cell["need"]) == ("n1", 1.0, "cold")
    (row,) = shown["versions"]
    assert (row["dataset"], row["ref"]) == (version.dataset.name, version.ref)
    assert row["bytes_total"] == sum(size for _, size in sized_packs(version))
    # A member sees the projects that are its own.
    member = world.client(make_member(version.dataset.project, "viewer"))
    path = "/api/v1/clusters/east/coverage/"
    assert len(member.get(path).json()["cells"]) == 1
    other = make_project("other")
    outsider = world.client(make_member(other, "viewer"))
    assert outsider.get(path).json()["cells"] == []
    assert outsider.get(f"{path}?project={version.dataset.project.slug}").status_code == 404
    assert outsider.get(f"{path}?project=other").json()["versions"] == []
    # An eviction takes it off the map at once.
    base = f"/api/v1/projects/{version.dataset.project.slug}/datasets/{version.dataset.name}"
    evict = f"{base}/versions/{version.ref}/evict/"
    assert boss_of(world).post(evict, {"node": "n1"}, format="json").status_code == 202
    assert boss_of(world).get(path).json()["cells"] == []
    assert {row["pack"] for row in agent.work(room=0).json()["remove"]} == {
        pack for pack, _ in sized_packs(version)
    }


def test_the_limit_of_a_cluster_reaches_its_agents(world: AgentWorld, version: Version) -> None:
    agent = world.joined("n1")
    boss = boss_of(world)
    path = "/api/v1/clusters/east/cache/"
    assert boss.get(path).json() == {"limit_bytes": None, "replace_after_s": 300}
    body = {"limit_bytes": 5000, "replace_after_s": 60}
    assert boss.put(path, body, format="json").json() == body
    assert agent.report(packs={}).json()["limit_bytes"] == 5000
    again = world.join(world.pod("n1", name="second"), "n1")
    assert again.json()["limit_bytes"] == 5000
    assert boss.put(path, {**body, "replace_after_s": 1}, format="json").status_code == 400
    member = world.client(make_member(version.dataset.project, "admin"))
    assert member.get(path).status_code in (403, 404)
    assert member.put(path, body, format="json").status_code in (403, 404)
    (row,) = boss.get("/api/v1/clusters/east/agents/").json()
    assert row["capacity_bytes"] == 1 << 39
    assert (row["used_bytes"], row["promised_bytes"], row["pending_removals"]) == (0, 0, 0)


def test_a_schedule_is_made_shown_paused_and_removed(world: AgentWorld, version: Version) -> None:
    project = version.dataset.project
    member = world.client(make_member(project, "researcher"))
    base = f"/api/v1/projects/{project.slug}"
    made = f"{base}/datasets/{version.dataset.name}/warm-schedules/"
    body = {"ref": "main", "cluster": "east", "copies": 2, "cron": "0 3 * * *"}
    answer = member.post(made, {**body, "timezone": "Europe/Berlin", "keep_s": 3600}, format="json")
    assert answer.status_code == 201, answer.content
    row = answer.json()
    assert (row["paused"], row["timezone"], row["last_plan"]) == (False, "Europe/Berlin", None)
    assert row["next_at"] > clock.now().isoformat()
    one = f"{base}/warm-schedules/{row['id']}/"
    assert [found["id"] for found in member.get(f"{base}/warm-schedules/").json()["results"]] == [
        row["id"]
    ]
    paused = member.post(f"{one}pause/").json()
    assert (paused["paused"], paused["next_at"]) == (True, None)
    assert member.post(f"{one}resume/").json()["next_at"] == row["next_at"]
    refusals: list[tuple[dict[str, Any], str, str]] = [
        ({"cron": "0 0 31 2 *"}, "cron", "cache.cron_wrong"),
        ({"timezone": "Mars/Base"}, "timezone", "cache.timezone_unknown"),
        ({"nodes": ["n1"]}, "copies", "cache.copies_or_nodes"),
        ({"priority": 101}, "priority", "max_value"),
    ]
    for wrong, field, code in refusals:
        refused = member.post(made, {**body, **wrong}, format="json").json()
        assert refused["error_codes"][field][0]["code"] == code
    assert member.post(made, {**body, "ref": "none"}, format="json").status_code == 404
    assert member.post(made, {**body, "cluster": "west"}, format="json").status_code == 404
    viewer = world.client(make_member(project, "viewer"))
    assert viewer.delete(one).status_code == 403
    assert world.client(make_user("stranger")).get(one).status_code == 404
    assert member.delete(one).status_code == 204
    assert member.get(one).json()["code"] == "warm_schedule_not_found"


def test_two_nodes_must_blame_a_peer_before_others_leave_it(
    world: AgentWorld, version: Version
) -> None:
    liar = fill(world, version, "n1")
    reader = world.joined("n2")
    reader.report(packs={})
    base = f"/api/v1/projects/{version.dataset.project.slug}/datasets/{version.dataset.name}"
    plans = f"{base}/versions/{version.ref}/warm-plans/"
    body = {"cluster": "east", "nodes": ["n2"]}
    assert boss_of(world).post(plans, body, format="json").status_code == 201
    (fetch, *_) = reader.work(room=1).json()["fetches"]
    assert fetch["source"]["kind"] == "peer"
    failed = [{"fetch": fetch["fetch"], "reason": "missing", "detail": ""}]
    (again,) = reader.work(room=1, failed=failed).json()["fetches"]
    assert again["source"]["kind"] == "origin"
    peer = NodeAgent.objects.get(node__name="n1")
    assert (peer.needs_packs, len(peer.blamed_by), peer.distrusted_until) == (True, 1, None)
    # It claims the pack again, and a third node blames it, too.
    liar.report(packs={fetch["project"]: [fetch["pack"]]})
    NodeAgent.objects.filter(pk=peer.pk).update(blamed_by=["another"])
    stopped = [{"fetch": again["fetch"], "reason": "refused", "detail": "The agent stops."}]
    (third,) = reader.work(room=1, failed=stopped).json()["fetches"]
    assert third["source"]["kind"] == "peer"
    failed = [{"fetch": third["fetch"], "reason": "digest", "detail": ""}]
    reader.work(room=0, failed=failed)
    peer.refresh_from_db()
    assert peer.distrusted_until is not None
    assert peer.distrusted_until > clock.now() + timedelta(minutes=9)


@pytest.mark.django_db(transaction=True)
def test_caches_and_schedules_by_command(
    world: AgentWorld, version: Version, live_server: Any
) -> None:
    world.joined("n1").report(packs={})
    secret = create_token(User.objects.get(username="admin-of-east"), "cli", ["admin"]).secret

    def atom(*words: str) -> Result:
        context = Context()
        with Client(live_server.url, secret, version.dataset.project.slug) as client:
            context._client = client
            return CliRunner().invoke(cli, [*words], obj=context, standalone_mode=False)

    changed = atom("cluster", "cache", "east", "--limit", "2GB", "--replace-after", "90", "--json")
    assert json.loads(changed.stdout) == {"limit_bytes": 2 << 30, "replace_after_s": 90}
    assert "as the disk allows" in atom("cluster", "cache", "east", "--no-limit").output
    ref = f"{version.dataset.name}@main"
    place = ("--cluster", "east", "--copies", "1")
    made = atom("data", "warm", ref, *place, "--schedule", "0 3 * * *", "--keep", "7d", "--json")
    assert made.exception is None, made.exception
    row = WarmSchedule.objects.get()
    assert (row.ref, row.cron, row.keep_s) == ("main", "0 3 * * *", 7 * 86_400)
    plans = ("data", "warm-plans", "--schedules")
    assert [found["id"] for found in json.loads(atom(*plans, "--json").stdout)] == [str(row.pk)]
    assert "paused" in atom(*plans, str(row.pk), "--pause").output
    assert json.loads(atom(*plans, str(row.pk), "--resume", "--json").stdout)["paused"] is False
    assert atom("data", "warm", ref, *place, "--schedule", "x", "--pin").exception is not None
    assert atom("data", "warm-plans", "--pause").exception is not None
    assert atom(*plans, str(row.pk), "--delete").exception is None
    assert not WarmSchedule.objects.exists()
    version_ref = f"{version.dataset.name}@{version.ref}"
    warmed = atom("data", "warm", version_ref, *place, "--priority", "90", "--keep", "1d")
    assert warmed.exception is None, warmed.exception
    assert atom("cluster", "coverage", "east").exception is None
