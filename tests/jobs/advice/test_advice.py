"""Advice after a run: bound by its data or not, why, and what to do."""

from __future__ import annotations

from typing import Any

import pytest
from django.test import Client

from atom.jobs import states
from atom.jobs.advice.engines.advice import FindingCode, Measured, advise
from atom.jobs.metrics.actions.metrics import ingest
from atom.jobs.models import Run
from tests.factories.accounts import make_member
from tests.factories.datasets import make_dataset, make_version
from tests.factories.jobs import make_attempt, make_run

C = FindingCode
MIB = 1 << 20


def long(*fields: Any, **named: Any) -> Measured:
    """Measures of a run that was long enough for a verdict."""
    return Measured(*fields, **{"measured_s": 600.0, "batches": 4000, **named})


@pytest.mark.parametrize(
    ("measured", "expected"),
    [
        (long(cpus=2), [C.UNMEASURED]),
        (long(cpus=2, wait_share=0.98, cores_used=1.9, measured_s=1.5), [C.TOO_SHORT]),
        (long(cpus=2, wait_share=0.98, cores_used=1.9, measured_s=29.9), [C.TOO_SHORT]),
        (long(cpus=2, wait_share=0.98, cores_used=1.9, batches=19), [C.TOO_SHORT]),
        (long(cpus=2, wait_share=0.02, cores_used=1.9, measured_s=1.5), [C.TOO_SHORT]),
        (
            long(cpus=2, wait_share=0.98, cores_used=1.9, measured_s=30.0, batches=20),
            [C.BOUND, C.TOO_FEW_CPUS],
        ),
        # Batches that nobody counted.
        (
            long(cpus=2, wait_share=0.98, cores_used=1.9, batches=None),
            [C.BOUND, C.TOO_FEW_CPUS],
        ),
        (long(cpus=2, wait_share=0.02, cores_used=2.0), [C.NOT_BOUND]),
        (long(cpus=2, wait_share=0.6, cores_used=1.9), [C.BOUND, C.TOO_FEW_CPUS]),
        (long(cpus=1, wait_share=0.6, cores_used=1.0), [C.BOUND, C.TOO_FEW_CPUS]),
        (long(cpus=8, wait_share=0.6, cores_used=1.05), [C.BOUND, C.SLOW_DECODE]),
        (
            long(cpus=4, wait_share=0.8, cores_used=0.3, disk_read_bytes_s=200 * MIB),
            [C.BOUND, C.COLD_CACHE],
        ),
        (
            long(cpus=4, wait_share=0.4, cores_used=0.2, mean_file_bytes=800),
            [C.BOUND, C.SMALL_FILES],
        ),
        (
            long(4, 0.4, 3.9, 50 * MIB, 100),
            [C.BOUND, C.TOO_FEW_CPUS, C.COLD_CACHE, C.SMALL_FILES],
        ),
        (
            long(cpus=4, wait_share=0.4, cores_used=0.2, is_streamed=True),
            [C.BOUND, C.STREAMED],
        ),
        (
            long(cpus=4, wait_share=0.4, cores_used=0.2, mean_file_bytes=MIB),
            [C.BOUND, C.UNEXPLAINED],
        ),
    ],
)
def test_the_findings_follow_from_what_was_measured(
    measured: Measured, expected: list[FindingCode]
) -> None:
    found = advise(measured)
    assert [one.code for one in found] == expected
    assert all(one.action for one in found if one.code not in {C.NOT_BOUND, C.BOUND})


def test_what_to_press_names_numbers_of_the_run() -> None:
    assert advise(long(2, 0.6, 1.9))[1].action == "Run it again with 4 CPUs."
    assert "num_workers=7" in advise(long(8, 0.6, 1.0))[1].action


def measured_run(
    wait: list[float], cpu: list[float], every_s: int = 20, batches: int = 400, **fields: Any
) -> Run:
    """Return an ended run of four small files, with a point of each metric in so many seconds."""
    run = make_run(**fields)
    version = make_version(make_dataset(run.project), {f"{n}.png": None for n in range(4)})
    run.inputs.create(alias="data", version=version)
    attempt = make_attempt(run, state=states.SUCCEEDED)
    rows = [
        (key, every_s * place, 1000 * every_s * place, value)
        for key, values in (
            ("system/data_wait_percent", wait),
            ("system/cpu_percent", cpu),
            # As many batches lie before each point.
            ("system/data_batches", [batches * n / len(wait) for n in range(1, len(wait) + 1)]),
        )
        for place, value in enumerate(values)
    ]
    if rows:
        ingest(attempt, 0, rows)
    return run


def shown_advice(client: Client, run: Run) -> list[dict[str, Any]]:
    """Return the answer of the API to a viewer."""
    client.force_login(make_member(run.project))
    answer = client.get(f"/api/v1/runs/{run.pk}/advice/")
    assert answer.status_code == 200
    return list(answer.json())


@pytest.mark.django_db
def test_a_run_is_judged_by_the_points_that_it_sent(client: Client) -> None:
    found = shown_advice(client, measured_run([70.0, 60.0, 80.0], [195.0, 190.0, 200.0], cpus=2))
    assert [one["code"] for one in found] == ["bound", "too_few_cpus", "small_files"]
    assert found[0]["text"] == "It was bound by its data: it waited 70 % of the time."
    assert found[1]["params"] == {"cpus": 2, "used": 1.9, "more": 4}


@pytest.mark.django_db
@pytest.mark.parametrize(("every_s", "batches"), [(1, 400), (20, 19)])
def test_a_run_that_was_short_is_not_judged(client: Client, every_s: int, batches: int) -> None:
    run = measured_run([98.0] * 3, [195.0] * 3, every_s, batches, cpus=2)
    (found,) = shown_advice(client, run)
    assert found["code"] == "too_short"
    assert found["text"] == "Not enough data: needs 30 s and 20 batches."
    assert found["params"] == {"seconds": 30, "batches": 20}


@pytest.mark.django_db
def test_a_point_counts_for_the_time_since_the_one_before(client: Client) -> None:
    run = make_run(cpus=2)
    points = [(0, 0, 100.0), (1, 100, 100.0), (2, 60_000, 0.0)]
    rows = [("system/data_wait_percent", step, ts_ms, value) for step, ts_ms, value in points]
    ingest(make_attempt(run, state=states.SUCCEEDED), 0, rows)
    assert [one["code"] for one in shown_advice(client, run)] == ["not_bound"]


@pytest.mark.django_db
def test_a_run_that_measured_nothing_is_told_how(client: Client) -> None:
    found = shown_advice(client, measured_run([], []))
    assert [one["code"] for one in found] == ["unmeasured"]
    assert "track" in found[0]["action"]
