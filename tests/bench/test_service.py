"""Figures that the service's benchmark makes of its measures."""

from __future__ import annotations

import itertools
import json
import time

import pytest

from bench import first_line
from bench.figures import delays, percentile
from bench.harness import Result
from bench.mixed import Ask, schedule
from bench.points import batch
from bench.rows import curves_of
from bench.viewers import Seen, lost_and_doubled


def test_a_percentile_is_one_of_the_values() -> None:
    values = [float(n) for n in range(100, 0, -1)]
    assert [percentile(values, percent) for percent in (50, 95, 99, 100)] == [50, 95, 99, 100]
    assert percentile([7.0], 99) == 7.0
    assert [line.name for line in delays("x", values)] == ["x, median", "x, p95", "x, p99"]


def test_what_is_asked_seldom_is_spread_over_the_hundred() -> None:
    often, seldom = Ask(96, "GET", "/often"), Ask(4, "POST", "/seldom")
    places = [at for at, ask in enumerate(schedule([often, seldom])) if ask is seldom]
    assert len(schedule([often, seldom])) == 100
    assert [later - one for one, later in itertools.pairwise(places)] == [25, 25, 25]


def test_a_line_that_comes_too_rarely_is_lost_and_too_often_doubled() -> None:
    seen = Seen()
    for _ in range(2):
        seen.take("a", "tick 0 1000000\nan own line\n", 3_000_000)
    seen.take("a", "tick 1 1000000\n", 2_000_000)
    for _ in range(3):
        seen.take("b", "tick 0 1000000\ntick 1 1000000\n", 2_000_000)
    assert lost_and_doubled(seen, ["a", "b"], 2, 2) == (1, 2)
    assert seen.delays_ms[:3] == [2, 2, 1]


def test_a_batch_has_its_points_in_the_order_of_steps_for_each_key() -> None:
    rows = json.loads(batch("r", 2, 4, 4))["metrics"]
    assert [(row["key"], row["step"]) for row in rows] == [
        ("m0", 2),
        ("m1", 2),
        ("m0", 3),
        ("m1", 3),
    ]
    assert all(type(row["value"]) is float for row in rows)


def test_growth_has_a_curve_for_what_was_asked_at_several_sizes() -> None:
    results = [
        Result("of 10,000 runs: newest", 5.0, "ms"),
        Result("of 1,000,000 runs: newest", 6.0, "ms"),
        Result("of 10,000 runs: asked once", 5.0, "ms"),
        Result("warm-up", 5.0, "s"),
    ]
    assert curves_of(results) == {"runs: newest (ms)": {10_000: 5.0, 1_000_000: 6.0}}


@pytest.mark.parametrize("text", ["", "tick", "tick 1", "tock 1 2", "tick 1 2 3"])
def test_other_lines_are_no_ticks(text: str) -> None:
    seen = Seen()
    seen.take("a", text, 1)
    assert not seen.delays_ms


def test_the_first_line_is_waited_for_to_its_end_and_says_when_it_was_written() -> None:
    messages = [
        {"type": "run", "state": "running"},
        {"type": "log", "text": "first 12"},
        {"type": "log", "text": "34\n"},
    ]

    class Socket:
        def recv(self) -> str:
            return json.dumps(messages.pop(0))

    before_ns = time.time_ns()
    written_ns, seen_ns = first_line.when_first_line(Socket())
    assert written_ns == 1234
    assert seen_ns >= before_ns
    assert not messages
