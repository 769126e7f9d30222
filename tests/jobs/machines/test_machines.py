"""Machines: what is free, who is on them, and keeping new runs off them."""

from __future__ import annotations

from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from django.db import connection
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from rest_framework.test import APIClient

from atom.accounts.models import AuditEvent, Project
from atom.clusters.actions import beat_local_node, ensure_local_node, reserve
from atom.clusters.engines.machine import Gpu, parse_gpus, probe_machine
from atom.clusters.models import Node
from atom.jobs.scheduling.actions.capacities import capacities
from atom.jobs.scheduling.engines.placement import Demand, place
from tests.factories.accounts import make_project, make_user
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db
URL = "/api/v1/machines/"


def only_machine(client: APIClient) -> Any:
    answer = client.get(URL)
    assert answer.status_code == 200, answer.json()
    [row] = answer.json()["results"]
    return row


@pytest.fixture
def admin() -> APIClient:
    client = APIClient()
    client.force_authenticate(make_user("root", is_superuser=True))
    return client


def hold(project: Project, **slots: int) -> None:
    attempt = make_attempt(make_run(project))
    asked = {"cpus": 1, "memory_bytes": 1 << 20, "gpus": 0, **slots}
    assert reserve(ensure_local_node().pk, attempt.pk, **asked)


def test_runs_are_named_where_one_may_see_them_and_counted_elsewhere(
    api: APIClient, admin: APIClient, project: Project
) -> None:
    beat_local_node()
    Node.objects.update(cpu_count=8, gpu_count=1, gpu_ids=["GPU-a"], gpu_memory_bytes=[80 << 30])
    hold(project, cpus=2)
    hold(make_project("secret"), cpus=3, gpus=1)

    seen = only_machine(api)

    assert [(run["project"], run["cpus"]) for run in seen["runs"]] == [(project.slug, 2)]
    assert seen["elsewhere"] == {"runs": 1, "cpus": 3, "memory_bytes": 1 << 20, "gpus": 1}
    assert (seen["cpus"], seen["used"]["cpus"]) == (8, 5)
    assert seen["gpus"] == [{"id": "GPU-a", "memory_bytes": 80 << 30}]
    assert (seen["state"], seen["cordon"]) == ("ready", None)
    assert 0 < seen["disk_free_bytes"] < seen["disk_total_bytes"]
    assert "secret" not in str(seen)
    assert {run["project"] for run in only_machine(admin)["runs"]} == {project.slug, "secret"}


def test_more_runs_cost_no_more_queries(api: APIClient, project: Project) -> None:
    beat_local_node()
    Node.objects.update(cpu_count=30)
    hold(project)
    with CaptureQueriesContext(connection) as one:
        only_machine(api)
    for _ in range(5):
        hold(project)
    with CaptureQueriesContext(connection) as many:
        assert len(only_machine(api)["runs"]) == 6
    assert len(many) == len(one)


def test_a_cordoned_machine_keeps_its_runs_and_gets_no_new_ones(
    api: APIClient, admin: APIClient, project: Project
) -> None:
    node = beat_local_node()
    hold(project)
    address = f"{URL}{node.pk}/cordon/"

    assert api.put(address, {"reason": "mine"}, format="json").status_code == 404
    assert admin.put(address, {"reason": ""}, format="json").status_code == 400
    assert admin.put(address, {"reason": "new disk on Friday"}, format="json").status_code == 200
    beat_local_node()

    seen = only_machine(api)
    assert (seen["state"], len(seen["runs"])) == ("cordoned", 1)
    assert seen["cordon"]["reason"] == "new disk on Friday"
    assert (seen["cordon"]["by"], seen["since"]) == ("root", seen["cordon"]["at"])
    assert place(capacities(), Demand(1, 1, 0)).node is None
    attempt = make_attempt(make_run(project))
    assert reserve(node.pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0) is None

    assert admin.delete(address).status_code == 200
    assert (only_machine(api)["state"], only_machine(api)["cordon"]) == ("ready", None)
    placed = place(capacities(), Demand(1, 1, 0)).node
    assert placed is not None
    assert placed.id == node.pk
    verbs = AuditEvent.objects.filter(verb__startswith="machine.").values_list("verb", flat=True)
    assert sorted(verbs) == ["machine.cordoned", "machine.uncordoned"]


def test_a_silent_machine_says_since_when_and_is_ready_anew(api: APIClient) -> None:
    beat_local_node()
    first = only_machine(api)["since"]
    long_ago = timezone.now() - timedelta(hours=1)
    Node.objects.update(heartbeat_at=long_ago, ready_since=long_ago)

    silent = only_machine(api)
    assert (silent["state"], silent["since"]) == ("silent", silent["heartbeat_at"])

    beat_local_node()
    again = only_machine(api)
    assert again["state"] == "ready"
    assert again["since"] >= first


def test_an_unknown_machine_is_a_clear_404(admin: APIClient, project: Project) -> None:
    answer = admin.put(f"{URL}{project.pk}/cordon/", {"reason": "x"}, format="json")
    assert (answer.status_code, answer.json()["code"]) == (404, "machine_not_found")


def test_memory_of_gpus_is_read_from_nvidias_tool(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tool = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    tool.write_text("#!/bin/sh\necho 'GPU-1f, NVIDIA H100 80GB HBM3, 81559'\n")
    tool.chmod(0o755)
    assert probe_machine().gpu_memory_bytes == (81559 << 20,)


A100, T4 = "NVIDIA A100-SXM4-80GB", "Tesla T4"


@pytest.mark.parametrize(
    ("table", "expected"),
    [
        ("", []),
        (f"GPU-a, {A100}, 81920\nGPU-b, {T4}, 15360\n", [("a", A100, 81920), ("b", T4, 15360)]),
        # A card that does not tell its memory keeps its place before the others.
        (f"GPU-a, GB10, [N/A]\nGPU-b, {T4}, 15360", [("a", "GB10", 0), ("b", T4, 15360)]),
        (f"GPU-a, {T4}, [Not Supported]", [("a", T4, 0)]),
        (f"GPU-a, {T4}, 15360 MiB", [("a", T4, 15360)]),
        (f"GPU-a, {T4}", [("a", T4, 0)]),
        ("GPU-a, Quadro RTX 6000, 8000, 24576", [("a", "Quadro RTX 6000, 8000", 24576)]),
        # One in the middle is lost.
        (
            f"GPU-a, {A100}, 81920\n{', '.join(['[GPU is lost]'] * 3)}\nGPU-c, {T4}, 15360",
            [("a", A100, 81920), ("c", T4, 15360)],
        ),
        (
            "Unable to determine the device handle for GPU1: 0000:0B:00.0: Unknown Error\n"
            f"GPU-c, {T4}, 15360",
            [("c", T4, 15360)],
        ),
        # Parts of a card are no cards of their own.
        (
            f"GPU-a, {A100}, 81920\nMIG-1f, {A100} MIG 1g.10gb, 9728\nGPU-b, {T4}, 15360",
            [("a", A100, 81920), ("b", T4, 15360)],
        ),
        ("No devices were found", []),
    ],
)
def test_each_card_has_its_own_memory(table: str, expected: list[tuple[str, str, int]]) -> None:
    cards = [Gpu(f"GPU-{name}", model, mib << 20) for name, model, mib in expected]
    assert parse_gpus(table) == cards


@pytest.mark.parametrize(
    ("memory", "shown"),
    [
        ([10, 20, 30], [10, 20, 30]),
        ([0, 20, 30], [None, 20, 30]),
        # As an older probe kept it: which of the three told nothing is not known.
        ([20, 30], [None, None, None]),
        ([], [None, None, None]),
    ],
)
def test_the_page_shows_memory_beside_the_card_that_has_it(
    api: APIClient, project: Project, memory: list[int], shown: list[int | None]
) -> None:
    Node.objects.update(gpu_count=3, gpu_ids=["GPU-a", "GPU-b", "GPU-c"], gpu_memory_bytes=memory)
    gpus = only_machine(api)["gpus"]
    assert [one["memory_bytes"] for one in gpus] == shown
    assert [one["id"] for one in gpus] == ["GPU-a", "GPU-b", "GPU-c"]


def test_a_run_holds_cards_by_their_uuid_also_when_one_before_them_goes(
    api: APIClient, project: Project
) -> None:
    ids = ["GPU-a", "GPU-b", "GPU-c"]
    Node.objects.update(cpu_count=8, gpu_count=3, gpu_ids=ids, gpu_memory_bytes=[10, 20, 30])
    node = Node.objects.get()
    runs = [make_run(project) for _ in range(2)]
    for run in runs:
        reserve(node.pk, make_attempt(run).pk, cpus=1, memory_bytes=1, gpus=1)
    # The first card is lost: the others keep their memory and their runs.
    Node.objects.update(gpu_count=2, gpu_ids=ids[1:], gpu_memory_bytes=[20, 30])
    seen = only_machine(api)
    assert [(one["id"], one["memory_bytes"]) for one in seen["gpus"]] == [
        ("GPU-b", 20),
        ("GPU-c", 30),
    ]
    assert sorted(run["gpu_ids"] for run in seen["runs"]) == [["GPU-a"], ["GPU-b"]]
