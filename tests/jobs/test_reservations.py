"""Slots are never promised twice, however many workers place at once."""

from __future__ import annotations

from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest
from django.db import connection

from atom.clusters import actions as clusters
from atom.clusters.actions import beat_local_node, ensure_local_node, release, reserve
from atom.clusters.engines.machine import probe_machine
from atom.clusters.models import Node, Reservation
from atom.core.ids import uuid7
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.job_spec import job_of
from tests.factories.accounts import make_project
from tests.factories.jobs import make_attempt, make_run


@pytest.mark.django_db(transaction=True)
def test_reservations_made_at_once_never_exceed_the_node() -> None:
    node = ensure_local_node()
    Node.objects.filter(pk=node.pk).update(cpu_count=5, memory_bytes=1000)

    def take(_: int) -> bool:
        try:
            return reserve(node.pk, uuid7(), cpus=2, memory_bytes=100, gpus=0) is not None
        finally:
            connection.close()

    with ThreadPoolExecutor(8) as pool:
        taken = list(pool.map(take, range(24)))
    assert sum(taken) == 2
    assert sum(Reservation.objects.values_list("cpus", flat=True)) == 4
    assert set(Reservation.objects.values_list("slot", flat=True)) == {0, 1}


@pytest.mark.django_db(transaction=True)
@pytest.mark.usefixtures("live")
def test_workers_that_tick_at_once_begin_one_attempt_per_run() -> None:
    node = ensure_local_node()
    project = make_project()
    runs = [make_run(project, command=["true"]) for _ in range(6)]

    def tick(number: int) -> None:
        try:
            for run in runs[number:] + runs[:number]:
                reconcile.advance(run.pk)
        finally:
            connection.close()

    with ThreadPoolExecutor(6) as pool:
        list(pool.map(tick, range(6)))
    placed = [run for run in runs if run.attempts.exists()]
    assert all(run.attempts.count() == 1 for run in placed)
    held = Reservation.objects.filter(node=node)
    assert len(placed) >= held.count()
    assert sum(held.values_list("cpus", flat=True)) <= node.cpu_count


@pytest.mark.django_db
def test_a_reservation_is_repeatable_and_given_back() -> None:
    node, attempt_id = ensure_local_node(), uuid7()
    first = reserve(node.pk, attempt_id, cpus=1, memory_bytes=100, gpus=0)
    again = reserve(node.pk, attempt_id, cpus=1, memory_bytes=100, gpus=0)
    assert first == again
    release(attempt_id)
    release(attempt_id)
    assert not Reservation.objects.exists()


@pytest.mark.django_db
def test_a_run_that_does_not_fit_stays_in_the_queue() -> None:
    node = ensure_local_node()
    reserve(node.pk, uuid7(), cpus=node.cpu_count, memory_bytes=100, gpus=0)
    run = make_run()
    assert reconcile.advance(run.pk) == states.QUEUED
    assert not run.attempts.exists()


@pytest.mark.django_db
def test_each_job_sees_the_gpus_that_it_holds_and_no_others() -> None:
    node = ensure_local_node()
    ids = ["GPU-a", "GPU-b", "GPU-c"]
    Node.objects.filter(pk=node.pk).update(cpu_count=9, gpu_count=3, gpu_ids=ids)
    wanted = (2, 1, 0)
    attempts = [make_attempt(make_run(gpus=gpus, cpus=1)) for gpus in wanted]
    for attempt, gpus in zip(attempts, wanted, strict=True):
        assert reserve(node.pk, attempt.pk, cpus=1, memory_bytes=1, gpus=gpus) is not None
    attempts[0].run.env = {"CUDA_VISIBLE_DEVICES": "GPU-c"}

    seen = [job_of(attempt)["env"]["CUDA_VISIBLE_DEVICES"] for attempt in attempts]

    assert seen == ["GPU-a,GPU-b", "GPU-c", ""]
    assert job_of(attempts[2])["env"]["NVIDIA_VISIBLE_DEVICES"] == "void"
    release(attempts[0].pk)
    again = reserve(node.pk, uuid7(), cpus=1, memory_bytes=1, gpus=1)
    assert again is not None
    assert again.gpu_ids == ["GPU-a"]


def test_gpus_are_what_nvidias_tool_lists(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    tool = tmp_path / "nvidia-smi"
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    tool.write_text("#!/bin/sh\necho 'GPU-1f, NVIDIA H100 80GB HBM3'\necho 'GPU-2e, NVIDIA H100'\n")
    tool.chmod(0o755)
    machine = probe_machine()
    assert (machine.gpu_ids, machine.gpu_model) == (("GPU-1f", "GPU-2e"), "NVIDIA H100 80GB HBM3")
    # Its driver is broken, or gone.
    tool.write_text("#!/bin/sh\necho 'NVIDIA-SMI has failed'\nexit 9\n")
    assert probe_machine().gpu_ids == ()


@pytest.fixture
def nvidia_smi(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Path]:
    """A tool whose driver does not answer yet; this process has not asked it."""
    tool = tmp_path / "nvidia-smi"
    tool.write_text("#!/bin/sh\nexit 9\n")
    tool.chmod(0o755)
    monkeypatch.setenv("PATH", str(tmp_path), prepend=":")
    clusters._probed.cache_clear()
    yield tool
    clusters._probed.cache_clear()


@pytest.mark.django_db
def test_gpus_whose_driver_begins_later_are_found(
    nvidia_smi: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    node = beat_local_node()
    nvidia_smi.write_text("#!/bin/sh\necho 'GPU-1f, NVIDIA H100'\n")
    # Not at each beat: a driver that is broken may take ten seconds to say so.
    beat_local_node()
    node.refresh_from_db()
    assert (node.gpu_count, node.gpu_ids) == (0, [])
    monkeypatch.setattr(clusters, "_ASKED_AGAIN_AFTER_S", 0.0)
    beat_local_node()
    node.refresh_from_db()
    assert (node.gpu_count, node.gpu_ids) == (1, ["GPU-1f"])
