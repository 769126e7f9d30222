"""Documents are read strictly and written back exact to the bit."""

from __future__ import annotations

import json
import struct
from typing import Any

import pytest
from hypothesis import given

from atom_sdk.annotations.documents import (
    Document,
    canonical_json,
    document_from_json,
    from_version_1,
    new_object_id,
)
from atom_sdk.annotations.geometry import Box, Mask, Point
from atom_sdk.annotations.json_values import plain_number
from atom_sdk.annotations.problems import MAX_PROBLEMS, DocumentError, Problem
from atom_sdk.annotations.tracks import Geometry, Keyframe, Segment, Span, Track, geometry_from_json
from tests.sdk.annotations import strategies as some

EMPTY = {"version": 2, "width": 4, "height": 3}
BOX = {"id": "9f86d081884c7d65", "label": 1, "kind": "box", "box": [1, 2, 3, 4]}


def with_objects(*objects: Any) -> dict[str, Any]:
    return {**EMPTY, "objects": list(objects)}


def with_box(box: Any) -> dict[str, Any]:
    return with_objects({**BOX, "box": box})


@given(some.documents)
def test_json_and_back_is_the_same_document(document: Document) -> None:
    value = document.as_json()
    text = json.dumps(value)
    assert document_from_json(json.loads(text)) == document
    # Equal floats may differ in their sign of zero, which the text shows.
    assert json.dumps(document_from_json(json.loads(text)).as_json()) == text


@given(some.floats)
def test_a_number_keeps_its_bits(number: float) -> None:
    plain = json.loads(json.dumps(plain_number(number)))
    assert struct.pack("d", float(plain)) == struct.pack("d", number)


@given(some.documents)
def test_the_canonical_bytes_do_not_depend_on_the_order_of_fields(document: Document) -> None:
    value = document.as_json()
    turned = dict(reversed(value.items()))
    assert canonical_json(turned) == canonical_json(document)


@given(some.json_values)
def test_any_json_is_a_document_or_a_plain_error(value: Any) -> None:
    for candidate in (value, {**EMPTY, "objects": value}, with_objects(value), with_box(value)):
        problems: tuple[Problem, ...] | None = None
        try:
            document_from_json(candidate)
        except DocumentError as error:
            problems = error.problems
        assert problems != ()


def test_defaults_are_left_out() -> None:
    document = document_from_json(with_objects({**BOX, "ignore": False, "attributes": {}}))
    assert document.as_json() == with_objects(BOX)
    assert Document(4, 3).as_json() == EMPTY


def test_version_1_is_one_class_of_the_picture() -> None:
    document = document_from_json({"label_id": 3}, width=4, height=3)
    assert document == from_version_1({"label_id": 3}, 4, 3) == Document(4, 3, labels=(3,))


@pytest.mark.parametrize(
    ("value", "pointer", "code"),
    [
        (None, "", "no_mapping"),
        ([], "", "no_mapping"),
        ({}, "version", "field_missing"),
        ({"version": 3}, "version", "version_unknown"),
        ({"version": True}, "version", "version_unknown"),
        ({"version": 2, "height": 3}, "width", "field_missing"),
        ({**EMPTY, "width": 4.5}, "width", "no_integer"),
        ({**EMPTY, "width": "4"}, "width", "no_integer"),
        ({**EMPTY, "shapes": []}, "", "field_unknown"),
        ({**EMPTY, "labels": 3}, "labels", "no_list"),
        ({**EMPTY, "labels": [3, True]}, "labels/1", "no_integer"),
        ({**EMPTY, "attributes": {"colour": 1}}, "attributes", "attribute_no_id"),
        ({**EMPTY, "attributes": {"1": None}}, "attributes/1", "attribute_no_value"),
        ({**EMPTY, "attributes": {"1": float("nan")}}, "attributes/1", "not_finite"),
        (with_objects(7), "objects/0", "no_mapping"),
        (with_objects({**BOX, "id": "9F86D081884C7D65"}), "objects/0/id", "no_id"),
        (with_objects({**BOX, "id": 7}), "objects/0/id", "no_id"),
        (with_objects({**BOX, "kind": "cuboid"}), "objects/0/kind", "kind_unknown"),
        (with_objects({**BOX, "kind": []}), "objects/0/kind", "no_text"),
        (with_objects({**BOX, "points": [1, 2]}), "objects/0", "field_unknown"),
        (with_objects({**BOX, "box": [1, 2, 3]}), "objects/0/box", "box_not_four_numbers"),
        (with_objects({**BOX, "box": [1, 2, 3, "4"]}), "objects/0/box", "no_number"),
        (with_objects({**BOX, "box": [1, 2, 3, True]}), "objects/0/box", "no_number"),
        (with_objects({**BOX, "box": [1, 2, 3, 10**400]}), "objects/0/box", "not_finite"),
        (with_objects(BOX, {**BOX, "box": [1, 2, 3, float("inf")]}), "objects/1/box", "not_finite"),
        (with_objects({**BOX, "text": "\ud800"}), "objects/0/text", "half_character"),
        (with_objects({**BOX, "text": "a\0b"}), "objects/0/text", "nul_in_text"),
        (with_objects({**BOX, "ignore": 1}), "objects/0/ignore", "no_flag"),
        (with_objects({**BOX, "track": "1"}), "objects/0/track", "no_id"),
        ({**EMPTY, "relations": [{"id": "1"}]}, "relations/0/id", "no_id"),
    ],
)
def test_a_fault_is_named_by_its_pointer(value: Any, pointer: str, code: str) -> None:
    with pytest.raises(DocumentError) as caught:
        document_from_json(value)
    problem = caught.value.problems[0]
    assert (problem.pointer, str(problem.sentence.code)) == (pointer, f"annotations.{code}")


@pytest.mark.parametrize(
    ("fields", "pointer"),
    [
        ({"kind": "polygon", "parts": [[[1, 2, 3]]]}, "parts/0/0"),
        ({"kind": "polygon", "parts": [[[1, 2], "x"], 4]}, "parts/0/1"),
        ({"kind": "polygon", "parts": 4}, "parts"),
        ({"kind": "polyline", "points": [1, 2, 3]}, "points"),
        ({"kind": "point", "points": [1, 2, 3, 4]}, "points"),
        ({"kind": "keypoints", "points": [1, 2]}, "points"),
        ({"kind": "keypoints", "points": [], "box": [1]}, "box"),
        ({"kind": "rotated_box", "box": [1, 2, 3, 4]}, "angle"),
        ({"kind": "mask", "rle": {"size": [3], "counts": ""}}, "rle/size"),
        ({"kind": "mask", "rle": {"size": [3, 4], "counts": [12]}}, "rle/counts"),
        ({"kind": "mask", "rle": {"size": [3, 4], "counts": "", "more": 1}}, "rle"),
        (
            {"kind": "track", "keyframes": [{"kind": "box", "box": [1, 2, 3, 4]}]},
            "keyframes/0/frame",
        ),
        ({"kind": "segment", "range": [1]}, "range"),
    ],
)
def test_a_shape_names_its_bad_field(fields: dict[str, Any], pointer: str) -> None:
    with pytest.raises(DocumentError) as caught:
        geometry_from_json(fields)
    assert caught.value.problems[0].pointer == pointer


def test_all_faults_are_named_up_to_a_limit() -> None:
    value = with_objects(*[{**BOX, "box": [1]} for _ in range(3)])
    with pytest.raises(DocumentError, match="And 2 more") as caught:
        document_from_json({**value, "labels": 3} | {"labels": []})
    assert [it.pointer for it in caught.value.problems] == [f"objects/{n}/box" for n in range(3)]
    with pytest.raises(DocumentError) as caught:
        document_from_json(with_objects(*[7] * 10_000))
    assert len(caught.value.problems) == MAX_PROBLEMS


def test_deep_nesting_is_a_plain_error() -> None:
    value: Any = []
    for _ in range(100_000):
        value = [value]
    for fields in ({"kind": "polygon", "parts": value}, {"kind": "box", "box": value}):
        with pytest.raises((DocumentError, RecursionError)) as caught:
            document_from_json(with_objects({**BOX, **fields}))
        assert isinstance(caught.value, DocumentError)
    # Python's own end of such a list recurses unless it is taken apart.
    while value:
        value = value.pop()


def test_shapes_of_video_and_text_are_read_and_written() -> None:
    shapes: list[Geometry] = [
        Track((Keyframe(0, Box(1, 2, 3, 4)), Keyframe(9, Box(1, 2, 3, 5), True, True, {4: 1}))),
        Segment(3, 9),
        Span(3, 9, "title"),
        Span(0, 1),
    ]
    for shape in shapes:
        assert geometry_from_json(shape.as_json()) == shape
    assert shapes[0].bounds == (1, 2, 3, 4)
    assert Track((Keyframe(0, Point(1, 1), outside=True),)).bounds == (0, 0, 0, 0)


def test_ids_are_eight_random_bytes() -> None:
    made = {new_object_id() for _ in range(100)}
    assert len(made) == 100
    assert all(len(bytes.fromhex(it)) == 8 for it in made)


def test_a_mask_keeps_its_text() -> None:
    mask = Mask(3, 4, "123")
    assert geometry_from_json(mask.as_json()) == mask
