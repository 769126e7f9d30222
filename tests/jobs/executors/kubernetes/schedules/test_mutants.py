"""Without one of its guards Atom breaks an invariant, and the schedules notice it."""

from __future__ import annotations

from itertools import count
from typing import Any

import pytest

from atom.jobs.attempts.actions import attempts, joining
from atom.jobs.executors.kubernetes import submission
from atom.jobs.models import Rank
from tests.jobs.executors.kubernetes.schedules import invariants
from tests.jobs.executors.kubernetes.schedules.conftest import Play
from tests.jobs.executors.kubernetes.schedules.faults import Fault

pytestmark = [pytest.mark.django_db, pytest.mark.timeout(1800)]

MOST_SEEDS = 40


def violation(play: Play, *often: Fault, first: int = 0) -> str:
    """Return the first violation of schedules in which some faults are often; "" if none."""
    for seed in range(first, first + MOST_SEEDS):
        print("seed", seed)
        try:
            play(seed, *often)
        except AssertionError as error:
            return str(error)
    return ""


def test_without_the_fence_an_attempt_starts_twice(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(joining, "_holder", lambda *_: None)
    monkeypatch.setattr(joining, "_is_same", lambda *_: True)
    assert "starts twice" in violation(play, Fault.POD_TWICE)


def test_without_adoption_a_run_has_two_jobs(play: Play, monkeypatch: pytest.MonkeyPatch) -> None:
    names = count()

    def make_another(api: Any, asked: Any, _: Any) -> Any:
        job = submission.create_once(api, asked)
        while job is None:
            name = f"{asked['metadata']['name']}-{next(names)}"
            job = submission.create_once(
                api, {**asked, "metadata": {**asked["metadata"], "name": name}}
            )
        return job

    monkeypatch.setattr(submission, "_create_or_adopt", make_another)
    assert violation(play, Fault.UID_FORGOTTEN)


def test_without_the_check_of_tokens_two_processes_write(
    play: Play, monkeypatch: pytest.MonkeyPatch
) -> None:
    tokens: dict[str, Any] = {}

    def issue(attempt: Any, rank: int = 0, holder: str = "") -> str:
        token = issue_token(attempt, rank, holder)
        tokens[token] = (attempt.pk, rank)
        return token

    def find(token: str) -> Rank | None:
        attempt, number = tokens.get(token, (None, 0))
        ranks = Rank.objects.select_related("attempt__run__project", "attempt__node")
        return ranks.filter(attempt=attempt, number=number).first()

    issue_token = attempts.issue_token
    monkeypatch.setattr(attempts, "issue_token", issue)
    monkeypatch.setattr(attempts, "find_by_token", find)
    monkeypatch.setattr(invariants, "find_by_token", find)
    # A seed that shows it soon is the first.
    found = violation(play, Fault.NODE_GONE, first=24)
    assert "Two processes of a run write" in found
