"""`atom cluster profile` and `atom cluster edit` against the real API."""

from __future__ import annotations

import json
from pathlib import Path

import click
import pytest

from atom.accounts.models import User
from atom.clusters.models import Cluster, ClusterProfile, ClusterQuota, RunQueue, StoreRoute
from atom_sdk.cli.cluster_edits import parse_route
from atom_sdk.cli.cluster_profiles import parse_toleration
from atom_sdk.client.errors import ApiError
from tests.clusters.test_clusters_cli import Run, running
from tests.factories.accounts import make_project

pytestmark = pytest.mark.django_db(transaction=True)


@pytest.fixture
def run(live_server: object) -> Run:
    make_project("vision")
    make_project("audio")
    Cluster.objects.create(name="west", kind="kubernetes", server="https://w", namespace="jobs")
    return running(live_server, User.objects.create_user("boss", is_superuser=True))


def test_a_profile_is_shown_changed_part_by_part_and_set_from_a_file(
    run: Run, tmp_path: Path
) -> None:
    assert "priority class: the cluster's default" in run("profile", "west").stdout
    shown = run(
        "profile", "west", "--set", "rdma_resource=rdma/hca", "--set", "NCCL_DEBUG=WARN",
        "--set", "memlock=8g", "--set", "rdma_count=2", "--set", "NCCL_IB_HCA=mlx5=1",
        "--toleration", "gpu=a100:NoSchedule", "--toleration", "team",
    ).stdout  # fmt: skip
    assert "RDMA devices: 2 × rdma/hca" in shown
    assert "RDMA is off: no pod has tried it" in shown
    assert "tolerations: gpu=a100:NoSchedule, team:*" in shown
    assert f"needed memlock: {8 << 30} bytes" in shown
    row = ClusterProfile.objects.get()
    assert row.nccl == {"NCCL_DEBUG": "WARN", "NCCL_IB_HCA": "mlx5=1"}

    run("profile", "west", "--set", "NCCL_DEBUG=", "--set", "memlock=unlimited", "--no-tolerations")
    row.refresh_from_db()
    assert (row.nccl, row.memlock_bytes, row.tolerations) == ({"NCCL_IB_HCA": "mlx5=1"}, None, [])

    kept = tmp_path / "profile.json"
    kept.write_text(run("profile", "west", "--json").stdout)
    run("profile", "west", "--from", "-", typed="{}")
    assert ClusterProfile.objects.get().rdma_resource == ""
    run("profile", "west", "--from", str(kept))
    assert ClusterProfile.objects.get().nccl == {"NCCL_IB_HCA": "mlx5=1"}


def test_images_of_environments_are_pushed_with_credentials_from_a_file(
    run: Run, tmp_path: Path
) -> None:
    config = tmp_path / "config.json"
    config.write_text('{"auths": {"r.example": {"username": "bot", "password": "topsecret"}}}')
    words = ("--set", "image_repository=r.example/envs", "--image-credentials", str(config))
    shown = run("profile", "west", *words).stdout
    assert "images of environments: r.example/envs (with credentials)" in shown
    # Other changes keep them.
    kept = run("profile", "west", "--set", "NCCL_DEBUG=WARN").stdout
    assert "r.example/envs (with credentials)" in kept
    assert "topsecret" not in run("profile", "west", "--json").stdout
    gone = run("profile", "west", "--no-image-credentials").stdout
    assert "r.example/envs (without credentials)" in gone


@pytest.mark.parametrize(
    "words",
    [
        ("--image-credentials", "x", "--no-image-credentials"),
        ("--image-credentials", "/nowhere/config.json"),
        ("--no-image-credentials", "--from", "-"),
        ("--set", "nothing"),
        ("--set", "color=red"),
        ("--set", "rdma_count=two"),
        ("--set", "memlock=much"),
        ("--toleration", "=x:NoSchedule"),
        ("--toleration", "a", "--no-tolerations"),
        ("--from", "none.json"),
        ("--from", "-", "--set", "NCCL_DEBUG=1"),
    ],
)
def test_a_wrong_option_of_a_profile_changes_nothing(run: Run, words: tuple[str, ...]) -> None:
    with pytest.raises(click.UsageError):
        run("profile", "west", *words)
    assert not ClusterProfile.objects.exists()


@pytest.mark.parametrize("typed", ["[]", "{", "\xff", ""])
def test_a_file_that_is_no_object_is_refused(run: Run, typed: str) -> None:
    with pytest.raises(click.BadParameter):
        run("profile", "west", "--from", "-", typed=typed)


def test_the_server_refuses_a_setting_by_its_name(run: Run) -> None:
    with pytest.raises(ApiError) as refused:
        run("profile", "west", "--set", "LD_PRELOAD=x")
    assert "nccl.LD_PRELOAD" in json.dumps(refused.value.errors)


def test_projects_namespace_and_ways_are_edited(run: Run) -> None:
    run("edit", "west", "--namespace", "train", "--project", "vision", "--route",
        "atom=125:0.08:EUR", "--route", "archive=?:0:EUR")  # fmt: skip
    row = Cluster.objects.get(name="west")
    assert (row.namespace, row.all_projects) == ("train", False)
    assert [one.slug for one in row.projects.all()] == ["vision"]
    routes = StoreRoute.objects.order_by("store").values_list("store", "bandwidth_bytes_per_s")
    assert list(routes) == [("archive", None), ("atom", 125_000_000)]
    run("edit", "west", "--all-projects", "--no-routes")
    row.refresh_from_db()
    assert (row.all_projects, row.namespace, StoreRoute.objects.count()) == (True, "train", 0)
    run("edit", "west", "--no-projects")
    row.refresh_from_db()
    assert (row.all_projects, row.projects.count()) == (False, 0)


@pytest.mark.parametrize(
    "words",
    [
        (),
        ("--project", "vision", "--all-projects"),
        ("--route", "atom=1:1:EUR", "--no-routes"),
        ("--route", "atom"),
    ],
)
def test_an_edit_that_says_nothing_or_two_things_is_refused(
    run: Run, words: tuple[str, ...]
) -> None:
    with pytest.raises(click.UsageError):
        run("edit", "west", *words)


def test_taints_and_routes_are_read_as_people_write_them() -> None:
    assert parse_toleration("a/b=c:NoExecute") == {
        "key": "a/b", "operator": "Equal", "value": "c", "effect": "NoExecute",
    }  # fmt: skip
    assert parse_toleration(":NoSchedule")["operator"] == "Exists"
    assert parse_route("s3=0.5:0:USD")["bandwidth_bytes_per_s"] == 500_000


def test_quotas_are_set_from_a_file_and_shown(run: Run, tmp_path: Path) -> None:
    quotas = {
        "every_project": {"cpus": 8, "memory_bytes": 1 << 34},
        "projects": [{"project": "vision", "accelerators": {"nvidia.com/gpu": 4}}],
    }
    shown = run("quotas", "west", "--from", "-", typed=json.dumps(quotas)).stdout
    lines = [line.split() for line in shown.splitlines()]
    assert ["vision", "–", "–", "–", "4", "nvidia.com/gpu"] in lines
    assert ["*", "8", "16.0", "–", "–"] in lines
    kept = tmp_path / "quotas.json"
    kept.write_text(run("quotas", "west", "--json").stdout)
    run("quotas", "west", "--from", "-", typed="{}")
    assert not ClusterQuota.objects.exists()
    run("quotas", "west", "--from", str(kept))
    assert ClusterQuota.objects.count() == 2
    with pytest.raises(click.BadParameter, match="known are every_project"):
        run("quotas", "west", "--from", "-", typed='{"default": {}}')


def test_queues_are_shown_and_replaced_from_a_file(run: Run, tmp_path: Path) -> None:
    assert "Runs use no queue of Kueue there." in run("queues", "west").stdout
    own = {"project": "vision", "cluster_queue": "team-a", "local_queue": "runs"}
    body = {"every_project": {"cluster_queue": "research"}, "projects": [own, {"project": "audio"}]}
    shown = run("queues", "west", "--from", "-", typed=json.dumps(body)).stdout
    assert "not checked yet" in shown
    for word in ("vision", "team-a", "runs", "audio", "research"):
        assert word in shown
    facts = {
        "api_groups": {"kueue": ["v1beta2"]},
        "queues": {
            "gates": False,
            "cluster_queues": {
                "team-a": {"state": "inactive", "reason": "is stopped", "covered": ["cpu"]}
            },
        },
    }
    Cluster.objects.filter(name="west").update(facts=facts)
    shown = run("queues", "west").stdout
    assert "inactive: is stopped" in shown
    assert "older than 0.19" in shown
    kept = tmp_path / "queues.json"
    kept.write_text(run("queues", "west", "--json").stdout)
    run("queues", "west", "--from", "-", typed="{}")
    assert not RunQueue.objects.exists()
    run("queues", "west", "--from", str(kept))
    assert RunQueue.objects.count() == 3
    with pytest.raises(click.BadParameter, match="known are every_project"):
        run("queues", "west", "--from", "-", typed='{"default": {}}')
    assert RunQueue.objects.count() == 3
