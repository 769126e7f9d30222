"""A run that loses machine after machine fails at last, unless it gets further meanwhile."""

from __future__ import annotations

from typing import Any

import pytest

from atom.clusters.models import Cluster
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions.attempts import end_attempt
from atom.jobs.failures.api.failure_serializers import failure_of
from atom.jobs.failures.engines import failures
from atom.jobs.failures.engines.failures import Failure
from atom.jobs.models import Artifact, Attempt, Rank, Run
from atom.jobs.runs.actions.runs import retry_run
from tests.factories.accounts import make_member
from tests.factories.jobs import make_run

pytestmark = pytest.mark.django_db
EVIDENCE = {"reason": "test", "no_more": True}


@pytest.fixture(params=["local", "kubernetes"])
def run(request: pytest.FixtureRequest, settings: Any) -> Run:
    settings.ATOM_MAX_LOST_MACHINES = 3
    if request.param == "local":
        return make_run(max_retries=0)
    cluster = Cluster.objects.create(name="east", kind="kubernetes", server="https://127.0.0.1:9")
    return make_run(max_retries=0, cluster=cluster)


def attempt_of(run: Run, resumed_from: int | None = None) -> Attempt:
    """Return the next attempt of the run, which runs."""
    run.refresh_from_db()
    run.state = states.RUNNING
    run.save()
    attempt = Attempt.objects.create(
        run=run,
        number=run.attempts.count() + 1,
        state=states.RUNNING,
        cluster=run.cluster,
        resumed_from_step=resumed_from,
    )
    Rank.objects.create(attempt=attempt)
    return attempt


def end(attempt: Attempt, failure: Failure | None = None) -> str:
    """Let the attempt end, by default with its machine, and return the state of its run."""
    run = attempt.run
    end_attempt(run, attempt, failure or failures.node_lost("n1"), EVIDENCE)
    reconcile.advance(run.pk)
    run.refresh_from_db()
    return run.state


def store(attempt: Attempt, step: int, state: str = states.PERSISTED) -> None:
    Artifact.objects.create(
        run=attempt.run,
        attempt=attempt,
        path=f"step-{step}.pt",
        size_bytes=1,
        sha256="0" * 64,
        key="k",
        kind="checkpoint",
        step=step,
        state=state,
    )


def test_the_run_fails_with_the_last_machine_and_says_why(run: Run) -> None:
    assert [end(attempt_of(run)) for _ in range(3)] == ["retry_wait", "retry_wait", "failed"]
    assert run.failure_class == "NODE_LOST"
    assert "Machines lost in a row: 3" in run.failure_reason
    shown = failure_of(run.attempts.get(number=3))
    assert shown is not None
    assert (shown["code"], shown["params"]) == ("machines_lost", {"count": 3})
    # The timeline keeps which machine it was.
    assert run.events.filter(kind="ended", text__contains="n1").count() == 3


def test_pauses_between_the_attempts_grow(run: Run) -> None:
    for _ in range(2):
        end(attempt_of(run))
    waits = run.events.filter(kind="retry").order_by("id").values_list("data__wait_s", flat=True)
    assert list(waits) == [2, 4]


def test_a_new_checkpoint_begins_a_new_row(run: Run) -> None:
    for number in range(4):
        attempt = attempt_of(run, resumed_from=number * 10 or None)
        store(attempt, (number + 1) * 10)
        assert end(attempt) == states.RETRY_WAIT
    # The attempt that stored the last one is the first of the row.
    assert [end(attempt_of(run, resumed_from=40)) for _ in range(2)] == ["retry_wait", "failed"]


@pytest.mark.parametrize(("step", "state"), [(10, states.PERSISTED), (20, states.FAILED)])
def test_a_checkpoint_that_is_not_new_or_not_stored_is_no_progress(
    run: Run, step: int, state: str
) -> None:
    for expected in ("retry_wait", "retry_wait", "failed"):
        attempt = attempt_of(run, resumed_from=10)
        store(attempt, step, state)
        assert end(attempt) == expected


@pytest.mark.parametrize("other", [failures.preempted()], ids=["preempted"])
def test_attempts_that_end_in_another_way_are_not_counted_and_end_no_row(
    run: Run, other: Failure
) -> None:
    ends = [None, other, None, other, other, None]
    found = [end(attempt_of(run), failure) for failure in ends]
    assert found == ["retry_wait"] * 5 + ["failed"]


def test_a_person_who_retries_begins_a_new_row(run: Run) -> None:
    for _ in range(3):
        end(attempt_of(run))
    retry_run(run.pk, make_member(run.project, "researcher"))
    assert [end(attempt_of(run)) for _ in range(3)] == ["retry_wait", "retry_wait", "failed"]
