"""The cost of a run in each place, their order, estimates and preferred nodes."""

from __future__ import annotations

from dataclasses import replace
from itertools import permutations
from random import Random

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from atom.jobs.executors.kubernetes.engines.manifests import affinity_of
from atom.jobs.scheduling.engines.cost import (
    Floats,
    ManyRuns,
    Site,
    choose_many,
    cost_of,
    costs_of_many,
    rank,
)
from atom.jobs.scheduling.engines.estimates import estimate_from, room_now
from atom.jobs.scheduling.engines.preferred_nodes import preferred_nodes
from tests.tiers import examples

GB = 10**9
A = Site(
    name="a",
    gpus=8,
    run_s=7200,
    value_per_hour=30,
    price_per_hour=2.00,
    queue_s=0,
    image_s=60,
    total_bytes=800 * GB,
    bandwidth=GB,
    egress_per_byte=0.02 / GB,
    currency="EUR",
)
B = replace(A, name="b", price_per_hour=2.10, there_bytes=664 * GB)
C = replace(A, name="c", price_per_hour=9.00)


def test_the_worked_example_chooses_the_place_that_has_the_data() -> None:
    cold, warm = cost_of(A), cost_of(B)
    assert (cold.compute, cold.egress, cold.time) == pytest.approx((32, 16, 67.1667), abs=1e-4)
    assert (warm.compute, warm.egress, warm.time) == pytest.approx((33.6, 2.72, 61.6333), abs=1e-4)
    assert cold.total is not None
    assert warm.total is not None
    assert (f"{cold.total:.2f}", f"{warm.total:.2f}") == ("115.17", "97.95")
    assert f"{cold.total - warm.total:.2f}" == "17.21"
    assert A.start_s is not None
    assert B.start_s is not None
    assert A.start_s - B.start_s == 664


@pytest.mark.parametrize("order", list(permutations([A, B, C])))
def test_the_order_does_not_depend_on_that_of_the_input(order: tuple[Site, ...]) -> None:
    assert [site.name for site in rank(order)] == ["b", "a", "c"]


def test_within_five_percent_coverage_decides_then_fragmentation_then_the_name() -> None:
    near = replace(A, total_bytes=100)
    warm = replace(near, name="z", price_per_hour=2.05, there_bytes=100)
    assert rank([near, warm])[0] is warm
    tidy = replace(near, name="y", fragmentation=0.0)
    assert rank([replace(near, fragmentation=0.5), tidy])[0] is tidy
    assert [site.name for site in rank([tidy, near])] == ["a", "y"]


def test_unknown_costs_follow_known_ones_and_an_unknown_start_comes_last() -> None:
    unpriced = replace(A, name="0", price_per_hour=None, there_bytes=A.total_bytes)
    unknown = replace(A, name="1", queue_s=None, price_per_hour=0.01)
    no_route = replace(A, name="2", bandwidth=None)
    assert [site.name for site in rank([no_route, unknown, unpriced, A])] == ["a", "0", "1", "2"]
    assert cost_of(unpriced).total is None
    assert cost_of(no_route).time is None


def test_prices_of_two_currencies_are_ordered_by_time() -> None:
    dear = replace(B, price_per_hour=50.0, currency="USD", there_bytes=A.total_bytes)
    assert rank([A, dear])[0] is dear


def test_bytes_on_their_way_take_time_and_no_egress() -> None:
    moving = replace(A, moving_bytes=800 * GB)
    assert (moving.data_s, cost_of(moving).egress) == (800, 0)


@st.composite
def sites(draw: st.DrawFn) -> list[list[Site]]:
    """Return several runs, each with the same places; all figures are known."""
    random = Random(draw(st.integers(0, 2**32)))
    places = draw(st.integers(1, 6))
    return [
        [
            replace(
                A,
                name=f"p{place}",
                gpus=run % 9,
                run_s=60.0 * (run + 1),
                total_bytes=run * GB,
                price_per_hour=random.choice([1.0, 1.02, 2.5]),
                queue_s=random.choice([0.0, 30.0]),
                there_bytes=random.randrange(run * GB + 1),
                fragmentation=random.choice([0.0, 0.5]),
            )
            for place in range(places)
        ]
        for run in range(draw(st.integers(1, 8)))
    ]


def _many(rows: list[list[Site]]) -> ManyRuns:
    def first(name: str) -> Floats:
        return np.array([getattr(row[0], name) for row in rows], dtype=np.float64)

    def each(name: str) -> Floats:
        return np.array([[getattr(site, name) for site in row] for row in rows], dtype=np.float64)

    return ManyRuns(
        gpus=first("gpus"),
        run_s=first("run_s"),
        value_per_hour=first("value_per_hour"),
        total_bytes=first("total_bytes"),
        there_bytes=each("there_bytes"),
        moving_bytes=each("moving_bytes"),
        price_per_hour=each("price_per_hour"),
        queue_s=each("queue_s"),
        image_s=each("image_s"),
        bandwidth=each("bandwidth"),
        egress_per_byte=each("egress_per_byte"),
        fragmentation=each("fragmentation"),
        fits=np.ones((len(rows), len(rows[0])), dtype=np.bool_),
    )


@settings(max_examples=examples(60), deadline=None)
@given(sites())
def test_many_runs_at_once_cost_the_same_and_choose_the_same(rows: list[list[Site]]) -> None:
    many = _many(rows)
    assert costs_of_many(many).tolist() == [[cost_of(site).total for site in row] for row in rows]
    chosen = [row[index].name for row, index in zip(rows, choose_many(many), strict=True)]
    assert chosen == [rank(row)[0].name for row in rows]


def test_an_estimate_is_an_interval_with_its_basis_or_unknown() -> None:
    estimate = estimate_from([float(seconds) for seconds in range(1, 15)], position=3)
    assert (estimate.p50_s, estimate.is_known) == (7.5, True)
    assert estimate.p90_s == pytest.approx(12.7)
    assert str(estimate.basis) == "position 3; 14 similar runs"
    assert not estimate_from([1.0] * 4).is_known
    assert room_now().p90_s == 0


def test_preferred_nodes_weigh_all_inputs_together() -> None:
    # 60 GB are there whole, 40 GB are not.
    assert preferred_nodes({"n1": 60 * GB}, 100 * GB) == [("n1", 60)]
    assert preferred_nodes({"n1": 4 * GB}, 100 * GB) == []
    assert preferred_nodes({}, 100) == []
    assert preferred_nodes({"n1": 0}, 0) == []
    assert preferred_nodes({"b": 100, "c": 2, "d": 0, "a": 100}, 100) == [
        ("a", 100),
        ("b", 100),
        ("c", 1),
    ]


def test_at_most_fifty_nodes_are_preferred_by_name() -> None:
    preferred = preferred_nodes({f"n{number:02}": number for number in range(80)}, 100)
    assert len(preferred) == 50
    assert preferred[0] == ("n79", 80)
    assert affinity_of([]) == {}
    (term,) = affinity_of([("n1", 60)])["nodeAffinity"][
        "preferredDuringSchedulingIgnoredDuringExecution"
    ]
    fields = [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]
    assert term == {"weight": 60, "preference": {"matchFields": fields}}
