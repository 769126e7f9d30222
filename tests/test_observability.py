"""The installation's report of itself: /metrics, and the health of its parts."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest
from django.test import Client
from prometheus_client.parser import text_string_to_metric_families

from atom.accounts.actions import create_token
from atom.clusters.actions import ensure_local_node
from atom.clusters.models import Cluster, Node
from atom.core import heartbeats, metrics, redis, task_counts
from atom.core.clock import now
from atom.datasets.models import Pack
from atom.jobs import states
from atom.jobs.models import Attempt
from atom.settings.environment import BASE_DIR
from tests.factories.accounts import make_member, make_project, make_user
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db

Samples = dict[tuple[str, frozenset[tuple[str, str]]], float]
Scrape = Callable[[], Samples]
HEALTH = "/api/v1/health/"
TOKEN = "scrape-me"


@pytest.fixture
def scrape(client: Client, settings: Any) -> Scrape:
    settings.ATOM_METRICS_TOKEN = TOKEN

    def get() -> Samples:
        answer = client.get("/metrics", headers={"Authorization": f"Bearer {TOKEN}"})
        assert answer.status_code == 200
        assert answer["Content-Type"].startswith("text/plain")
        families = text_string_to_metric_families(answer.content.decode())
        return {
            (sample.name, frozenset(sample.labels.items())): sample.value
            for family in families
            for sample in family.samples
        }

    return get


@pytest.fixture
def administrators(client: Client) -> Client:
    client.force_login(make_user(is_superuser=True))
    return client


def key(name: str, **labels: str) -> tuple[str, frozenset[tuple[str, str]]]:
    return name, frozenset(labels.items())


def finding(client: Client, code: str) -> dict[str, Any] | None:
    answer = client.get(HEALTH)
    assert answer.status_code == 200, answer.content
    return next((one for one in answer.json()["findings"] if one["code"] == code), None)


# --- figures ------------------------------------------------------------------------------------


def test_figures_of_every_part_are_there(scrape: Scrape) -> None:
    make_run(make_project())
    seen = scrape()
    failed = {dict(labels)["part"]: v for (n, labels), v in seen.items() if n.endswith("s_failed")}
    above = {"labeling", "notifications", "webhooks"}
    parts = {"accounts", "clusters", "datasets", "cache", "jobs", *above}
    assert failed == dict.fromkeys(parts | {"installation"}, 0.0)
    assert seen[key("atom_runs", state="queued")] == 1
    assert seen[key("atom_datasets")] == 0
    assert seen[key("atom_disk_free_bytes")] > 0


def test_one_part_that_fails_hides_no_other(
    scrape: Scrape, monkeypatch: pytest.MonkeyPatch
) -> None:
    # Fail one query, as PostgreSQL might.
    monkeypatch.setattr(Node.objects, "select_related", _broken)
    seen = scrape()
    assert seen[key("atom_figures_failed", part="clusters")] == 1
    assert key("atom_projects") in seen


def _broken(*_: Any) -> None:
    raise ConnectionError("the connection was lost")


def test_a_request_is_counted_under_its_route_and_not_its_address(
    client: Client, scrape: Scrape
) -> None:
    project = make_project()
    client.force_login(make_member(project, "viewer"))
    route = "api/v1/projects/<str:project>/overview/"
    counted = key("atom_http_request_seconds_count", method="GET", route=route, status="2xx")
    before = scrape().get(counted, 0)
    client.get(f"/api/v1/projects/{project.slug}/overview/")
    client.generic("BREW", "/api/v1/nowhere/at/all/")
    seen = scrape()
    assert seen[counted] == before + 1
    assert not any(project.slug in str(labels) or "nowhere" in str(labels) for _, labels in seen)
    assert any(("method", "unknown") in labels for _, labels in seen)


def test_tasks_are_counted_over_all_workers(scrape: Scrape) -> None:
    task_counts.count("jobs.tick", task_counts.DONE, 0.25)
    task_counts.count("jobs.tick", task_counts.FAILED, 0.5)
    seen = scrape()
    assert seen[key("atom_tasks_total", task="jobs.tick", ended="done")] == 1
    assert seen[key("atom_tasks_total", task="jobs.tick", ended="failed")] == 1
    assert seen[key("atom_task_seconds_total", task="jobs.tick")] == 0.75


@pytest.mark.parametrize("sent", ["", "Bearer wrong", "Bearer ", "Basic eDp5"])
def test_nobody_else_reads_the_figures(client: Client, settings: Any, sent: str) -> None:
    settings.ATOM_METRICS_TOKEN = TOKEN
    assert client.get("/metrics", headers={"Authorization": sent}).status_code == 401
    client.force_login(make_member(make_project(), "admin"))
    assert client.get("/metrics").status_code == 404


def test_without_a_token_of_its_own_an_empty_one_opens_nothing(settings: Any) -> None:
    settings.ATOM_METRICS_TOKEN = ""
    assert not metrics.may_scrape("Bearer ")


def test_an_administrators_token_reads_the_figures_too(client: Client) -> None:
    token = create_token(make_user(is_superuser=True), "look", ["admin"]).secret
    answer = client.get("/metrics", headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 200


@pytest.mark.parametrize(
    "path", ["deploy/grafana/atom.json", "deploy/prometheus/alerts.yml", "docs/observability.md"]
)
def test_what_is_drawn_and_alerted_on_exists(path: str, scrape: Scrape) -> None:
    code = "".join(
        source.read_text()
        for source in (BASE_DIR / "atom").rglob("*.py")
        if source.name in {"health_checks.py", "metrics.py", "task_counts.py", "observability.py"}
    )
    named = set(re.findall(r"\batom_[a-z_]+[a-z]", (BASE_DIR / path).read_text()))
    assert named
    # The suffixes that Prometheus' formats add to a name.
    bare = {re.sub(r"_(bucket|count|sum|total)$", "", name) for name in named}
    assert {name for name in bare if f'"{name}"' not in code} == set()


# --- health -------------------------------------------------------------------------------------


def test_services_that_answer_are_well(administrators: Client) -> None:
    for name in ("postgresql", "valkey", "object_store", "clock"):
        found = finding(administrators, name)
        assert found is not None
        assert found["level"] == "ok"


def test_what_gives_no_sign_is_a_problem_until_it_does(administrators: Client) -> None:
    silent = finding(administrators, "worker_silent")
    assert silent is not None
    assert silent["level"] == "problem"
    assert administrators.get(HEALTH).json()["level"] == "problem"
    heartbeats.give_sign(heartbeats.WORKER)
    assert finding(administrators, "worker_silent") is None
    assert finding(administrators, "worker") is not None
    assert finding(administrators, "beat_silent") is not None


def test_an_old_sign_is_no_sign(administrators: Client) -> None:
    heartbeats.give_sign(heartbeats.BEAT)
    member: Any = redis.client().zrange("heartbeats", 0, -1)[0]
    redis.client().zincrby("heartbeats", -heartbeats.SILENT_AFTER_S - 1, member)
    assert finding(administrators, "beat_silent") is not None


def test_a_long_queue_is_told_whatever_the_priority(administrators: Client) -> None:
    redis.client().rpush("tasks:celery", *range(600))
    redis.client().rpush("tasks:celery\x06\x169", *range(500))
    found = finding(administrators, "queue_long")
    assert found is not None
    assert found["figures"]["waiting"] == 1100


def test_a_cluster_that_does_not_answer_is_named_with_its_last_sign(
    administrators: Client,
) -> None:
    assert finding(administrators, "clusters") is None
    named = {"kind": "kubernetes", "server": "https://k8s.example"}
    Cluster.objects.create(name="east", heartbeat_at=now(), **named)
    assert (finding(administrators, "clusters") or {})["figures"] == {"total": 1}
    last = datetime(2026, 11, 27, 9, 30, tzinfo=UTC)
    away = {"problem_code": "cluster_unreachable", **named}
    Cluster.objects.create(name="west", state="unreachable", heartbeat_at=last, **away)
    # A drained cluster keeps that state while it does not answer.
    Cluster.objects.create(name="north", state="draining", **away)
    Cluster.objects.create(name="gone", state="removed", **away)
    found = finding(administrators, "clusters_unreachable")
    assert found is not None
    assert found["level"] == "warning"
    names = "north (–), west (2026-11-27 09:30 UTC)"
    assert found["figures"] == {"away": 2, "total": 3, "names": names}
    assert "go on" in found["action"]
    assert finding(administrators, "clusters") is None


def test_a_silent_node_is_named(administrators: Client) -> None:
    node = ensure_local_node()
    Node.objects.filter(pk=node.pk).update(heartbeat_at=now() - timedelta(minutes=5))
    found = finding(administrators, "nodes_silent")
    assert found is not None
    assert (found["level"], found["figures"]["names"]) == ("problem", node.name)


def test_an_attempt_that_does_not_begin_is_told(administrators: Client) -> None:
    make_attempt(state=states.SUBMITTED)
    assert finding(administrators, "runs_stuck") is None
    Attempt.objects.update(updated_at=now() - timedelta(minutes=11))
    found = finding(administrators, "runs_stuck")
    assert found is not None
    assert found["figures"] == {"total": 1}


def test_a_damaged_pack_is_told(administrators: Client) -> None:
    Pack.objects.create(project=make_project(), digest="0" * 64, size_bytes=1, state="quarantined")
    found = finding(administrators, "packs_quarantined")
    assert found is not None
    assert found["level"] == "problem"


def test_only_administrators_of_the_installation_see_the_health(client: Client) -> None:
    assert client.get(HEALTH).status_code == 401
    client.force_login(make_member(make_project(), "admin"))
    assert client.get(HEALTH).status_code == 404
