from itertools import pairwise

import pytest
from django.db import IntegrityError

from atom.core.states import IllegalTransition, all_states, check_transition
from atom.jobs import states
from atom.jobs.models import Run
from tests.factories.jobs import make_run

LIFE = [
    "created",
    "queued",
    "placing",
    "warming",
    "submitted",
    "running",
    "finalizing",
    "succeeded",
]


def test_the_life_of_a_run_is_in_the_table() -> None:
    for old, new in pairwise(LIFE):
        check_transition(states.RUN_STATES, old, new)


def test_every_state_that_can_be_reached_is_described() -> None:
    for table in (states.RUN_STATES, states.ATTEMPT_STATES, states.RUNTIME_STATES):
        assert set(all_states(table)) == set(table)


def test_every_state_leads_to_an_end() -> None:
    for start in states.RUN_STATES:
        reached, todo = set(), [start]
        while todo:
            state = todo.pop()
            reached.add(state)
            todo += states.RUN_STATES[state] - reached
        assert reached & states.TERMINAL


def test_every_active_attempt_can_end() -> None:
    for state in set(states.ATTEMPT_STATES) - states.TERMINAL - {states.FINALIZING}:
        assert states.FINALIZING in states.ATTEMPT_STATES[state]


def test_a_run_that_succeeded_stays_so() -> None:
    with pytest.raises(IllegalTransition):
        check_transition(states.RUN_STATES, states.SUCCEEDED, states.QUEUED)


@pytest.mark.django_db
def test_the_database_refuses_an_unknown_state() -> None:
    run = make_run()
    with pytest.raises(IntegrityError):
        Run.objects.filter(pk=run.pk).update(state="dreaming")
