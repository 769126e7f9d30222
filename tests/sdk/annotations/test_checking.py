"""Documents against their picture and their ontology: each fault has a pointer and a place."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
import shapely
from hypothesis import given
from hypothesis import strategies as st

from atom_sdk.annotations import checking, rle
from atom_sdk.annotations.checking import problems_of
from atom_sdk.annotations.documents import AnnotatedObject, Document, canonical_json
from atom_sdk.annotations.geometry import Box, Keypoints, Mask, Polygon, Polyline, RotatedBox
from atom_sdk.annotations.ontology import ontology_from_json
from atom_sdk.annotations.problems import MAX_PROBLEMS, Problem
from tests.sdk.annotations import strategies as some
from tests.sdk.annotations.examples import (
    CAR,
    COLOUR,
    CROWD,
    IDS,
    LANE,
    PERSON,
    SCENE,
    SQUARE,
    a_document,
    a_person,
    a_polygon,
    an_object,
    full_document,
    ontology,
)

HOLE = [20, 20, 30, 20, 30, 30]
BOW_TIE = [10, 10, 50, 50, 50, 10, 10, 50]
EMPTY_MASK = {"size": [480, 640], "counts": rle.encode(np.zeros((480, 640), bool))}


def faults(document: Document) -> list[tuple[str, str]]:
    return [(it.pointer, code_of(it)) for it in problems_of(document, ontology())]


def code_of(problem: Problem) -> str:
    return str(problem.sentence.code).removeprefix("annotations.")


def with_shape(shape: Any) -> Document:
    return Document(640, 480, objects=(AnnotatedObject(IDS[0], CAR, shape, {COLOUR: 1}),))


def test_a_document_that_fits_has_no_problems() -> None:
    assert faults(full_document()) == []
    assert faults(a_document()) == []
    assert faults(Document(0, 0, labels=(SCENE,))) == []


@pytest.mark.parametrize(
    ("item", "expected"),
    [
        (an_object(box=[10, 20, 0, 40]), ("box", "box_no_area")),
        (an_object(box=[10, 20, 30, -40]), ("box", "box_no_area")),
        (an_object(box=[641, 20, 30, 40]), ("box", "shape_outside")),
        (an_object(box=[-31, 20, 30, 40]), ("box", "shape_outside")),
        (an_object(box=[-641, 20, 700, 40]), ("box", "shape_too_far")),
        (an_object(box=[0, 0, 640, 961]), ("box", "shape_too_far")),
        (
            an_object(kind="rotated_box", box=[1, 1, 9, 9], angle=360),
            ("angle", "angle_out_of_range"),
        ),
        (
            an_object(kind="rotated_box", box=[1, 1, 9, 9], angle=-1),
            ("angle", "angle_out_of_range"),
        ),
        (an_object(kind="rotated_box", box=[1, 1, 0, 9], angle=1), ("box", "box_no_area")),
        (
            # Its bounds reach into the corner of the picture, the box itself does not.
            an_object(kind="rotated_box", box=[-30, -30, 80, 2], angle=135),
            ("box", "shape_outside"),
        ),
        (a_polygon(), ("parts", "polygon_without_rings")),
        (a_polygon([]), ("parts", "polygon_without_rings")),
        (a_polygon([[1, 2, 3, 4]]), ("parts/0/0", "ring_too_short")),
        (a_polygon([[]]), ("parts/0/0", "ring_too_short")),
        (a_polygon([BOW_TIE]), ("parts/0/0", "ring_crosses_itself")),
        (a_polygon([SQUARE, BOW_TIE]), ("parts/0/1", "ring_crosses_itself")),
        (a_polygon([[1, 1, 2, 2, 3, 3]]), ("parts/0/0", "ring_crosses_itself")),
        (a_polygon([[5, 5, 5, 5, 5, 5]]), ("parts/0/0", "ring_crosses_itself")),
        (a_polygon([SQUARE, [60, 60, 70, 60, 70, 70]]), ("parts/0", "hole_out_of_border")),
        (a_polygon([SQUARE, [40, 40, 70, 40, 70, 45]]), ("parts/0", "hole_out_of_border")),
        (a_polygon([SQUARE, HOLE, HOLE]), ("parts/0", "hole_out_of_border")),
        (a_polygon([SQUARE], [[40, 40, 70, 40, 70, 70]]), ("parts", "parts_overlap")),
        (a_polygon([SQUARE], [HOLE]), ("parts", "parts_overlap")),
        (a_polygon([[700, 1, 800, 1, 800, 9]]), ("parts", "shape_outside")),
        (an_object(label=LANE, kind="polyline", points=[1, 2]), ("points", "line_too_short")),
        (an_object(label=PERSON, kind="point", points=[-1, 2]), ("points", "shape_outside")),
        (a_person(points=[1, 2, 3, 0, 0, 0, 0, 0, 0]), ("points", "visibility_unknown")),
        (a_person(points=[1, 2, 2, 5, 5, 0, 0, 0, 0]), ("points", "absent_point_placed")),
        (a_person(points=[0] * 9), ("points", "all_points_absent")),
        (a_person(points=[1, 2, 2]), ("points", "skeleton_differs")),
        (a_person(box=[1, 2, 0, 4]), ("box", "box_no_area")),
        (
            an_object(kind="mask", rle={"size": [4, 5], "counts": "d0"}),
            ("rle/size", "mask_size_differs"),
        ),
        (an_object(kind="mask", rle={**EMPTY_MASK, "counts": "d0"}), ("rle", "rle_size_differs")),
        (
            an_object(kind="mask", rle={**EMPTY_MASK, "counts": "é"}),
            ("rle/counts", "rle_unreadable"),
        ),
        (an_object(kind="mask", rle=EMPTY_MASK), ("rle", "mask_empty")),
        (an_object(kind="span", range=[0, 3]), ("kind", "kind_not_of_pictures")),
        (an_object(label=99), ("label", "label_unknown")),
        (an_object(label=LANE, attributes={}), ("kind", "tool_not_of_label")),
        (an_object(attributes={}), ("attributes/1", "attribute_missing")),
        (an_object(attributes={"1": 9}), ("attributes/1", "choice_unknown")),
        (an_object(attributes={"1": True}), ("attributes/1", "choice_unknown")),
        (an_object(attributes={"1": 1, "99": 1}), ("attributes/99", "attribute_unknown")),
        (an_object(attributes={"1": 1, "6": "x"}), ("attributes/6", "attribute_unknown")),
        (an_object(attributes={"1": 1, "2": 7}), ("attributes/2", "value_too_large")),
        (an_object(attributes={"1": 1, "2": 0}), ("attributes/2", "value_too_small")),
        (an_object(attributes={"1": 1, "2": 2.5}), ("attributes/2", "value_off_step")),
        (an_object(attributes={"1": 1, "2": "2"}), ("attributes/2", "value_no_number")),
        (an_object(attributes={"1": 1, "2": True}), ("attributes/2", "value_no_number")),
        (an_object(attributes={"1": 1, "4": 1}), ("attributes/4", "value_no_flag")),
        (an_object(attributes={"1": 1, "4": True}), ("attributes/3", "attribute_missing")),
        (an_object(attributes={"1": 1, "3": "ab-1"}), ("attributes/3", "value_off_pattern")),
        (an_object(attributes={"1": 1, "3": "A" * 9}), ("attributes/3", "value_too_long")),
        (an_object(attributes={"1": 1, "5": 1}), ("attributes/5", "choices_no_list")),
        (an_object(attributes={"1": 1, "5": [1, 1]}), ("attributes/5", "choices_no_list")),
        (an_object(attributes={"1": 1, "5": [1, 9]}), ("attributes/5", "choice_unknown")),
        (an_object(text="x" * 10_001), ("text", "text_too_long")),
    ],
)
def test_a_fault_of_an_object(item: dict[str, Any], expected: tuple[str, str]) -> None:
    pointer, code = expected
    assert faults(a_document(item)) == [(f"objects/0/{pointer}", code)]


@pytest.mark.parametrize(
    ("fields", "expected"),
    [
        ({"width": 0}, ("width", "size_out_of_range")),
        ({"height": -3}, ("height", "size_out_of_range")),
        ({"labels": [99]}, ("labels/0", "label_unknown")),
        ({"labels": [CAR]}, ("labels/0", "label_of_objects_only")),
        ({"labels": [SCENE, CROWD]}, ("labels", "too_many_labels")),
        ({"attributes": {"7": 3}}, ("attributes/7", "choice_unknown")),
        ({"attributes": {"1": 1}}, ("attributes/1", "attribute_unknown")),
    ],
)
def test_a_fault_of_the_picture(fields: dict[str, Any], expected: tuple[str, str]) -> None:
    assert faults(a_document(**fields)) == [expected]


@pytest.mark.parametrize(
    ("relation", "expected"),
    [
        ({"relation": 4}, ("relation", "relation_unknown")),
        ({"to": IDS[8]}, ("to", "object_unknown")),
        ({"from": IDS[0]}, ("to", "relation_to_itself")),
        ({"id": IDS[0]}, ("id", "id_repeated")),
        ({"from": IDS[0], "to": IDS[1]}, ("from", "relation_of_other_label")),
    ],
)
def test_a_fault_of_a_relation(relation: dict[str, Any], expected: tuple[str, str]) -> None:
    value = {"id": IDS[9], "relation": 0, "from": IDS[1], "to": IDS[0], **relation}
    pointer, code = expected
    assert (f"relations/0/{pointer}", code) in faults(
        a_document(an_object(0), a_person(1), relations=[value])
    )


def test_ids_and_relations_are_unique() -> None:
    twice = [{"id": IDS[n], "relation": 0, "from": IDS[1], "to": IDS[0]} for n in (9, 10)]
    found = faults(a_document(an_object(0), a_person(1), an_object(0), relations=twice))
    assert found == [("objects/2/id", "id_repeated"), ("relations/1", "relation_repeated")]


def test_a_crossing_has_its_place() -> None:
    (problem,) = problems_of(a_document(a_polygon([BOW_TIE])), ontology())
    assert problem.at == (30, 30)


def test_a_hole_may_touch_its_border_at_a_point() -> None:
    assert faults(a_document(a_polygon([SQUARE, [10, 10, 30, 20, 20, 30]]))) == []


def test_shapes_may_reach_beyond_the_picture() -> None:
    around = [-640, -480, 1280, -480, 1280, 960, -640, 960]
    assert faults(a_document(a_polygon([around]), an_object(box=[-640, -480, 1920, 1440]))) == []


@pytest.mark.parametrize("number", [math.nan, math.inf, -math.inf])
def test_numbers_of_programs_are_finite(number: float) -> None:
    shapes = [
        Box(number, 1, 2, 3),
        RotatedBox(1, 1, number, 3, 0),
        RotatedBox(1, 1, 2, 3, number),
        Polygon((((1, 1, 2, 2, number, 3),),)),
        Polyline((1, number, 2, 3)),
        Keypoints(((number, 1, 2),)),
    ]
    for shape in shapes:
        assert next(code for _, code in faults(with_shape(shape))) in {
            "not_finite",
            "angle_out_of_range",
        }


def test_a_value_behind_a_condition_that_does_not_hold_is_kept() -> None:
    assert faults(a_document(an_object(attributes={"1": 1, "3": "AB-1", "4": False}))) == []


def test_one_fault_of_many_objects_is_named_up_to_a_limit() -> None:
    items = [an_object(0, label=99) | {"id": f"{n:016x}"} for n in range(300)]
    assert len(problems_of(a_document(*items), ontology())) == MAX_PROBLEMS


def test_too_many_objects_are_refused() -> None:
    items = tuple(AnnotatedObject(f"{n:016x}", CAR, Box(1, 1, 2, 2)) for n in range(10_001))
    assert faults(Document(640, 480, objects=items)) == [("objects", "too_many_objects")]


def test_too_many_coordinates_and_bytes_are_refused() -> None:
    line = Polyline(tuple(float(n % 400) for n in range(200_002)))
    assert ("objects/0/points", "too_many_coordinates") in faults(with_shape(line))
    long = tuple(0.1 + n % 400 / 7 for n in range(100_000))
    items = tuple(AnnotatedObject(f"{n:016x}", LANE, Polyline(long)) for n in range(3))
    assert faults(Document(640, 480, objects=items)) == [("", "document_too_large")]


@given(some.documents)
def test_the_bound_of_bytes_holds(document: Document) -> None:
    assert len(canonical_json(document)) <= checking._most_bytes(document)


def circle(points: int) -> list[float]:
    angles = np.linspace(0, 2 * np.pi, points, endpoint=False)
    ring: list[float] = (np.stack([np.cos(angles), np.sin(angles)], 1) * 200 + 240).ravel().tolist()
    return ring


def test_a_hundred_thousand_points_are_checked() -> None:
    ring = circle(100_000)
    assert faults(a_document(a_polygon([ring]))) == []
    # The last points change places, so that their edges cross.
    ring[-4:-2], ring[-2:] = ring[-2:], ring[-4:-2]
    (problem,) = problems_of(a_document(a_polygon([ring])), ontology())
    assert code_of(problem) == "ring_crosses_itself"
    assert problem.at is not None
    assert math.dist(problem.at, (440, 240)) < 1


def test_edges_over_one_another_are_refused_before_they_cost_minutes() -> None:
    # A diagonal comb: the bounds of each two edges overlap.
    steps = np.arange(99_000) / 990
    odd = np.arange(99_000) % 2 == 1
    x, y = np.where(odd, 300, 10) + steps, np.where(odd, 300, 110) - steps
    comb = np.stack([x, y], 1).ravel().tolist()
    found = faults(a_document(a_polygon([comb])))
    assert found == [("objects/0/parts", "polygon_too_dense")]


rings = st.lists(st.integers(0, 8).map(float), min_size=6, max_size=12).map(
    lambda it: tuple(it[: len(it) // 2 * 2])
)


@given(st.lists(st.lists(rings, min_size=1, max_size=2).map(tuple), min_size=1, max_size=2))
def test_a_polygon_passes_if_shapely_calls_it_valid(parts: list[Any]) -> None:
    made = [
        shapely.Polygon(
            *[np.reshape(part[0], (-1, 2)), [np.reshape(it, (-1, 2)) for it in part[1:]]]
        )
        for part in parts
    ]
    is_valid = shapely.MultiPolygon(made).is_valid if len(made) > 1 else made[0].is_valid
    assert (faults(with_shape(Polygon(tuple(parts)))) == []) == is_valid


@given(some.objects)
def test_any_shape_is_judged_without_an_error(item: AnnotatedObject) -> None:
    document = Document(some.WIDTH, some.HEIGHT, objects=(item,))
    assert isinstance(problems_of(document, ontology()), list)


def test_a_mask_of_the_picture_passes() -> None:
    mask = np.zeros((480, 640), bool)
    mask[3, 4] = True
    assert faults(with_shape(Mask(480, 640, rle.encode(mask)))) == []


def test_names_of_any_script_are_named_in_sentences() -> None:
    labels = [{"id": 1, "name": "<script>{x}</script>", "tools": ["box"]}]
    document = a_document(an_object(kind="point", points=[1, 2], attributes={}))
    (problem,) = problems_of(document, ontology_from_json(labels))
    assert "<script>{x}</script>" in problem.sentence
