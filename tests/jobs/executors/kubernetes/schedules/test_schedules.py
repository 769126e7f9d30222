"""Runs on clusters survive any order of faults: none starts twice, none is lost."""

from __future__ import annotations

from collections import Counter

import pytest

from tests.jobs.executors.kubernetes.schedules.conftest import Play
from tests.jobs.executors.kubernetes.schedules.faults import Fault

pytestmark = pytest.mark.django_db

FAST_SCHEDULES, DEEP_SCHEDULES, GROUPS = 50, 1000, 10
# In each group of the thousand: a hundred in all.
LEAST_HITS = 10


@pytest.mark.timeout(900)
@pytest.mark.parametrize("group", range(GROUPS))
def test_schedules_of_faults_break_no_invariant(play: Play, group: int) -> None:
    for seed in range(group, FAST_SCHEDULES, GROUPS):
        print("seed", seed)
        play(seed)


@pytest.mark.deep
@pytest.mark.timeout(3600)
@pytest.mark.parametrize("group", range(GROUPS))
def test_each_kind_of_fault_is_hit_often_and_breaks_no_invariant(play: Play, group: int) -> None:
    hits: Counter[Fault] = Counter()
    violations = []
    for seed in range(group, DEEP_SCHEDULES, GROUPS):
        print("seed", seed)
        try:
            hits += play(seed).dice.hits
        except AssertionError as violation:
            # The seeds behind it say whether it is the only one.
            violations.append(str(violation))
    print(hits)
    assert not violations
    rare = {fault.name: hits[fault] for fault in Fault if hits[fault] < LEAST_HITS}
    assert not rare
