"""How far estimates of placements were off, and image times from the last pods of a cluster."""

from __future__ import annotations

from datetime import timedelta
from typing import Any

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.core import clock
from atom.jobs import states
from atom.jobs.executors.kubernetes.engines.start_times import start_times_of
from atom.jobs.health_checks import findings
from atom.jobs.models import Attempt, PlacementDecision
from atom.jobs.runs.actions.calibration import estimate_errors
from tests.factories.jobs import make_run
from tests.jobs.runs.test_placement_preview import ask, by_name, make_cluster

pytestmark = pytest.mark.django_db


def placed(project: Project, start_s: float, run_s: float, **fields: Any) -> None:
    """Record a run that was assumed to start after 100 s and to run for 1000 s."""
    now = clock.now()
    run = make_run(project, state=states.SUCCEEDED)
    started_at = now + timedelta(seconds=start_s)
    attempt = Attempt.objects.create(
        run=run,
        number=1,
        state=states.SUCCEEDED,
        cluster=fields.pop("cluster", None),
        started_at=started_at,
        finished_at=started_at + timedelta(seconds=run_s),
    )
    estimates = {"start_s": {"p50_s": 100.0}, "run_s": {"p50_s": 1000.0}}
    PlacementDecision.objects.create(
        run=run, attempt=attempt, decided_at=now, decided_by="auto", assumed=estimates, **fields
    )


def figures() -> dict[str, dict[str, float | str]]:
    return {one.code: dict(one.figures) for one in findings() if "estimates" in one.code}


def test_the_health_page_tells_the_medians_from_five_runs_on(project: Project) -> None:
    assert estimate_errors() is None
    assert figures() == {}
    for start_s in (100, 110, 120, 130):
        placed(project, start_s, 500)
    assert figures() == {"placement_estimates_unknown": {"runs": 4}}
    placed(project, 500, 500)
    assert figures() == {"placement_estimates": {"runs": 5, "start": 1.2, "run": 0.5}}


def test_estimates_of_nothing_and_absent_ones_do_not_count(project: Project) -> None:
    for _ in range(5):
        placed(project, 100, 100)
    PlacementDecision.objects.update(assumed=None)
    assert figures() == {"placement_estimates_unknown": {"runs": 0}}
    PlacementDecision.objects.update(assumed={"start_s": {"p50_s": 0.0}, "run_s": {"p50_s": None}})
    assert figures() == {"placement_estimates_unknown": {"runs": 0}}


def test_the_time_for_the_image_is_that_of_the_last_pods_from_five_on(
    api: APIClient, project: Project, settings: Any
) -> None:
    settings.ATOM_IMAGE_FETCH_S = 60
    cluster = make_cluster("a", "2")
    for image_s in (3, 5, 7, 9):
        placed(project, 1, 1, cluster=cluster, image_s=image_s)
    assert by_name(ask(api))["a"]["parts"]["image_s"] == 60
    placed(project, 1, 1, cluster=cluster, image_s=300)
    assert by_name(ask(api))["a"]["parts"]["image_s"] == 7
    placed(project, 1, 1, cluster=make_cluster("b", "9"), image_s=1000)
    assert by_name(ask(api))["b"]["parts"]["image_s"] == 60


def pod(scheduled: str, started: str) -> dict[str, Any]:
    condition = {"type": "PodScheduled", "status": "True", "lastTransitionTime": scheduled}
    state = {"running": {"startedAt": started}} if started else {"waiting": {}}
    return {
        "status": {
            "conditions": [condition] if scheduled else [],
            "containerStatuses": [{"name": "main", "state": state}],
        }
    }


def test_a_start_is_known_once_the_last_pod_has_it() -> None:
    first = pod("2026-01-01T00:00:00Z", "2026-01-01T00:01:00Z")
    last = pod("2026-01-01T00:00:10Z", "2026-01-01T00:00:40Z")
    times = start_times_of({"pods": [first, last]})
    assert str(times.scheduled_at) == "2026-01-01 00:00:10+00:00"
    assert str(times.pulled_at) == "2026-01-01 00:01:00+00:00"
    assert start_times_of({"pods": [first, pod("", "")]}).scheduled_at is None
    hostile: list[Any] = [{}, {"pods": None}, {"pods": [None, 3]}, {"pods": [{"status": []}]}]
    for observed in hostile:
        assert start_times_of(observed).pulled_at is None
