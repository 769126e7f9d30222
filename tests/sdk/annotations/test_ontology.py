"""Ontologies: old and new forms, conditions, and what is wrong with one."""

from __future__ import annotations

import json
import time
from typing import Any

import pytest
from hypothesis import given

from atom_sdk.annotations.ontology import (
    CLASSIFICATION,
    Attribute,
    Condition,
    Ontology,
    applying,
    ontology_from_json,
)
from atom_sdk.annotations.patterns import matches, pattern_fault
from atom_sdk.annotations.problems import DocumentError
from tests.sdk.annotations import strategies as some
from tests.sdk.annotations.examples import LABELS, SCHEMA, ontology


def codes(labels: Any, schema: Any = None) -> set[tuple[str, str]]:
    problems = ontology_from_json(labels, schema).problems
    return {(it.pointer, str(it.sentence.code).removeprefix("annotations.")) for it in problems}


def label(**fields: Any) -> dict[str, Any]:
    return {"id": 1, "name": "car", "tools": ["box"], **fields}


def attribute(**fields: Any) -> dict[str, Any]:
    return {"id": 1, "name": "colour", "kind": "flag", **fields}


def test_json_and_back_is_the_same_ontology() -> None:
    value = json.loads(json.dumps(ontology().as_json()))
    assert ontology_from_json(value["labels"], value["schema"]) == ontology()
    assert ontology().problems == []


def test_labels_of_the_old_form_are_classes_of_pictures() -> None:
    old = [{"id": 0, "name": "cat", "color": "#0072B2", "hotkey": "1"}]
    read = ontology_from_json(old)
    assert read.label_of[0].tools == (CLASSIFICATION,)
    assert read.problems == []


def test_children_inherit_attributes() -> None:
    names = [it.name for it in ontology().attributes_of(ontology().label_named["taxi"].id)]
    assert names == ["colour", "doors", "plate", "readable", "parts", "company"]


@given(some.json_values)
def test_any_json_is_an_ontology_or_a_plain_error(value: Any) -> None:
    tries = [(value, None), ([value], None), ([], value), ([label(attributes=value)], None)]
    tries += [([label(skeleton=value)], None), ([label()], {"attributes": [value]})]
    for labels, schema in tries:
        problems = None
        try:
            problems = ontology_from_json(labels, schema).problems
        except DocumentError as error:
            assert error.problems  # noqa: PT017
        assert problems is None or isinstance(problems, list)


@pytest.mark.parametrize(
    ("labels", "schema", "expected"),
    [
        ([], None, ("labels", "count_out_of_range")),
        ([label(), label(name="bus")], None, ("labels", "value_repeated")),
        ([label(), label(id=2)], None, ("labels", "value_repeated")),
        ([label(id=-1)], None, ("labels/0/id", "id_out_of_range")),
        ([label(name="")], None, ("labels/0/name", "name_unusable")),
        ([label(name="a\u202eb")], None, ("labels/0/name", "name_unusable")),
        ([label(tools=["cuboid"])], None, ("labels/0/tools/0", "tool_unknown")),
        ([label(tools=["keypoints"])], None, ("labels/0/skeleton", "skeleton_missing")),
        ([label(parent=7)], None, ("labels/0/parent", "parent_unknown")),
        ([label(parent=1)], None, ("labels/0/parent", "parents_in_circle")),
        (
            [label(skeleton={"points": [{"name": "nose"}], "edges": [[0, 1]]})],
            None,
            ("labels/0/skeleton/edges/0", "pair_unknown"),
        ),
        (
            [label(skeleton={"points": [{"name": "nose"}], "sigmas": [0.1, 0.2]})],
            None,
            ("labels/0/skeleton/sigmas", "sigmas_differ"),
        ),
        (
            [label(attributes=[attribute()])],
            {"attributes": [attribute()]},
            ("schema/attributes", "attribute_id_repeated"),
        ),
        (
            [label(attributes=[attribute(), attribute(id=2)])],
            None,
            ("labels/0/attributes", "value_repeated"),
        ),
        (
            [label(attributes=[attribute(kind="colour")])],
            None,
            ("labels/0/attributes/0/kind", "attribute_kind_unknown"),
        ),
        (
            [label(attributes=[attribute(kind="choice")])],
            None,
            ("labels/0/attributes/0/choices", "count_out_of_range"),
        ),
        (
            [label(attributes=[attribute(kind="number", min=3, max=2)])],
            None,
            ("labels/0/attributes/0/min", "min_over_max"),
        ),
        (
            [label(attributes=[attribute(kind="text", pattern="(")])],
            None,
            ("labels/0/attributes/0/pattern", "pattern_unreadable"),
        ),
        (
            [label(attributes=[attribute(pattern="a")])],
            None,
            ("labels/0/attributes/0/pattern", "limit_of_other_kind"),
        ),
        (
            [label(attributes=[attribute(default=3)])],
            None,
            ("labels/0/attributes/0/default", "value_no_flag"),
        ),
        (
            [label(attributes=[attribute(when={"attribute": 9, "is": [True]})])],
            None,
            ("labels/0/attributes/0/when/attribute", "condition_unknown"),
        ),
        (
            [label(attributes=[attribute(when={"attribute": 1, "is": [True]})])],
            None,
            ("labels/0/attributes/0/when/attribute", "conditions_in_circle"),
        ),
        (
            [label(attributes=[attribute(), attribute(id=2, when={"attribute": 1, "is": [1]})])],
            None,
            ("labels/0/attributes/1/when/is", "condition_value_unknown"),
        ),
        (
            [label()],
            {"relations": [{"id": 0, "name": "has", "from": [4]}]},
            ("schema/relations/0/from", "label_unknown"),
        ),
    ],
)
def test_a_fault_is_named(labels: Any, schema: Any, expected: tuple[str, str]) -> None:
    assert expected in codes(labels, schema)


def test_types_are_checked_with_their_pointers() -> None:
    with pytest.raises(DocumentError) as caught:
        ontology_from_json(LABELS, {**SCHEMA, "multiple": 1})
    assert caught.value.problems[0].pointer == "schema/multiple"
    with pytest.raises(DocumentError) as caught:
        ontology_from_json([label(attributes=[{"id": 1, "name": "a"}])])
    assert caught.value.problems[0].pointer == "labels/0/attributes/0/kind"


def test_a_condition_chains_and_a_circle_applies_to_nothing() -> None:
    base = Attribute(1, "a", "flag")
    middle = Attribute(2, "b", "flag", when=Condition(1, (True,)))
    last = Attribute(3, "c", "text", when=Condition(2, (False,)))
    chain = (base, middle, last)
    assert applying(chain, {1: True, 2: False}) == [base, middle, last]
    assert applying(chain, {1: False, 2: False}) == [base]
    assert applying(chain, {}) == [base]
    circle = (Attribute(1, "a", "flag", when=Condition(1, (True,))),)
    assert applying(circle, {1: True}) == []


def test_the_choice_1_is_no_flag() -> None:
    scope = (Attribute(1, "a", "choice"), Attribute(2, "b", "text", when=Condition(1, (1,))))
    assert len(applying(scope, {1: 1})) == 2
    assert len(applying(scope, {1: True})) == 1
    assert len(applying(scope, {1: (0, 1)})) == 2


def test_a_pattern_describes_the_whole_text() -> None:
    assert matches("[A-Z]{2}-[0-9]+", "AB-123")
    assert not matches("[A-Z]{2}-[0-9]+", "AB-123\n")
    assert matches("a|b", "b")
    assert not matches("a|b", "ab")
    assert matches("京[A-Z]", "京A")
    assert pattern_fault("(?=a)")
    assert pattern_fault("[a-z]+") is None
    assert not matches("(", "(")


def test_a_pattern_that_explodes_elsewhere_takes_no_time() -> None:
    started = time.process_time()
    assert not matches("(a+)+(b+)+", "a" * 5000)
    assert time.process_time() - started < 5


def test_an_empty_ontology_says_so() -> None:
    assert [it.pointer for it in Ontology().problems] == ["labels"]
