"""Quotas of a cluster: what is kept, who sees it, and which runs are refused by it."""

from __future__ import annotations

from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project, User
from atom.clusters.models import Cluster, ClusterQuota
from atom.clusters.quotas.actions.quotas import quota_of
from atom.clusters.quotas.engines.limits import PodDemand, QuotaLimits, exceeds
from atom.jobs.executors import environments_in
from tests.factories.accounts import make_member, make_project

pytestmark = pytest.mark.django_db

Json = dict[str, Any]
ADDRESS = "/api/v1/clusters/west/quotas/"
GPU = "nvidia.com/gpu"
EMPTY: Json = {"cpus": None, "memory_bytes": None, "pods": None, "accelerators": {}}


@pytest.fixture
def west(committing_db: None) -> Cluster:
    return Cluster.objects.create(
        name="west", kind="kubernetes", server="https://w", namespace="jobs", state="ready"
    )


@pytest.fixture
def vision(west: Cluster) -> Project:
    return make_project("vision")


@pytest.fixture
def api(west: Cluster, monkeypatch: pytest.MonkeyPatch) -> APIClient:
    monkeypatch.setattr("celery.app.task.Task.apply_async", lambda *_, **__: None)
    client = APIClient()
    client.force_authenticate(User.objects.create_user("boss", is_superuser=True))
    return client


def put(api: APIClient, common: Json | None, *projects: Json) -> Any:
    return api.put(ADDRESS, {"every_project": common, "projects": projects}, format="json")


def test_a_project_has_its_own_quota_in_place_of_the_one_for_all(
    api: APIClient, west: Cluster, vision: Project
) -> None:
    assert api.get(ADDRESS).json() == {"every_project": None, "projects": [], "used": []}
    assert quota_of(west, "vision").hard() == {}
    shown = put(
        api, {"cpus": 8, "accelerators": {GPU: 2}}, {"project": "vision", "memory_bytes": 1 << 34}
    ).json()
    assert shown == api.get(ADDRESS).json()
    assert shown["every_project"] == {**EMPTY, "cpus": 8, "accelerators": {GPU: 2}}
    assert quota_of(west, "audio").hard() == {"limits.cpu": "8", f"requests.{GPU}": "2"}
    assert quota_of(west, "vision").hard() == {"limits.memory": str(1 << 34)}
    # A quota of its own without limits frees a project of the one for all.
    put(api, {"cpus": 8}, {"project": "vision"})
    assert quota_of(west, "vision") == QuotaLimits()
    put(api, None)
    assert not ClusterQuota.objects.exists()
    assert AuditEvent.objects.filter(verb="cluster.quotas_changed").count() == 3


@pytest.mark.parametrize(
    ("common", "projects", "field"),
    [
        ({"cpus": 0}, [], "every_project.cpus"),
        ({"cpus": True}, [], "every_project.cpus"),
        ({"pods": 1 << 40}, [], "every_project.pods"),
        ({"memory_bytes": 1}, [], "every_project.memory_bytes"),
        ({"accelerators": {"gpu": 1}}, [], "every_project.accelerators.gpu"),
        ({"accelerators": {"": 1}}, [], "every_project.accelerators."),
        ({"accelerators": {GPU: -1}}, [], f"every_project.accelerators.{GPU}"),
        ({"accelerators": []}, [], "every_project.accelerators"),
        ({"gpus": 1}, [], "every_project.gpus"),
        (None, [{"project": "none"}], "projects.0.project"),
        (None, [{}], "projects.0.project"),
        (None, [{"project": "vision"}, {"project": "vision"}], "projects"),
    ],
)
def test_a_wrong_quota_is_refused_at_its_field(
    api: APIClient, vision: Project, common: Any, projects: list[Json], field: str
) -> None:
    answer = put(api, common, *projects)
    assert answer.status_code == 400, answer.content
    assert field in answer.json()["errors"]
    assert not ClusterQuota.objects.exists()


def test_members_see_the_quotas_of_their_own_projects_and_write_none(
    api: APIClient, vision: Project
) -> None:
    make_project("audio")
    put(api, {"cpus": 8}, {"project": "vision", "pods": 1}, {"project": "audio", "pods": 2})
    member = APIClient()
    member.force_authenticate(make_member(vision, "admin"))
    shown = member.get(ADDRESS).json()
    assert shown["every_project"]["cpus"] == 8
    assert [one["project"] for one in shown["projects"]] == ["vision"]
    assert member.put(ADDRESS, {}, format="json").status_code == 404
    assert [one["project"] for one in api.get(ADDRESS).json()["projects"]] == ["audio", "vision"]


def test_a_run_that_is_larger_than_its_quota_is_refused_before_it_is_queued(
    api: APIClient, west: Cluster, vision: Project
) -> None:
    node = west.nodes.create(name="n1", cpu_count=64, memory_bytes=1 << 38, gpu_count=8)
    type(node).objects.update(ready_since="2026-01-01T00:00:00Z")
    node.accelerators.create(kind=GPU, count=8, resource=GPU)
    put(api, {"cpus": 4, "accelerators": {GPU: 1}})
    body = {"command": ["true"], "cluster": "west", "resources": {"cpus": 8, "gpus": 2}}
    refused = api.post("/api/v1/projects/vision/runs/", {"name": "r", **body}, format="json")
    assert refused.json()["code"] == "resources_never_fit", refused.content
    codes = refused.json()["error_codes"]
    assert codes["resources.cpus"][0]["code"] == "clusters.quota_cpus"
    assert codes["resources.gpus"][0]["params"] == {"count": 1, "resource": GPU}
    forecast = api.post(
        "/api/v1/projects/vision/runs/preview/", {"name": "r", **body}, format="json"
    )
    assert forecast.json()["outlook"] == "never_fits"
    assert "quota" in forecast.json()["placement"]["why"]
    choices = api.get("/api/v1/projects/vision/cluster-choices/", {"cpus": 8}).json()["results"]
    (row,) = [one for one in choices if one["name"] == "west"]
    assert (row["fits"], row["reason"]["code"]) == ("never", "clusters.quota_cpus")
    body["resources"] = {"cpus": 4, "gpus": 1}
    taken = api.post("/api/v1/projects/vision/runs/preview/", {"name": "r", **body}, format="json")
    assert taken.json()["valid"], taken.json()


def test_a_run_whose_environment_can_never_be_built_is_refused(
    api: APIClient, west: Cluster, vision: Project
) -> None:
    node = west.nodes.create(name="n1", cpu_count=64, memory_bytes=1 << 38)
    type(node).objects.update(ready_since="2026-01-01T00:00:00Z")
    put(api, {"memory_bytes": 2 << 30})
    address = "/api/v1/projects/vision/runs/"
    body: Json = {
        "name": "r",
        "command": ["true"],
        "cluster": "west",
        "requirements": "six==1.17.0",
    }
    body["resources"] = {"cpus": 1, "memory_bytes": 1 << 30}
    refused = api.post(address, body, format="json").json()
    assert refused["code"] == "resources_never_fit", refused
    (why,) = refused["error_codes"]["cluster"]
    assert (why["code"], why["params"]) == (
        "clusters.quota_build",
        {"cluster": "west", "cpus": "1", "gib": "4"},
    )
    forecast = api.post(f"{address}preview/", body, format="json").json()
    assert (forecast["valid"], forecast["outlook"]) == (False, "never_fits")
    assert "built in west first" in forecast["placement"]["why"]
    assert not vision.runs.exists()
    # Without a build, or with a quota that has room for it, the run is taken.
    assert api.post(address, {**body, "requirements": ""}, format="json").status_code == 201
    runtime = environments_in(west).ensure(body["requirements"], "", vision)
    assert runtime is not None
    type(runtime).objects.update(state="ready", archive_key="environments/x")
    assert api.post(f"{address}preview/", body, format="json").json()["valid"]
    type(runtime).objects.update(state="pending", archive_key="")
    put(api, {"memory_bytes": 4 << 30, "cpus": 1})
    assert api.post(address, body, format="json").status_code == 201


def test_each_limit_refuses_alone() -> None:
    demand = PodDemand(2, 2 << 30, {GPU: 2})
    assert exceeds(QuotaLimits(), demand) == {}
    assert exceeds(QuotaLimits(2, 2 << 30, 1, {GPU: 2, "amd.com/gpu": 0}), demand) == {}
    assert list(exceeds(QuotaLimits(memory_bytes=1 << 30), demand)) == ["resources.memory_bytes"]
    assert list(exceeds(QuotaLimits(accelerators={GPU: 0}), demand)) == ["resources.gpus"]
