"""Each test runs in the tier of its marker, and the ten tenths of the deep tier are all of it."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests import tiers
from tests.timing import Timing


def item(*marks: str, node_id: str = "tests/a.py::test_a", is_property: bool = False) -> Any:
    """The marks and the node id that the tiers read of a test."""
    return SimpleNamespace(
        nodeid=node_id,
        obj=SimpleNamespace(is_hypothesis_test=is_property),
        get_closest_marker=lambda name: name if name in marks else None,
    )


@pytest.mark.parametrize(
    ("test", "in_fast", "in_deep"),
    [
        (item(), True, False),
        (item("slow"), True, False),
        (item("deep"), False, True),
        (item(is_property=True), True, True),
        (item("deep", is_property=True), False, True),
    ],
)
def test_a_marker_decides_the_tier(test: Any, in_fast: bool, in_deep: bool) -> None:
    assert tiers.in_tier(test, "fast", None) is in_fast
    assert tiers.in_tier(test, "deep", None) is in_deep
    assert tiers.in_tier(test, "all", None)


@given(st.integers().map("tests/a.py::test_a[{}]".format))
def test_a_deep_test_runs_in_one_tenth(node_id: str) -> None:
    test = item("deep", node_id=node_id)
    tenths = [tenth for tenth in range(10) if tiers.in_tier(test, "deep", tenth)]
    assert tenths == [tiers.tenth_of(node_id)]


def test_the_tenth_of_a_test_is_the_same_on_every_machine() -> None:
    assert tiers.tenth_of("tests/a.py::test_a") == 3


def test_another_tenth_than_0_to_9_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(tiers.TENTH_VARIABLE, "10")
    with pytest.raises(pytest.UsageError, match="from 0 to 9"):
        tiers.chosen_tenth()
    monkeypatch.setenv(tiers.TENTH_VARIABLE, "9")
    assert tiers.chosen_tenth() == 9
    monkeypatch.setenv(tiers.TENTH_VARIABLE, "")
    assert tiers.chosen_tenth() is None


def phase(test: str, worker: str, when: str, start: float, seconds: float) -> Any:
    node = SimpleNamespace(gateway=SimpleNamespace(id=worker))
    return SimpleNamespace(
        nodeid=test, node=node, when=when, start=start, stop=start + seconds, duration=seconds
    )


def test_the_end_of_a_run_names_slow_tests_and_idle_workers() -> None:
    timing = Timing()
    for report in (
        phase("a", "gw0", "setup", 0, 3),
        phase("a", "gw0", "call", 3, 5),
        phase("b", "gw1", "setup", 0, 0.1),
        phase("b", "gw1", "call", 0.1, 1.9),
    ):
        timing.pytest_runtest_logreport(report)
    assert [line.split() for line in timing.slowest()] == [
        ["8.0", "s", "gw0", "a"],
        ["2.0", "s", "gw1", "b"],
    ]
    busy, waiting = timing.shares()
    assert "0.0% idle" in busy
    assert "75.0% idle" in waiting
