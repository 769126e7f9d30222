"""An attempt of several ranks: each has a token, a heartbeat and an exit of its own."""

from __future__ import annotations

from datetime import timedelta

import pytest
from rest_framework.test import APIClient

from atom.accounts.models import Project
from atom.clusters.actions import ensure_local_node, release, reserve
from atom.clusters.models import Reservation
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.executors.base import Observation, RankObservation
from atom.jobs.failures.engines.failures import ExitReport
from atom.jobs.models import Attempt, Rank
from tests.factories.jobs import make_attempt, make_run

pytestmark = pytest.mark.django_db
DONE = ExitReport("exited", 0)


@pytest.fixture
def pair(project: Project) -> Attempt:
    """A running attempt of two ranks."""
    attempt = make_attempt(make_run(project, max_retries=0))
    Rank.objects.create(attempt=attempt, number=1, node=attempt.node)
    return attempt


def headers(attempt: Attempt, rank: int) -> dict[str, str]:
    return {"Authorization": f"Bearer {attempts.issue_token(attempt, rank)}"}


def test_a_heartbeat_is_that_of_its_rank_alone(pair: Attempt) -> None:
    answer = APIClient().post("/api/v1/runner/heartbeat/", {}, headers=headers(pair, 1))
    assert answer.status_code == 200
    first, second = pair.ranks.order_by("number")
    assert (first.heartbeat_at, first.token_hash) == (None, "")
    assert second.heartbeat_at is not None


def test_the_attempt_goes_on_until_its_last_rank_has_ended(pair: Attempt) -> None:
    attempts.note_exit(pair.pk, DONE, {}, rank=1)
    attempts.note_exit(pair.pk, DONE, {}, rank=1)
    pair.refresh_from_db()
    assert pair.state == states.RUNNING
    attempts.note_exit(pair.pk, DONE, {"no_more": True}, rank=0)
    assert reconcile.advance(pair.run_id) == states.SUCCEEDED
    assert set(pair.ranks.values_list("exit_code", flat=True)) == {0}


def test_the_first_rank_that_fails_ends_the_attempt_for_all(pair: Attempt) -> None:
    other = headers(pair, 0)
    attempts.note_exit(pair.pk, ExitReport("exited", 3), {"no_more": True}, rank=1)
    assert reconcile.advance(pair.run_id) == states.FAILED
    pair.refresh_from_db()
    assert (pair.exit_code, pair.failure_class) == (3, "USER_CODE")
    # Its runner learns by this that it has to end.
    answer = APIClient().post("/api/v1/runner/heartbeat/", {}, headers=other)
    assert answer.status_code == 401


def test_the_page_of_a_run_shows_each_rank(pair: Attempt, api: APIClient) -> None:
    pair.ranks.filter(number=1).update(heartbeat_at=clock.now() - timedelta(seconds=3))
    (shown,) = api.get(f"/api/v1/runs/{pair.run_id}/").json()["attempts"]
    (listed,) = api.get(f"/api/v1/runs/{pair.run_id}/attempts/").json()["results"]
    assert shown == listed
    assert shown["cluster"] == "local"
    assert [rank["number"] for rank in shown["ranks"]] == [0, 1]
    assert shown["heartbeat_at"] == shown["ranks"][1]["heartbeat_at"]
    assert shown["ranks"][0]["node"] == ensure_local_node().name


def test_each_rank_holds_slots_of_its_own_and_all_come_back_together() -> None:
    node, attempt = ensure_local_node(), make_attempt()
    for rank in (0, 1, 1):
        assert reserve(node.pk, attempt.pk, cpus=1, memory_bytes=1, gpus=0, rank=rank)
    assert set(Reservation.objects.values_list("rank", "slot")) == {(0, 0), (1, 1)}
    release(attempt.pk)
    assert not Reservation.objects.exists()


def test_an_attempt_lives_while_any_of_its_ranks_does() -> None:
    assert not Observation().launched
    one_is_left = Observation({0: RankObservation(False), 1: RankObservation(True)})
    assert one_is_left.launched
    assert one_is_left.alive
    assert not Observation({0: RankObservation(False)}).alive
