"""The database's clock is set forward by a day, or back by an hour, while work is going on."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import AbstractContextManager, contextmanager
from datetime import timedelta

import pytest
from django.db import connection

from atom.accounts.actions import create_token
from atom.accounts.authentication import find_token
from atom.clusters.actions import beat_local_node, ensure_local_node
from atom.clusters.node_health import is_silent
from atom.core import clock
from atom.jobs import reconcile, states
from atom.jobs.attempts.actions import attempts
from atom.jobs.attempts.actions.finalize import LONGEST_RETRY_S
from atom.labeling.actions.leases import expire_leases, lease_labels
from tests.factories.accounts import make_member, make_project
from tests.factories.jobs import make_attempt, make_run
from tests.factories.labeling import make_task

pytestmark = pytest.mark.django_db
Jump = Callable[[timedelta], AbstractContextManager[None]]
FORWARD, BACK = timedelta(days=1), timedelta(hours=-1)
_CLOCKS = ("clock_timestamp", "statement_timestamp", "transaction_timestamp", "now")


@pytest.fixture
def jump() -> Iterator[Jump]:
    """Functions of PostgreSQL that tell the time are found in another schema first."""

    @contextmanager
    def jumped(by: timedelta) -> Iterator[None]:
        with connection.cursor() as cursor:
            cursor.execute("CREATE SCHEMA jumped")
            for name in _CLOCKS:
                cursor.execute(
                    f"CREATE FUNCTION jumped.{name}() RETURNS timestamptz LANGUAGE sql AS "
                    f"$$ SELECT pg_catalog.{name}() + interval '{by.total_seconds()} s' $$"
                )
            cursor.execute("SET search_path = jumped, public, pg_catalog")
        yield

    yield jumped
    with connection.cursor() as cursor:
        cursor.execute("RESET search_path")


def test_the_clock_of_these_tests_jumps(jump: Jump) -> None:
    before = clock.now()
    with jump(FORWARD):
        assert timedelta(hours=23) < clock.now() - before < timedelta(hours=25)


@pytest.mark.parametrize(("by", "freed"), [(FORWARD, 2), (BACK, 0)])
def test_a_label_lease_ends_early_or_late_and_work_goes_on(
    jump: Jump, by: timedelta, freed: int
) -> None:
    task = make_task(2)
    labeler, other = (make_member(task.project, "labeler") for _ in range(2))
    assert len(lease_labels(task, labeler, 2)) == 2
    with jump(by):
        assert expire_leases() == freed
        # Freed slots are given to others; held ones stay with their person.
        assert len(lease_labels(task, other, 2)) == freed


@pytest.mark.parametrize("by", [FORWARD, BACK])
def test_tokens_and_machines_are_good_again_after_their_next_sign(
    jump: Jump, by: timedelta
) -> None:
    user = make_member(make_project())
    for_ever = create_token(user, "for ever", ["read"]).secret
    week = create_token(user, "week", ["read"], None, clock.now() + timedelta(days=7)).secret
    attempt = make_attempt()
    beat_local_node()
    with jump(by):
        assert find_token(for_ever) is not None
        assert find_token(week) is not None
        beat_local_node()
        assert not is_silent(ensure_local_node())
        attempts.beat(attempt.ranks.get())
        expires_at = attempt.ranks.get().token_expires_at
        assert expires_at is not None
        assert expires_at > clock.now()


def test_a_run_that_waits_for_its_next_attempt_does_not_wait_for_the_jump_too(jump: Jump) -> None:
    wait = timedelta(seconds=LONGEST_RETRY_S)
    run = make_run(state=states.RETRY_WAIT, retry_at=clock.now() + wait)
    assert reconcile.advance(run.pk) == states.RETRY_WAIT
    with jump(BACK):
        assert reconcile.advance(run.pk) != states.RETRY_WAIT
