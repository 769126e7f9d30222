"""Slots are never promised twice, however many workers place at once."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor

import pytest
from django.db import connection

from atom.clusters.actions import ensure_local_node, release, reserve
from atom.clusters.models import Node, Reservation
from atom.core.ids import uuid7
from atom.jobs import states
from atom.jobs.actions import reconcile
from tests.factories.accounts import make_project
from tests.factories.jobs import make_run


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
