"""Requests of runners over HTTP, each with the token of its attempt."""

from __future__ import annotations

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.jobs import states
from tests.factories.jobs import make_attempt, make_run, runner_headers

pytestmark = pytest.mark.django_db


def test_a_runner_token_is_good_for_its_own_attempt_while_it_is_open() -> None:
    attempt = make_attempt()
    api, headers = APIClient(), runner_headers(attempt)
    beat = api.post("/api/v1/runner/heartbeat/", {"phase": "running"}, headers=headers)
    assert beat.json()["cancel"] is False
    assert api.get(f"/api/v1/runs/{attempt.run_id}/", headers=headers).status_code == 401
    attempt.ranks.update(token_hash="")
    answer = api.post("/api/v1/runner/heartbeat/", {}, headers=headers)
    assert (answer.status_code, answer.json()["code"]) == (401, "runner_token_invalid")


def test_a_heartbeat_tells_the_runner_to_stop(api: APIClient, project: Project) -> None:
    attempt = make_attempt(make_run(project))
    api.post(f"/api/v1/runs/{attempt.run_id}/cancel/")
    answer = APIClient().post("/api/v1/runner/heartbeat/", {}, headers=runner_headers(attempt))
    assert answer.json()["cancel"] is True


def test_the_exit_report_settles_the_attempt_once(project: Project) -> None:
    attempt = make_attempt(make_run(project))
    headers = runner_headers(attempt)
    body = {
        "exit_code": 1,
        "signal": None,
        "reason": "exited",
        "evidence": {"traceback": "Traceback\nKeyError: 'x'", "tail": "…"},
    }
    for _ in range(2):
        assert APIClient().post("/api/v1/runner/exit/", body, headers=headers).status_code == 200
    attempt.refresh_from_db()
    assert attempt.state == states.FINALIZING
    assert attempt.failure_class == "USER_CODE"
    assert attempt.run.events.filter(kind="ended").count() == 1
