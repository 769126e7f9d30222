"""The choice among places: hysteresis of runs that wait, and many runs at once."""

from __future__ import annotations

from dataclasses import replace
from random import Random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.jobs.scheduling.engines.choice import best_of_many, moves
from atom.jobs.scheduling.engines.cost import Site, rank
from tests.tiers import examples

# Without an hour's value and data, the cost is 8 hours of a GPU at the price.
WEST = Site(
    name="west",
    gpus=8,
    run_s=3600,
    value_per_hour=0,
    price_per_hour=10.0,
    queue_s=0,
    image_s=60,
    currency="EUR",
)
EAST = replace(WEST, name="east")


@pytest.mark.parametrize(
    ("price", "is_better"), [(10.0, False), (9.5, False), (9.01, False), (9.0, True), (1.0, True)]
)
def test_a_run_moves_only_if_the_other_place_is_better_by_ten_percent(
    price: float, is_better: bool
) -> None:
    assert moves(WEST, replace(EAST, price_per_hour=price)) is is_better


def test_a_place_that_became_never_is_left_whatever_the_other_one_costs() -> None:
    assert moves(None, replace(EAST, price_per_hour=1000.0))


def test_the_same_place_is_no_move_even_if_it_became_cheaper() -> None:
    assert not moves(WEST, replace(WEST, price_per_hour=1.0))


def test_two_places_that_cost_nothing_hold_what_they_have() -> None:
    free = replace(WEST, price_per_hour=0.0)
    assert not moves(free, replace(free, name="east"))


def test_a_known_start_is_better_than_an_unknown_one_and_never_the_other_way_round() -> None:
    unknown = replace(WEST, queue_s=None)
    assert moves(unknown, replace(EAST, price_per_hour=50.0))
    assert not moves(EAST, unknown)


def test_where_currencies_differ_time_decides() -> None:
    slow = replace(WEST, queue_s=7200.0)
    dear = replace(EAST, price_per_hour=99.0, currency="USD")
    assert moves(slow, dear, by_time=True)
    assert not moves(dear, slow, by_time=True)


@given(st.floats(0.01, 1000), st.floats(0.01, 1000))
def test_no_run_goes_back_and_forth(one: float, other: float) -> None:
    west = replace(WEST, price_per_hour=one)
    east = replace(EAST, price_per_hour=other)
    assert not (moves(west, east) and moves(east, west))


def _site(random: Random, name: str) -> Site:
    return replace(
        WEST,
        name=name,
        gpus=random.choice([0, 8]),
        value_per_hour=30,
        price_per_hour=random.choice([None, 1.0, 1.02, 2.5]),
        queue_s=random.choice([None, 0.0, 30.0]),
        total_bytes=100,
        there_bytes=random.randrange(101),
        bandwidth=random.choice([None, 1.0, 10.0]),
        fragmentation=random.choice([0.0, 0.5]),
        currency=random.choice(["EUR", "EUR", "EUR", "USD"]),
    )


@settings(max_examples=examples(100), deadline=None)
@given(st.integers(0, 2**32), st.integers(0, 8), st.integers(0, 6))
def test_the_choices_of_many_runs_are_those_of_each_in_any_order(
    seed: int, runs: int, places: int
) -> None:
    random = Random(seed)
    names = [f"p{number}" for number in range(places)]
    rows = []
    for _ in range(runs):
        some = random.sample(names, random.randrange(places + 1))
        gpus = random.choice([0, 8])
        rows.append([replace(_site(random, name), gpus=gpus) for name in some])
    by_time = [random.random() < 0.2 for _ in rows]
    expected = [
        next(iter(rank(row, by_time=slow)), None) for row, slow in zip(rows, by_time, strict=True)
    ]
    assert best_of_many(rows, by_time=by_time) == expected
    for row in rows:
        random.shuffle(row)
    assert best_of_many(rows, by_time=by_time) == expected
