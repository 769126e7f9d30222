"""PriorityClasses of a cluster: what is kept of them, and whose pods preempt those of runs."""

from __future__ import annotations

from typing import Any

import pytest

from atom.clusters.registration.engines.priorities import preemptors_of, read_priority_classes

Json = dict[str, Any]


def class_(name: object, value: object, **more: Any) -> Json:
    return {"metadata": {"name": name}, "value": value, **more}


CLASSES = [
    class_("system-node-critical", 2000001000),
    class_("batch", 10),
    class_("urgent", 1000),
    class_("patient", 5000, preemptionPolicy="Never"),
    class_("research", 100, globalDefault=True),
]


@pytest.mark.parametrize(
    ("priority_class", "preemptors"),
    [
        ("batch", ["urgent", "research"]),
        ("research", ["urgent"]),
        ("urgent", []),
        ("patient", []),
        # Pods that name none have the cluster's default.
        ("", ["urgent"]),
        ("gone", None),
    ],
)
def test_classes_of_a_higher_value_that_preempt_are_named(
    priority_class: str, preemptors: list[str] | None
) -> None:
    facts = {"priority_classes": read_priority_classes(CLASSES)}
    assert preemptors_of(facts, priority_class) == preemptors


def test_without_a_default_pods_have_the_value_0() -> None:
    classes = [class_("low", -5), class_("high", 1)]
    facts = {"priority_classes": read_priority_classes(classes)}
    assert preemptors_of(facts, "") == ["high"]


def test_a_cluster_that_shows_no_classes_is_unknown() -> None:
    assert preemptors_of({}, "") is None
    assert preemptors_of({"priority_classes": []}, "") == []


@pytest.mark.parametrize(
    "item",
    [
        None,
        "urgent",
        {},
        class_("<b>", 1),
        class_("a" * 300, 1),
        class_("urgent", "1"),
        class_("urgent", True),
        class_("urgent", None),
        class_(["urgent"], 1),
    ],
)
def test_malformed_classes_are_left_out(item: object) -> None:
    assert read_priority_classes([item]) == []


def test_only_the_highest_hundred_are_kept() -> None:
    rows = read_priority_classes(class_(f"c{value}", value) for value in range(300))
    assert [row["value"] for row in rows] == list(range(299, 199, -1))
